"""Agreement between people, and between people and the deciding judge."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from annotation.analysis.agreement.people import PersonAnswers, people_with_answers
from annotation.analysis.agreement.ratings import (
    RatedItem,
    Scale,
    Value,
    by_pair,
    percent_categories,
    slots,
    touched_count,
)
from annotation.analysis.agreement.scales import scales_of
from annotation.analysis.figures import Computed
from annotation.analysis.intervals import shown
from annotation.core.criteria import asked_of_people
from annotation.scoring.own_scores import own_inputs
from evaluation.statistics import (
    Estimate,
    alpha_interval,
    kappa_interval,
    observed_agreement,
    observed_agreement_interval,
)

if TYPE_CHECKING:
    from annotation.models import Project

RATER_PAIRS_SHOWN = 60


@dataclass(frozen=True, slots=True)
class RaterPair:
    """Two raters, compared on the items that both answered.

    `equal` is the share of equal answers, from 0 to 1. `kappa` is Cohen's kappa, with quadratic weights on ordinal and
    interval scales.
    """

    first: str
    second: str
    items: int
    equal: float | None
    kappa: Estimate


@dataclass(frozen=True, slots=True)
class ScaleFigures:
    """The agreement on one scale (nominal, ordinal or interval).

    `items` counts the items with two or more answers, `single` those with one, and `answers` the answers to `items`.
    `alpha` is Krippendorff's alpha. `equal` is the share of equal pairs of answers to the same item, averaged over
    items. `pairs` has at most RATER_PAIRS_SHOWN pairs of raters, and `pairs_left_out` counts the others. `judge` has at
    most RATER_PAIRS_SHOWN pairs of the deciding judge and a rater.
    """

    key: str
    name: str
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


@dataclass(frozen=True, slots=True)
class AgreementFigures(Computed):
    """The agreement on each scale that has blind answers.

    `judge` is the deciding judge's name, or "". `touched` counts the answers of `touched_count`. `imported` counts
    imported answers to checks, with each vote of a file's raters.
    """

    judge: str
    touched: int
    imported: int
    people: tuple[PersonAnswers, ...]
    scales: tuple[ScaleFigures, ...]


def agreement_inputs(project: Project) -> tuple[object, ...]:
    """Return the inputs of the agreement that the common fingerprint lacks."""
    judge = project.deciding_judge.name if project.deciding_judge else ""
    return (*(row.pk for row in asked_of_people(project)), judge, *own_inputs(project))


def agreement(project: Project, key: str = "") -> AgreementFigures:
    """Compute the agreement in a project; `key` is ignored."""
    scales = scales_of(project)
    judge = project.deciding_judge.name if project.deciding_judge else ""
    return AgreementFigures(
        judge=judge,
        touched=touched_count(project),
        imported=sum(rating.at is None for scale in scales for rating in scale.ratings),
        people=people_with_answers(project),
        scales=tuple(_figures(scale, judge) for scale in scales if scale.ratings),
    )


def _figures(scale: Scale, judge: str) -> ScaleFigures:
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
    return ScaleFigures(
        key=scale.key,
        name=scale.name,
        question=scale.question,
        level=scale.level,
        raters=tuple(sorted({rating.rater for rating in scale.ratings})),
        items=len(groups),
        single=len(rated) - len(groups),
        answers=sum(map(len, groups)),
        alpha=alpha,
        equal=equal,
        pairs=tuple(pairs[:RATER_PAIRS_SHOWN]),
        pairs_left_out=len(pairs[RATER_PAIRS_SHOWN:]),
        judge=tuple(beside),
    )


def _pair(one: str, other: str, both: Sequence[tuple[RatedItem, RatedItem]], scale: Scale) -> RaterPair:
    first, second = [each.value for each, _ in both], [each.value for _, each in both]
    clusters = [each.cluster for each, _ in both]
    kappa = shown(kappa_interval(first, second, scale.weights, clusters, categories=scale.categories))
    return RaterPair(one, other, len(both), observed_agreement([first, second]), kappa)


def _judge_pairs(scale: Scale, judge: str) -> list[RaterPair]:
    of_rater: dict[str, list[tuple[RatedItem, RatedItem]]] = defaultdict(list)
    for rating in scale.ratings:
        if rating.item in scale.judge:
            own = rating._replace(rater=judge, value=scale.judge[rating.item])
            of_rater[rating.rater].append((own, rating))
    # The judge's values may need a finer scale than people's.
    said = [own for both in of_rater.values() for own, _ in both]
    fitting = _with_scale_of(scale, said) if scale.level == "interval" else scale
    return [_pair(judge, rater, both, fitting) for rater, both in sorted(of_rater.items())][
        :RATER_PAIRS_SHOWN
    ]


def _with_scale_of(scale: Scale, said: Sequence[RatedItem]) -> Scale:
    categories: tuple[Value, ...] = percent_categories([*scale.ratings, *said])
    return replace(scale, categories=categories)
