"""How far assessors agree with themselves on the summaries that came twice, unsaid.

Of closed work alone: before a set is closed nothing tells that a summary comes twice.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from annotation.models import UnitJudgment
from evaluation import PercentAgreement, percent_agreement

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.models import Sitting

NO_REPEATS = percent_agreement([], [])


def agreement_by_person(sittings: QuerySet[Sitting]) -> dict[int, PercentAgreement]:
    """By the key of the assessor, over all their closed ones of these sittings. Two queries.

    Whoever has judged nothing twice is left out.
    """
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
    pairs: dict[int, list[tuple[float | None, float | None]]] = defaultdict(list)
    again = said.filter(assignment__repeat_of__isnull=False).values_list(
        "assignment__sitting__assessor_id", "assignment__repeat_of_id", "unit_id", "claim_id", "percent"
    )
    for person, assignment, unit, claim, percent in again:
        if person is not None:
            pairs[person].append((first.get((assignment, unit, claim)), percent))
    return {
        person: percent_agreement([one for one, _ in both], [other for _, other in both])
        for person, both in pairs.items()
    }
