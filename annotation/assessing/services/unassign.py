"""Unassigning an open set. Its answers are kept but do not count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from annotation.core.events import log
from annotation.core.permissions import Verb, has_sight, require
from annotation.core.refusals import Conflict
from annotation.models import Assignment, CoverageJudgment, Rating

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet


@transaction.atomic
def unassign(*, assignment: Assignment, by: User | None) -> Assignment:
    """Unassign an open set. A second call changes nothing.

    Raises Conflict (code `closed`) if the assignment is closed, and the errors of `require`.
    """
    project = assignment.document_set.project
    require(by, project, Verb.ASSIGN)
    assignment = held(assignment)
    if assignment.unassigned_at is None:
        assignment.lease_until = None
        mark_unassigned(assignment)
        log(project=project, actor=by, verb="unassign", target=assignment, data=logged(assignment))
    return assignment


def held(assignment: Assignment) -> Assignment:
    """Lock and reload the assignment. Raises Conflict (code `closed`) if it is closed."""
    found = (
        Assignment.objects.select_for_update(of=("self",))
        .select_related("document_set__project", "assessor")
        .get(pk=assignment.pk)
    )
    if found.closed_at is not None:
        raise Conflict(
            f"{found.assessor} has closed {found.document_set.external_id}. "
            "Submitted judgments cannot be withdrawn.",
            code="closed",
        )
    return found


def mark_unassigned(assignment: Assignment) -> None:
    """Unassign a locked assignment.

    If the assessor's roles allow seeing others' answers from now on, the answers of the assignment are marked as not
    blind.
    """
    assignment.unassigned_at = timezone.now()
    assignment.save(update_fields=["unassigned_at", "lease_until"])
    if has_sight(assignment.assessor, assignment.document_set.project):
        mark_seen(Assignment.objects.filter(pk=assignment.pk))


def mark_seen(assignments: QuerySet[Assignment]) -> None:
    """Record, on the assignments and on their answers, that the assessors may have seen others' answers."""
    keys = list(assignments.values_list("pk", flat=True))
    Assignment.objects.filter(pk__in=keys).update(may_have_seen=True)
    CoverageJudgment.objects.filter(reading__assignment__in=keys).update(had_seen=True)
    Rating.objects.filter(assignment__in=keys).update(had_seen=True)


def logged(assignment: Assignment) -> dict[str, object]:
    """Return the assignment's data for the event log."""
    return {"assessor": assignment.assessor.username, "document_set": assignment.document_set.external_id}
