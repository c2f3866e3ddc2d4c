"""A project's own scores of summaries: the final answers to its criteria, and its composite."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

from django.db.models import Count, Max, Q

from annotation.core.criteria import criteria_in_force
from annotation.models import SCORES, Rating, Score
from evaluation.blend import left_out_of_averages
from evaluation.metrics import weighted_composite

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.models import Project

COMPOSITE = "composite_own"
"""The name of the weighted mean of scores and criteria with the project's `own_weights`."""
_OUTRANKING: tuple[Literal["decision", "people", "judge"], ...] = ("decision", "people", "judge")


@dataclass(frozen=True, slots=True)
class OwnScores:
    """The scores by own criteria, in [0, 1], 1 for the best answer of the scale, and the own composite.

    `names` has the names of the criteria in order, then `COMPOSITE` if the project has weights. `values` has the scores
    by the key of the summary and the name. `sources` has "people", "judge" or both for each criterion with answers.
    """

    names: tuple[str, ...]
    values: Mapping[int, Mapping[str, float]]
    sources: Mapping[str, frozenset[str]]

    def of(self, summary: int) -> tuple[float | None, ...]:
        """Return the scores of a summary in the order of `names`; None for a missing score."""
        found = self.values.get(summary, {})
        return tuple(found.get(name) for name in self.names)


def own_names(project: Project) -> list[str]:
    """Name the own scores: the criteria in force, and the composite if the project has weights."""
    names = criteria_in_force(project).values_list("name", flat=True)
    return [*names, *([COMPOSITE] if project.own_weights else [])]


def own_scores(project: Project, **summaries: object) -> OwnScores:
    """Choose the final answer to each criterion about each summary.

    The final answer is the latest decision of an adjudicator, else the mean of people's latest answers, else the
    deciding judge's latest usable answer. Answers in open assignments and to earlier versions of a criterion do not
    count. The composite has no value if a part has none. The lookups `summaries` select summaries, such as
    `summary__in`.
    """
    facts = {row.pk: row.fact for row in criteria_in_force(project)}
    values: dict[int, dict[str, float]] = defaultdict(dict)
    sources: dict[str, set[str]] = defaultdict(set)
    for decides, rows in final_ratings(project, **summaries):
        fact = facts[rows[0].criterion_id]
        values[rows[0].summary_id][fact.name] = fact.share(fmean(row.value for row in rows))
        sources[fact.name].add("judge" if decides == "judge" else "people")
    # Only assessors answer about unmarked units, so this criterion is a score only if they gave answers.
    names = [fact.name for fact in facts.values() if fact.reads != "unmarked" or fact.name in sources]
    if project.own_weights:
        names.append(COMPOSITE)
        for summary, value in _composites(project, values, summaries):
            values[summary][COMPOSITE] = value
    return OwnScores(
        tuple(names),
        values,
        {name: frozenset(found) for name, found in sources.items()},
    )


def composites_of(project: Project, **summaries: object) -> dict[int, float]:
    """Return the composites with the project's weights by summary; empty without weights."""
    if not project.own_weights:
        return {}
    values = own_scores(project, **summaries).values
    return {summary: of[COMPOSITE] for summary, of in values.items() if COMPOSITE in of}


def _composites(
    project: Project, ratings: Mapping[int, Mapping[str, float]], summaries: Mapping[str, Any]
) -> Iterator[tuple[int, float]]:
    columns = [name for name in project.own_weights if name in SCORES]
    scores = Score.objects.filter(project=project, summary__is_summary=True, **summaries).order_by()
    for summary, flags, questions, *row in scores.values_list(
        "summary_id", "flags", "question_coverage", *columns
    ):
        left_out = left_out_of_averages(flags, by_questions=questions is not None)
        parts = {name: value for name, value in zip(columns, row, strict=True) if name not in left_out}
        value = weighted_composite({**ratings.get(summary, {}), **parts}, project.own_weights)
        if value is not None:
            yield summary, value


def final_ratings(
    project: Project, *columns: str, **summaries: object
) -> Iterator[tuple[Literal["decision", "people", "judge"], list[Any]]]:
    """Yield the decider and its ratings for each criterion about each summary with answers.

    The mean of these ratings is the final answer.

    A rating has `summary_id`, `criterion_id`, `criterion__name`, `role`, `person_id`, `origin_name`, `value` and the
    `columns`. The lookups `summaries` select ratings.
    """
    names = ("summary_id", "criterion_id", "criterion__name", "role", "person_id", "origin_name", "value")
    latest: dict[tuple[int, int], dict[tuple[str, object], Any]] = defaultdict(dict)
    for row in _counting(project).filter(**summaries).values_list(*names, *columns, named=True):
        is_judge = row.role == Rating.Role.JUDGE
        decides = "decision" if row.role == Rating.Role.ADJUDICATOR else "judge" if is_judge else "people"
        # A failed answer of the judge does not replace a usable one. A person's empty answer withdraws the earlier one.
        if row.value is not None or not is_judge:
            author = (row.person_id or row.origin_name) if decides == "people" else ""
            latest[row.summary_id, row.criterion_id][decides, author] = row
    for said in latest.values():
        for whose in _OUTRANKING:
            given = [row for (decides, _), row in said.items() if decides == whose and row.value is not None]
            if given:
                yield whose, given
                break


def own_inputs(project: Project) -> tuple[object, ...]:
    """Return values that change with the ratings and criteria behind `own_scores`."""
    found = _counting(project).order_by().aggregate(count=Count("pk"), newest=Max("pk"))
    return (found["count"], found["newest"], *criteria_in_force(project).values_list("pk", flat=True))


def _counting(project: Project) -> QuerySet[Rating]:
    is_open = Q(assignment__isnull=False, assignment__closed_at__isnull=True)
    ratings = Rating.objects.filter(
        Q(judge=None) | Q(judge=project.deciding_judge_id),
        criterion__in=criteria_in_force(project).order_by(),
        withdrawn_at=None,
    )
    return ratings.exclude(is_open).order_by("pk")
