"""How far an export is, for whoever waits for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from annotation.core.tables.columns import TableRow

DOCUMENT_ID = 1
"""The column of the document set in every level."""


@dataclass(slots=True)
class ExportProgress:
    """Rows written, and how many there will be, 0 as long as nothing can be said of it.

    `step` is called whenever something is written; what it raises ends the export.
    """

    rows: int = 0
    expected: int = 0

    def step(self) -> None:
        """Nobody waits."""

    def hold(self) -> None:
        """Called inside the transaction that calls the export finished: what it raises is the end of all of it."""

    def counted(
        self, rows: Iterable[TableRow], *, sets: int, part: int = 0, parts: int = 1
    ) -> Iterator[TableRow]:
        """Rows of a level, which come by document set, as they are written; the level is one of `parts`.

        How many there will be follows from the share of document sets that are done: to count them takes as long as to
        write them.
        """
        last, done = None, 0
        for row in rows:
            if row[DOCUMENT_ID] != last:
                last = row[DOCUMENT_ID]
                if share := (part + min(done / sets, 1) if sets else part) / parts:
                    self.expected = max(self.rows, round(self.rows / share))
                done += 1
            self.rows += 1
            yield row
