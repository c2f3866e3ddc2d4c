"""The final answers to a project's own criteria, as scores of summaries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from django.db.models import Count, Max, Q

from annotation.core.criteria import criteria_in_force
from annotation.models import Rating

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.models import Project


@dataclass(frozen=True, slots=True)
class OwnScores:
    """The scores by own criteria, in [0, 1], 1 for the best answer of the scale.

    `names` has the criteria in order. `values` has the scores by summary and criterion, `sources` by criterion the
    roles of those whose answers count: people or judge.
    """

    names: tuple[str, ...]
    values: Mapping[int, Mapping[str, float]]
    sources: Mapping[str, frozenset[str]]

    def of(self, summary: int) -> tuple[float | None, ...]:
        """Return the scores of a summary in the order of `names`."""
        found = self.values.get(summary, {})
        return tuple(found.get(name) for name in self.names)


def own_scores(project: Project) -> OwnScores:
    """Choose the final answer to each criterion about each summary. Two queries.

    It is the latest decision of an adjudicator, else the mean of people's latest answers, else the deciding judge's
    latest usable answer. Answers in open assignments and to earlier versions of a criterion do not count.
    """
    facts = {row.pk: row.fact for row in criteria_in_force(project)}
    columns = ("summary_id", "criterion_id", "role", "person_id", "origin_name", "value")
    latest: dict[tuple[int, int], dict[tuple[str, object], float | None]] = defaultdict(dict)
    for summary, criterion, role, person, origin, value in _counting(project).values_list(*columns):
        is_judge = role == Rating.Role.JUDGE
        decides = "decision" if role == Rating.Role.ADJUDICATOR else "judge" if is_judge else "people"
        # A failed answer of the judge does not replace a usable one, but a person's empty answer withdraws theirs.
        if value is not None or not is_judge:
            latest[summary, criterion][decides, "" if decides != "people" else person or origin] = value
    values: dict[int, dict[str, float]] = defaultdict(dict)
    sources: dict[str, set[str]] = defaultdict(set)
    for (summary, criterion), said in latest.items():
        for decides in ("decision", "people", "judge"):
            given = [value for (whose, _), value in said.items() if whose == decides and value is not None]
            if given:
                fact = facts[criterion]
                values[summary][fact.name] = fact.share(fmean(given))
                sources[fact.name].add("judge" if decides == "judge" else "people")
                break
    return OwnScores(
        # Only assessors answer about unmarked units, so that criterion is a score only where they did.
        tuple(fact.name for fact in facts.values() if fact.reads != "unmarked" or fact.name in sources),
        values,
        {name: frozenset(found) for name, found in sources.items()},
    )


def own_inputs(project: Project) -> tuple[object, ...]:
    """Return the inputs of `own_scores`, for fingerprints. One query and that of the criteria."""
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
