"""What one act of a person did to the scores of a summary."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.models import Score

TOLD = ("coverage", "claim_coverage", "alignment", "composite_2_3")
"""The scores whose movement people are told after an act, in the order of the screen."""

ScoresTold = dict[str, float | None]


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """A score before and after an act, in [0, 1]."""

    name: str
    before: float | None
    after: float | None

    @property
    def is_moved(self) -> bool:
        return self.before != self.after


def scores_now(summary_id: int) -> ScoresTold:
    """The scores of a peer summary that an act may move."""
    row = Score.objects.filter(summary_id=summary_id).values(*TOLD).first()
    return dict(row) if row else dict.fromkeys(TOLD)


def score_changes(before: ScoresTold, after: ScoresTold) -> list[ScoreChange]:
    """What an act did to the scores; those that never were are left out."""
    return [
        ScoreChange(name=name, before=before[name], after=after[name])
        for name in TOLD
        if before[name] is not None or after[name] is not None
    ]
