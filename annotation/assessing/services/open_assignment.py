"""Opening an assignment, and checking its state and its assessor."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from annotation.core.guidelines import current_id
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict, NotFound
from annotation.core.shared.clock import shared_now
from annotation.models import Assignment

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import Project


def open_assignment(assignment: Assignment) -> None:
    """Store the version of the guidelines that the form shows, and renew the lease, if any.

    Nothing happens if the assignment is closed or unassigned.
    """
    project = assignment.document_set.project
    open_now = Assignment.objects.filter(pk=assignment.pk, closed_at=None, unassigned_at=None)
    open_now.update(guideline=current_id(project))
    open_now.filter(lease_until__isnull=False).update(lease_until=lease_end(project))


def enter(assignment: Assignment, by: User) -> None:
    """Check that the person may work in the assignment.

    Raises NotFound for another person's assignment, and the errors of `require`.
    """
    if assignment.assessor_id != by.pk:
        raise NotFound("There is no such assignment.")
    require(by, assignment.document_set.project, Verb.ASSESS)


def check_open(assignment: Assignment) -> None:
    """Raise Conflict (code `closed` or `unassigned`) if the assignment takes no answers."""
    if assignment.closed_at is not None:
        raise Conflict("This document set is closed, so its judgments cannot be changed.", code="closed")
    if assignment.unassigned_at is not None:
        raise Conflict(
            "This document set is no longer assigned to you. Your judgments are kept. If it returned to the queue, "
            "resume it from My work.",
            code="unassigned",
        )


def lease_end(project: Project) -> datetime:
    """Return the end of a lease that starts now, by the database's clock."""
    return shared_now() + timedelta(minutes=project.lease_minutes)
