"""What several subjects say in the same words."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.models import Label

NAMED_AT_MOST = 3

ANSWERS = tuple((value, word, str(key)) for key, (value, word) in enumerate(Label.choices, start=1))
"""What people may answer to a check: the label, its word and the key that gives it."""


def counted(count: int, one: str, more: str = "") -> str:
    """A number with its noun; `more` where the plural is not the noun with an s."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def listed(names: Sequence[str], *, most: int | None = NAMED_AT_MOST) -> str:
    """Names as words, of many the first few."""
    shown = list(names[:most])
    rest = len(names) - len(shown)
    if rest:
        return f"{', '.join(shown)} and {rest} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]
