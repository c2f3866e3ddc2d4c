"""Texts compared and searched without their white space, which formats add and drop as they like."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

Stretch = tuple[int, int]
"""Offsets into a text."""


@dataclass(frozen=True, slots=True)
class Squeezed:
    """A text without white space, and where each character of it stood."""

    text: str
    positions: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> Squeezed:
        positions = tuple(place for place, character in enumerate(text) if not character.isspace())
        return cls("".join(text[place] for place in positions), positions)

    def has(self, label: str, start: int, end: int) -> bool:
        """Whether that stretch of the original text reads like the label."""
        if not 0 <= start <= end:
            return False
        first, last = bisect_left(self.positions, start), bisect_left(self.positions, end)
        return bool(label) and self.text[first:last] == _squeezed(label)

    def find(self, label: str, near: int) -> Stretch | None:
        """The offsets of the label in the original text, where it starts nearest to `near`; None if nowhere."""
        wanted = _squeezed(label)
        best: Stretch | None = None
        at = self.text.find(wanted) if wanted else -1
        while at >= 0:
            start, end = self.positions[at], self.positions[at + len(wanted) - 1] + 1
            if best is not None and abs(start - near) >= abs(best[0] - near):
                break
            best = (start, end)
            at = self.text.find(wanted, at + 1)
        return best

    def moved(self, stretch: Stretch, other: Squeezed) -> Stretch | None:
        """The same characters' offsets in another text that differs in white space alone; None if blank."""
        first, last = (bisect_left(self.positions, place) for place in stretch)
        if first >= last or last > len(other.positions):
            return None
        return other.positions[first], other.positions[last - 1] + 1


def same_words(one: str, other: str) -> bool:
    """Whether two texts differ in white space at most."""
    return one == other or _squeezed(one) == _squeezed(other)


def _squeezed(text: str) -> str:
    return "".join(text.split())
