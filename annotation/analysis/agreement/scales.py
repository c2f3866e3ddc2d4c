"""The scales on which people answered, each with all answers on it and the deciding judge's own beside them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from annotation.analysis.agreement.ratings import (
    PERCENTS,
    UNMARKED,
    CheckFacts,
    RatedItem,
    Scale,
    Value,
    check_answers,
    check_facts,
    percent_categories,
    percent_ratings,
    questions_of,
    whole_ratings,
)
from annotation.models import Check, Comparison, Label
from annotation.scoring.judge_percents import judge_percents

if TYPE_CHECKING:
    from annotation.models import Project

LABELS = tuple(Label.values)
VERDICTS = {
    Check.Side.REFERENCE.value: ("Verdicts, coverage", "Is the claim expressed in the summary?"),
    Check.Side.PEER.value: ("Verdicts, alignment", "Is the claim of the summary supported by its source?"),
}
"""By side the scale's name and question."""


def scales_of(project: Project) -> list[Scale]:
    """Every scale of the project: verdicts by side, percents, then quality answers; also those nobody answered on.

    A fixed number of queries.
    """
    facts = check_facts(project)
    return [*_verdict_scales(project, facts), *_percent_scales(project), *_quality_scales(project)]


def _verdict_scales(project: Project, facts: Mapping[int, CheckFacts]) -> list[Scale]:
    answers: dict[str, list[RatedItem]] = defaultdict(list)
    for answer in check_answers(project, by_rater=True):
        # A check may be reworded between the two queries: its answers are then out of force.
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
            name="Percents",
            question="How much of the model unit do the marked peer units express together?",
            level="interval",
            categories=percent_categories(ratings),
            weights="quadratic",
            ratings=tuple(ratings),
            judge=_judge_percents(project, ratings),
        )
    ]


def _quality_scales(project: Project) -> list[Scale]:
    by_question, unmarked = whole_ratings(project)
    scales = [
        Scale(
            key=f"quality-{question.id}",
            name=f"Quality {question.id.replace('_', ' ')}",
            question=question.text,
            level="ordinal",
            categories=tuple(question.values),
            weights="quadratic",
            ratings=tuple(by_question[question.id]),
            judge={},
        )
        for question in questions_of(project)
    ]
    of_unmarked = Scale(
        key=UNMARKED,
        name="Unmarked",
        question="How much of the unmarked peer units is related to the subject all the same?",
        level="interval",
        categories=percent_categories(unmarked),
        weights="quadratic",
        ratings=tuple(unmarked),
        judge={},
    )
    return [*scales, of_unmarked]


def _judge_percents(project: Project, ratings: Sequence[RatedItem]) -> dict[str, Value]:
    """The deciding judge's percent of each rated unit, rounded to whole ones."""
    if project.deciding_judge is None or not ratings:
        return {}
    compared = {int(rating.item.partition(":")[0]) for rating in ratings}
    peers = Comparison.objects.filter(pk__in=compared).values_list("peer_id", flat=True)
    return {
        f"{said.comparison_id}:{said.unit_id}": round(said.percent)
        for said in judge_percents(sorted(set(peers)))
        if said.judge == project.deciding_judge.name
    }
