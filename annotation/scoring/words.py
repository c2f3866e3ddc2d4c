"""What an act did to the scores, in words."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.scoring.score_changes import ScoreChange

SCORE_NAMES = {
    "coverage": "coverage",
    "claim_coverage": "claim coverage",
    "alignment": "alignment",
    "composite_2_3": "composite ⅔",
}


def in_words(changes: Sequence[ScoreChange]) -> str:
    """Such as "Coverage 0.500 → 0.750, alignment unchanged."."""
    if not any(change.is_moved for change in changes):
        return "No score moves."
    words = ", ".join(
        f"{SCORE_NAMES[change.name]} {_number(change.before)} → {_number(change.after)}"
        if change.is_moved
        else f"{SCORE_NAMES[change.name]} unchanged"
        for change in changes
    )
    return f"{words[0].upper()}{words[1:]}."


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
