"""How far an import is, for anyone who waits for it."""

from __future__ import annotations

from dataclasses import dataclass

ROWS_BETWEEN_STEPS = 500


@dataclass(slots=True)
class Progress:
    """Rows read, document sets written, and how many there are; 0 until all rows are read.

    `step` is called every few hundred rows and sets, never inside of a write that people wait for; what it raises ends
    the import.
    """

    rows_read: int = 0
    sets_written: int = 0
    sets: int = 0

    def read_row(self) -> None:
        self.rows_read += 1
        if self.rows_read % ROWS_BETWEEN_STEPS == 0:
            self.step()

    def step(self) -> None:
        """Nobody waits."""

    def hold(self) -> None:
        """Called inside the transaction that shows everything: what it raises is the end of all of it."""
