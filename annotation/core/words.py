"""What several subjects say in the same words."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.models import Label

NAMED_AT_MOST = 3

ANSWERS = tuple((value, word, str(key)) for key, (value, word) in enumerate(Label.choices, start=1))
"""What people may answer to a check: the label, its word and the key that gives it."""


def listed(names: Sequence[str]) -> str:
    """Names as words, of many the first few."""
    shown = list(names[:NAMED_AT_MOST])
    rest = len(names) - len(shown)
    if rest:
        return f"{', '.join(shown)} and {rest} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]
