"""How far people agree: on every scale, in pairs, as time went by, and where not at all.

Read from answers that were given before anything was revealed (see `ratings`). The deciding judge stands beside people
as one more rater; it is in none of their figures.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

from annotation.analysis.agreement.divided import Divided, divided_items
from annotation.analysis.agreement.ratings import (
    PERCENTS,
    RatedItem,
    Scale,
    Value,
    by_pair,
    percent_categories,
    slots,
    touched_count,
)
from annotation.analysis.agreement.scales import scales_of
from annotation.analysis.intervals import shown
from evaluation.statistics import (
    Estimate,
    alpha_interval,
    kappa_interval,
    observed_agreement,
    observed_agreement_interval,
    percent_agreement,
)

if TYPE_CHECKING:
    from annotation.models import Project

RATER_PAIRS_SHOWN = 60
PARTS = 3
FEWEST_FOR_DRIFT = 30
"""Items with answers of two people below which the work is not cut into thirds."""


@dataclass(frozen=True, slots=True)
class RaterPair:
    """Two raters on the items that both answered.

    `equal` is the share of equal answers, `kappa` that beyond chance (on scales in order, weighted by the square of the
    distance). `within_step` and `mean_difference` are of percents alone, in [0, 1] and in points.
    """

    first: str
    second: str
    items: int
    equal: float | None
    kappa: Estimate
    within_step: float | None = None
    mean_difference: float | None = None


@dataclass(frozen=True, slots=True)
class ThirdOfWork:
    """The agreement on a third of the items, by when the last answer to each was given."""

    number: int
    items: int
    first_at: str
    last_at: str
    alpha: Estimate
    equal: float | None


@dataclass(frozen=True, slots=True)
class ScaleFigures:
    """The agreement on one scale. `items` counts those that two people answered, `single` those that one did."""

    key: str
    question: str
    level: str
    raters: tuple[str, ...]
    items: int
    single: int
    answers: int
    alpha: Estimate
    equal: Estimate
    pairs: tuple[RaterPair, ...]
    pairs_left_out: int
    judge: tuple[RaterPair, ...]
    thirds: tuple[ThirdOfWork, ...]
    divided: tuple[Divided, ...]


def agreement_inputs(project: Project) -> tuple[object, ...]:
    """What the agreement depends on beyond the scores: the questions, and what the deciding judge is called."""
    judge = project.deciding_judge.name if project.deciding_judge else ""
    return (project.question_set, project.own_questions, judge)


def agreement(project: Project, key: str = "") -> dict[str, Any]:
    """The agreement in a project, as values that JSON holds. A fixed number of queries for each scale.

    `scales` holds a `ScaleFigures` for each scale on which anybody answered, `judge` the deciding judge's
    name, `touched` counts the answers to checks that are left out because they were given knowing the
    judge's or another's, `imported` those that came with a file.
    """
    scales = scales_of(project)
    judge = project.deciding_judge.name if project.deciding_judge else ""
    return {
        "judge": judge,
        "touched": touched_count(project),
        "imported": sum(rating.at is None for scale in scales for rating in scale.ratings),
        "scales": [asdict(_figures(project, scale, judge)) for scale in scales if scale.ratings],
    }


def _figures(project: Project, scale: Scale, judge: str) -> ScaleFigures:
    rated = scale.by_item()
    groups = [group for group in rated.values() if len(group) > 1]
    table, clusters = slots(groups), [group[0].cluster for group in groups]
    alpha = shown(alpha_interval(table, scale.level, clusters))
    equal = shown(observed_agreement_interval(table, clusters))
    pairs = [
        _pair(one, other, both, scale)
        for (one, other), both in sorted(by_pair(groups).items(), key=lambda each: (-len(each[1]), each[0]))
    ]
    beside = _judge_pairs(scale, judge)
    thirds = _thirds(groups, scale)
    return ScaleFigures(
        key=scale.key,
        question=scale.question,
        level=scale.level,
        raters=tuple(sorted({rating.rater for rating in scale.ratings})),
        items=len(groups),
        single=len(rated) - len(groups),
        answers=sum(map(len, groups)),
        alpha=alpha,
        equal=equal,
        # Over the answers that occur, as alpha is: one that nobody gave would raise it.
        pairs=tuple(pairs[:RATER_PAIRS_SHOWN]),
        pairs_left_out=len(pairs[RATER_PAIRS_SHOWN:]),
        judge=tuple(beside),
        thirds=thirds,
        divided=divided_items(project, groups, scale),
    )


def _pair(one: str, other: str, both: Sequence[tuple[RatedItem, RatedItem]], scale: Scale) -> RaterPair:
    first, second = [each.value for each, _ in both], [each.value for _, each in both]
    clusters = [each.cluster for each, _ in both]
    kappa = shown(kappa_interval(first, second, scale.weights, clusters, categories=scale.categories))
    equal = observed_agreement([first, second])
    if scale.key != PERCENTS:
        return RaterPair(one, other, len(both), equal, kappa)
    apart = percent_agreement([float(value) for value in first], [float(value) for value in second])
    return RaterPair(one, other, len(both), equal, kappa, apart.within_step, apart.mean_difference)


def _judge_pairs(scale: Scale, judge: str) -> list[RaterPair]:
    """The judge against each person, on whatever both answered."""
    of_rater: dict[str, list[tuple[RatedItem, RatedItem]]] = defaultdict(list)
    for rating in scale.ratings:
        if rating.item in scale.judge:
            own = rating._replace(rater=judge, value=scale.judge[rating.item])
            of_rater[rating.rater].append((own, rating))
    # A share of yes over claims need not lie on people's scale.
    said = [own for both in of_rater.values() for own, _ in both]
    fitting = scale if scale.level == "nominal" else _with_scale_of(scale, said)
    return [_pair(judge, rater, both, fitting) for rater, both in sorted(of_rater.items())][
        :RATER_PAIRS_SHOWN
    ]


def _with_scale_of(scale: Scale, said: Sequence[RatedItem]) -> Scale:
    categories: tuple[Value, ...] = percent_categories([*scale.ratings, *said])
    return replace(scale, categories=categories)


def _thirds(groups: Sequence[Sequence[RatedItem]], scale: Scale) -> tuple[ThirdOfWork, ...]:
    timed: list[tuple[datetime, list[RatedItem]]] = []
    for group in groups:
        own = [rating for rating in group if rating.at is not None]
        if len(own) > 1:
            timed.append((max(cast("datetime", rating.at) for rating in own), own))
    if len(timed) < FEWEST_FOR_DRIFT:
        return ()
    timed.sort(key=lambda each: (each[0], each[1][0].item))
    cuts = [len(timed) * part // PARTS for part in range(PARTS + 1)]
    return tuple(
        _third(number, timed[start:end], scale) for number, (start, end) in enumerate(pairwise(cuts), start=1)
    )


def _third(number: int, timed: Sequence[tuple[datetime, Sequence[RatedItem]]], scale: Scale) -> ThirdOfWork:
    table = slots([group for _, group in timed])
    return ThirdOfWork(
        number=number,
        items=len(timed),
        first_at=timed[0][0].isoformat(),
        last_at=timed[-1][0].isoformat(),
        alpha=shown(alpha_interval(table, scale.level, [group[0].cluster for _, group in timed])),
        equal=observed_agreement(table),
    )
