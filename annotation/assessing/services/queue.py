"""The queue of document sets, which assessors take themselves under a lease."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from annotation.assessing.queries.assignments import lacking_sets, queued_sets
from annotation.assessing.services.assign import give, lock_work
from annotation.assessing.services.open_assignment import lease_end
from annotation.assessing.services.unassign import held, logged, mark_unassigned
from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict, NotFound
from annotation.core.shared.clock import shared_now
from annotation.models import Assignment, Project

if TYPE_CHECKING:
    from datetime import datetime

    from django.contrib.auth.models import User
    from django.db.models import QuerySet

LAPSED_AT_ONCE = 200

GIVE_BACK = "give back"


def pull(*, project: Project, by: User) -> Assignment:
    """Assign the next set of the queue to this person under a lease.

    Sets with the fewest assessors come first, in random order among equals. Sets that were ever assigned to the
    person are skipped. Raises Conflict with code `one_at_a_time` if the person still has an open set of the queue
    (`details` names it), or with code `queue_empty`.
    """
    require(by, project, Verb.ASSESS)
    lapse_leases(project=project)
    with transaction.atomic():
        lock_work(project)
        _require_free_hands(project, by)
        document_set = queued_sets(project, by).order_by("assessors", "?").first()
        if document_set is None:
            raise Conflict(
                "The queue has no set for you. Try again later, or ask a manager.", code="queue_empty"
            )
        assignment = give(document_set, by, lease_until=lease_end(project))
        log(project=project, actor=by, verb="pull", target=assignment, data=logged(assignment))
    return assignment


@transaction.atomic
def take_up(*, assignment: Assignment, by: User) -> Assignment:
    """Let a person continue a set that they returned or whose lease ended, with their earlier answers.

    Raises NotFound for another person's assignment. Raises Conflict with code `closed`, `unassigned` (by a manager),
    `taken` (enough others have the set) or `one_at_a_time`.
    """
    project = assignment.document_set.project
    require(by, project, Verb.ASSESS)
    lock_work(project)
    if assignment.assessor_id != by.pk:
        raise NotFound("There is no such assignment.")
    assignment = held(assignment)
    if assignment.is_open:
        return assignment
    if assignment.lease_until is None:
        raise Conflict("A manager unassigned this set.", code="unassigned")
    _require_free_hands(project, by)
    document_set = assignment.document_set
    if not lacking_sets(project).filter(pk=document_set.pk).exists():
        raise Conflict(
            f"Someone else has {document_set.external_id} now. Your judgments are kept but not counted.",
            code="taken",
        )
    resumed = give(document_set, by, lease_until=lease_end(project))
    log(project=project, actor=by, verb="take up", target=resumed, data=logged(resumed))
    return resumed


@transaction.atomic
def give_back(*, assignment: Assignment, by: User) -> Assignment:
    """Return a set that the person took from the queue. A second call changes nothing.

    Raises NotFound for another person's assignment, and Conflict if the set is closed (code `closed`) or not from the
    queue (code `not_pulled`).
    """
    project = assignment.document_set.project
    require(by, project, Verb.ASSESS)
    if assignment.assessor_id != by.pk:
        raise NotFound("There is no such assignment.")
    assignment = held(assignment)
    if assignment.lease_until is None:
        raise Conflict("This set is not from the queue. Ask a manager to unassign it.", code="not_pulled")
    if assignment.is_open:
        mark_unassigned(assignment)
        log(project=project, actor=by, verb=GIVE_BACK, target=assignment, data=logged(assignment))
    return assignment


def lapse_leases(*, project: Project | None = None) -> int:
    """Return sets with an expired lease to the queue, in one project or all, at most LAPSED_AT_ONCE.

    Returns the number of these sets.
    """
    now = shared_now()
    expired = _expired(now)
    if project is not None:
        expired = expired.filter(document_set__project=project)
    keys = list(expired.order_by("lease_until").values_list("pk", flat=True)[:LAPSED_AT_ONCE])
    return sum(_lapse(key, now) for key in keys)


@transaction.atomic
def _lapse(key: int, now: datetime) -> bool:
    # Test the condition again under the lock: meanwhile the person may have continued, or another process may have
    # returned the set.
    assignment = (
        _expired(now)
        .select_for_update(of=("self",), skip_locked=True)
        .select_related("document_set__project", "assessor")
        .filter(pk=key)
        .first()
    )
    if assignment is None:
        return False
    mark_unassigned(assignment)
    log(
        project=assignment.document_set.project,
        actor=None,
        verb="lapse",
        target=assignment,
        data=logged(assignment),
    )
    return True


def _expired(now: datetime) -> QuerySet[Assignment]:
    return Assignment.objects.filter(closed_at__isnull=True, unassigned_at__isnull=True, lease_until__lt=now)


def _require_free_hands(project: Project, by: User) -> None:
    in_hand = (
        Assignment.objects.filter(
            document_set__project=project,
            assessor=by,
            lease_until__isnull=False,
            closed_at__isnull=True,
            unassigned_at__isnull=True,
        )
        .select_related("document_set")
        .first()
    )
    if in_hand is not None:
        raise Conflict(
            f"You have {in_hand.document_set.external_id} assigned to you. Close or return it, then take the "
            "next one.",
            code="one_at_a_time",
            details={"assignment": in_hand.public_id},
        )
