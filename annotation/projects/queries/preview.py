"""What other rules would make of a project's scores and disputes, computed and not stored."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotation.models import SCORES, Dispute
from annotation.scoring.open_disputes import dues
from annotation.scoring.records import RECORDS_AT_ONCE, peer_keys, peers, records_of, score_rules
from evaluation.blend import score

if TYPE_CHECKING:
    from annotation.models import Project, Summary

MOST_PREVIEWED = 2 * RECORDS_AT_ONCE
"""Of more summaries a random sample of this size is scored: in a second, and in two batches of statements."""

Values = dict[str, float | None]


@dataclass(frozen=True, slots=True)
class ScoreMove:
    """A score that moves: in how many summaries, and its mean over those that have it, before and after."""

    name: str
    summaries: int
    before: float | None
    after: float | None


@dataclass(frozen=True, slots=True)
class RulesPreview:
    """Of `seen` summaries out of `summaries` in the project, `changed` would have other scores.

    `disputes` are those that wait for an adjudicator among the seen, before and after.
    """

    summaries: int
    seen: int
    changed: int
    scores: tuple[ScoreMove, ...]
    disputes: tuple[int, int]

    @property
    def is_sample(self) -> bool:
        return self.seen < self.summaries


def preview_of(before: Project, after: Project) -> RulesPreview:
    """The scores and disputes of a project under its rules and under others, of at most `MOST_PREVIEWED` summaries.

    Both are computed from what was said, so that a score that waits to be rebuilt does not pass for a change. The same
    summaries are looked at each time.
    """
    keys = peer_keys(before)
    some = sorted(random.Random(before.pk).sample(keys, min(len(keys), MOST_PREVIEWED)))
    pairs: list[tuple[Values, Values]] = []
    disputes = [0, 0]
    for first in range(0, len(some), RECORDS_AT_ONCE):
        found = peers(some[first : first + RECORDS_AT_ONCE])
        (old, old_disputes), (new, new_disputes) = _scored(before, found), _scored(after, found)
        pairs += zip(old, new, strict=True)
        disputes[0] += old_disputes
        disputes[1] += new_disputes
    return RulesPreview(
        summaries=len(keys),
        seen=len(some),
        changed=sum(old != new for old, new in pairs),
        scores=tuple(move for name in SCORES if (move := _move(name, pairs)).summaries),
        disputes=(disputes[0], disputes[1]),
    )


def _scored(project: Project, found: Sequence[Summary]) -> tuple[list[Values], int]:
    """The scores of some peer summaries, in their order, and how many of their disputes are open."""
    rules = score_rules(project)
    values: list[Values] = []
    waiting = 0
    for record in records_of(project, found):
        result = score(record.value, rules)
        values.append({name: getattr(result, name) for name in SCORES})
        waiting += sum(due.is_due and due.state == Dispute.State.OPEN for due in dues(project, record))
    return values, waiting


def _move(name: str, pairs: Sequence[tuple[Values, Values]]) -> ScoreMove:
    sums: dict[int, list[float]] = defaultdict(list)
    for pair in pairs:
        for side, values in enumerate(pair):
            if (value := values[name]) is not None:
                sums[side].append(value)
    before, after = (sum(sums[side]) / len(sums[side]) if sums[side] else None for side in (0, 1))
    return ScoreMove(name, sum(old[name] != new[name] for old, new in pairs), before, after)
