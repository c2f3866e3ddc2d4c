"""The benchmark: one module per part, each with one promise.

`make bench ONLY=name` runs the module with this name by calling `run()`, which returns its rows. Each part runs in
its own process, so that memory of other parts does not matter. A part that needs Django sets it up inside `run()`.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One measured value. `at_most` or `at_least` is the bar that it is compared with, if there is one."""

    what: str
    value: float
    unit: str
    at_most: float | None = None
    at_least: float | None = None
    note: str = ""

    @property
    def is_met(self) -> bool | None:
        """Return True if the value meets its bars; None without bars."""
        if self.at_most is None and self.at_least is None:
            return None
        under = self.at_most is None or self.value <= self.at_most
        return under and (self.at_least is None or self.value >= self.at_least)
