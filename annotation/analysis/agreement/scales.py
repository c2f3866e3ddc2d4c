"""The scales of a project."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from annotation.analysis.agreement.ratings import (
    PERCENTS,
    CheckFacts,
    RatedItem,
    Scale,
    Value,
    check_answers,
    check_facts,
    judge_ratings,
    percent_categories,
    percent_ratings,
    whole_ratings,
)
from annotation.core.criteria import asked_of_people
from annotation.models import Check, Comparison, Criterion, Label
from annotation.scoring.judge_percents import judge_percents
from evaluation.statistics import Level

if TYPE_CHECKING:
    from annotation.models import Project

LABELS = tuple(Label.values)
VERDICTS = {
    Check.Side.REFERENCE.value: ("Claims and the summary", "Is the claim expressed in the summary?"),
    Check.Side.SUMMARY.value: (
        "Claims and the source",
        "Is the claim of the summary supported by its source?",
    ),
}
"""The name and question of each side's scale."""
LEVELS: Mapping[str, Level] = {
    Criterion.Scale.POINTS: "ordinal",
    Criterion.Scale.YES_NO: "nominal",
    Criterion.Scale.PERCENT: "interval",
}
"""The level of measurement by scale of a criterion."""


def scales_of(project: Project) -> list[Scale]:
    """Load the scales of the project, also those without answers: verdicts by side, percents, then criteria."""
    facts = check_facts(project)
    return [*_verdict_scales(project, facts), *_percent_scales(project), *_rating_scales(project)]


def _verdict_scales(project: Project, facts: Mapping[int, CheckFacts]) -> list[Scale]:
    answers: dict[str, list[RatedItem]] = defaultdict(list)
    for answer in check_answers(project, by_rater=True):
        # Skip a check whose first answer came between the two queries.
        if (of := facts.get(answer.check)) is not None:
            rating = RatedItem(str(answer.check), answer.rater, answer.label, of.cluster, answer.at)
            answers[of.side].append(rating)
    return [
        Scale(
            key=f"verdicts-{side}",
            name=name,
            question=question,
            level="nominal",
            categories=LABELS,
            weights=None,
            ratings=tuple(answers[side]),
            judge={
                str(of.key): of.judge_label for of in facts.values() if of.side == side and of.judge_label
            },
        )
        for side, (name, question) in VERDICTS.items()
    ]


def _percent_scales(project: Project) -> list[Scale]:
    ratings = percent_ratings(project)
    return [
        Scale(
            key=PERCENTS,
            name="Percents of units",
            question="How much of the reference unit do the marked summary units express together?",
            level="interval",
            categories=percent_categories(ratings),
            weights="quadratic",
            ratings=tuple(ratings),
            judge=_judge_percents(project, ratings),
        )
    ]


def _rating_scales(project: Project) -> list[Scale]:
    criteria = asked_of_people(project)
    by_criterion = whole_ratings(project, criteria)
    judged = judge_ratings(project, criteria)
    return [
        _rating_scale(criterion, by_criterion.get(criterion.pk, ()), judged.get(criterion.pk, {}))
        for criterion in criteria
    ]


def _rating_scale(criterion: Criterion, ratings: Sequence[RatedItem], judged: Mapping[str, Value]) -> Scale:
    is_percent = criterion.scale == Criterion.Scale.PERCENT
    level = LEVELS[criterion.scale]
    return Scale(
        key=f"rating-{criterion.name}",
        name=criterion.name.replace("_", " ").capitalize(),
        question=criterion.question,
        level=level,
        categories=percent_categories(ratings) if is_percent else criterion.fact.values,
        weights=None if level == "nominal" else "quadratic",
        ratings=tuple(ratings),
        judge=judged,
    )


def _judge_percents(project: Project, ratings: Sequence[RatedItem]) -> dict[str, Value]:
    if project.deciding_judge is None or not ratings:
        return {}
    compared = {int(rating.item.partition(":")[0]) for rating in ratings}
    summaries = Comparison.objects.filter(pk__in=compared).values_list("summary_id", flat=True)
    return {
        f"{said.comparison_id}:{said.unit_id}": round(said.percent)
        for said in judge_percents(sorted(set(summaries)))
        if said.judge == project.deciding_judge.name
    }
