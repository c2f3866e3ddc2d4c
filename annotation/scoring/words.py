"""What an act did to the scores, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from annotation.scoring.score_changes import ScoreChange

if TYPE_CHECKING:
    from annotation.models import Project

SCORE_NAMES = {
    "coverage": "coverage",
    "claim_coverage": "claim coverage",
    "alignment": "alignment",
    "question_coverage": "question coverage",
    "composite_1": "composite, a = 1",
    "composite_2_3": "composite ⅔",
    "composite_custom": "composite of the project",
    "coverage_judge": "coverage by the judge",
    "coverage_human": "coverage by people",
    "human_share": "share decided by people",
}


def in_words(changes: Sequence[ScoreChange]) -> str:
    """Such as "Coverage 0.500 → 0.750, alignment unchanged."."""
    if not any(change.is_moved for change in changes):
        return "No scores changed."
    words = ", ".join(
        f"{SCORE_NAMES[change.name]} {_number(change.before)} → {_number(change.after)}"
        if change.is_moved
        else f"{SCORE_NAMES[change.name]} unchanged"
        for change in changes
    )
    return f"{words[0].upper()}{words[1:]}."


def target_in_words(own: int | None, project: Project) -> str:
    """The target length of some summaries: "100 words", "default 100 words" where it is the project's, "no target"."""
    if own:
        return f"{own} {project.length_unit}"
    return f"default {project.target_length} {project.length_unit}" if project.target_length else "no target"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
