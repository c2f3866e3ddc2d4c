"""The changes of scores that an answer or decision causes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Avg, Q

from annotation.models import Check, Comparison, Score, Summary

SHOWN = ("coverage", "claim_coverage", "alignment", "question_coverage", "composite_2_3")
"""The scores shown after an answer or decision, in the order of the screen."""

ShownScores = dict[str, float | None]


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """A score before and after an answer or decision; None if the summary has no such score."""

    name: str
    before: float | None
    after: float | None

    @property
    def is_moved(self) -> bool:
        return self.before != self.after

    def __str__(self) -> str:
        name = "composite ⅔" if self.name == "composite_2_3" else self.name.replace("_", " ")
        before, after = ("–" if value is None else f"{value:.3f}" for value in (self.before, self.after))
        return f"{name} {before} → {after}"


def scores_now(place: Check | Comparison | Summary) -> ShownScores:
    """Load the shown scores of the summary, or for a check of the source their means over the set."""
    scored = Q(summary=place.pk if isinstance(place, Summary) else place.summary_id)
    if isinstance(place, Check) and place.summary_id is None:
        scored = Q(summary__document_set=place.document_set_id)
    return Score.objects.filter(scored).aggregate(**{name: Avg(name) for name in SHOWN})


def score_changes(before: ShownScores, after: ShownScores) -> list[ScoreChange]:
    """Pair the scores before and after; omit scores that are missing in both."""
    return [
        ScoreChange(name=name, before=before[name], after=after[name])
        for name in SHOWN
        if before[name] is not None or after[name] is not None
    ]


def in_words(changes: Sequence[ScoreChange]) -> str:
    """Write the changed scores in a sentence, such as "Coverage 0.500 → 0.750."; "" if none changed."""
    words = ", ".join(str(change) for change in changes if change.is_moved)
    return f"{words[0].upper()}{words[1:]}." if words else ""
