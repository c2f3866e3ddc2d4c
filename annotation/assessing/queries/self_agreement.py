"""How far assessors agree with themselves on the summaries that came twice, unsaid.

Of closed work alone: before a set is closed nothing tells that a summary comes twice.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from annotation.models import UnitJudgment
from annotation.models.document import cluster_of
from evaluation.statistics import PercentAgreement, percent_agreement

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.models import Sitting

NO_REPEATS = percent_agreement([], [])


class Repeat(NamedTuple):
    """One unit that an assessor judged twice, unsaid; `cluster` is what intervals resample."""

    person: int
    name: str
    cluster: str
    first: int | None
    again: int | None


def agreement_by_person(sittings: QuerySet[Sitting]) -> dict[int, PercentAgreement]:
    """By the key of the assessor, over all their closed ones of these sittings. Two queries.

    Whoever has judged nothing twice is left out.
    """
    pairs: dict[int, list[Repeat]] = defaultdict(list)
    for repeat in _repeats(sittings):
        pairs[repeat.person].append(repeat)
    return {
        person: percent_agreement([each.first for each in both], [each.again for each in both])
        for person, both in pairs.items()
    }


def repeated_percents(sittings: QuerySet[Sitting]) -> dict[str, list[Repeat]]:
    """What each assessor said both times, by name, over all closed ones of these sittings. Two queries."""
    pairs: dict[str, list[Repeat]] = defaultdict(list)
    for repeat in _repeats(sittings):
        pairs[repeat.name].append(repeat)
    return pairs


def _repeats(sittings: QuerySet[Sitting]) -> list[Repeat]:
    closed = sittings.filter(closed_at__isnull=False).order_by().values("pk")
    said = UnitJudgment.objects.filter(
        assignment__sitting__in=closed, is_current=True, percent__isnull=False
    ).order_by()
    first: dict[tuple[int | None, int | None, int | None], int | None] = {
        (assignment, unit, claim): percent
        for assignment, unit, claim, percent in said.filter(assignment__repeats__isnull=False)
        .distinct()
        .values_list("assignment_id", "unit_id", "claim_id", "percent")
    }
    again = said.filter(assignment__repeat_of__isnull=False).values_list(
        "assignment__sitting__assessor_id",
        "assignment__sitting__assessor__username",
        "assignment__sitting__document_set__group",
        "assignment__sitting__document_set__external_id",
        "assignment__repeat_of_id",
        "unit_id",
        "claim_id",
        "percent",
    )
    return [
        Repeat(person, name, cluster_of(document_set, group), first.get((assignment, unit, claim)), percent)
        for person, name, group, document_set, assignment, unit, claim, percent in again
    ]
