"""The benchmark: one module per part.

`make bench ONLY=name` calls `run()` of the part with this name in a process of its own.
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
