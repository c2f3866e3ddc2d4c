"""Who has which document sets to judge, and how far they are: a manager's view, without systems or judgments."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from django.db.models import Count, F

from annotation.models import Assignment, Comparison, DocumentSet, Membership, Role, Sitting, UnitJudgment

if TYPE_CHECKING:
    from annotation.models import Project

SITTINGS_SHOWN = 300
SETS_SHOWN = 500


@dataclass(frozen=True, slots=True)
class SittingProgress:
    """One assessor on one set. `judged_units` counts the units that have a percent."""

    assessor: str
    document_set: str
    summaries: int
    judged_units: int
    created_at: datetime
    closed_at: datetime | None


@dataclass(frozen=True, slots=True)
class AssignableSet:
    """A document set with comparisons, and how many assessors have it open or closed."""

    set_id: str
    name: str
    comparisons: int
    sittings: int


def sittings_in(project: Project) -> list[SittingProgress]:
    """The project's sittings, open ones first, then the newest. Three queries, however many."""
    sittings = list(
        Sitting.objects.filter(document_set__project=project)
        .select_related("assessor", "document_set")
        .order_by(F("closed_at").desc(nulls_first=True), "-pk")[:SITTINGS_SHOWN]
    )
    keys = [sitting.pk for sitting in sittings]
    summaries = dict(
        Assignment.objects.filter(sitting_id__in=keys)
        .exclude(state=Assignment.State.RECALLED)
        .values_list("sitting_id")
        .annotate(Count("pk"))
        .order_by()
    )
    judged = dict(
        UnitJudgment.objects.filter(assignment__sitting_id__in=keys, is_current=True, percent__isnull=False)
        .values_list("assignment__sitting_id")
        .annotate(Count("pk"))
        .order_by()
    )
    return [
        SittingProgress(
            assessor=sitting.assessor.username,
            document_set=sitting.document_set.external_id,
            summaries=summaries.get(sitting.pk, 0),
            judged_units=judged.get(sitting.pk, 0),
            created_at=sitting.created_at,
            closed_at=sitting.closed_at,
        )
        for sitting in sittings
    ]


def assignable_sets(project: Project) -> list[AssignableSet]:
    """The sets that have something to compare, those with fewest assessors first."""
    compared = dict(
        Comparison.objects.filter(peer__document_set__project=project)
        .values_list("peer__document_set_id")
        .annotate(Count("pk"))
        .order_by()
    )
    sets = (
        DocumentSet.objects.filter(pk__in=compared)
        .annotate(assessors=Count("sittings"))
        .order_by("assessors", "external_id")[:SETS_SHOWN]
    )
    return [
        AssignableSet(
            set_id=row.public_id, name=row.external_id, comparisons=compared[row.pk], sittings=row.assessors
        )
        for row in sets
    ]


def assessors_in(project: Project) -> list[str]:
    """The names of those who may be given sets."""
    members = Membership.objects.filter(project=project).select_related("user").order_by("user__username")
    return [member.user.username for member in members if Role.ASSESSOR in member.role_set]
