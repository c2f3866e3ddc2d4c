"""Take a sitting away from an assessor: recalled, given to somebody else, or back in the queue.

What was said in it stays as rows of the recalled sitting and counts for nothing. A closed sitting is never
taken away. Whoever changes who has a sitting locks the people first and its row then.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from annotation.models import Assignment, Project, Sitting, SummaryJudgment, UnitJudgment
from annotation.permissions import ROLE_VERBS, Verb, require, roles_in
from annotation.refusals import Conflict, Invalid, NotFound
from annotation.services.assign import new_seed
from annotation.services.events import log
from annotation.services.seat import Seat, flag_own_work, items_in, lock_people, next_position, seat_all

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

LAPSED_AT_ONCE = 200

GIVE_BACK = "give back"
"""The verb in the log of whoever puts a set back into the queue by their own wish."""

NOT_LEASED = {"is_pulled": False, "lease_until": None, "worked_at": None, "pen": "", "pen_seq": 0}
"""Columns of a sitting in which nothing has happened."""


@transaction.atomic
def recall(*, sitting: Sitting, by: User | None) -> Sitting:
    """Take an open sitting away; nobody has its work then. Twice changes nothing.

    One that waits in the queue is taken out of it. Raises Conflict (code `closed`) where it is submitted.
    """
    project = sitting.document_set.project
    require(by, project, Verb.ASSIGN)
    sitting = _locked(sitting)
    if sitting.recalled_at is not None:
        return sitting
    _put_away(sitting, Sitting.Recalled.BY_HAND)
    log(project=project, actor=by, verb="recall", target=sitting, data=_told(sitting))
    return sitting


@transaction.atomic
def reassign(*, sitting: Sitting, to: User, by: User | None) -> Sitting:
    """Give the work of an open sitting to somebody else, who starts afresh; the sitting that they have then.

    One that waits in the queue is simply given to them. Raises Conflict where it is closed or recalled
    (`closed`, `recalled`) or where they have the set already (`has_it`), Invalid where they may not assess.
    """
    project = sitting.document_set.project
    require(by, project, Verb.ASSIGN)
    _require_may_assess(to, project)
    lock_people([to.pk])
    sitting = _still_open(sitting)
    if _live(to, sitting).exists():
        raise Conflict(f"{to.username} has {sitting.document_set.external_id} already.", code="has_it")
    data = {**_told(sitting), "to": to.username}
    if sitting.assessor_id is None:
        _hand_over(sitting, to)
        given = sitting
    else:
        _put_away(sitting, Sitting.Recalled.REASSIGNED)
        given = _afresh(sitting, to)
    log(project=project, actor=by, verb="reassign", target=given, data=data)
    return given


@transaction.atomic
def requeue(*, sitting: Sitting, by: User | None) -> Sitting:
    """Put the work of an open sitting back into the queue; the sitting that waits there then.

    Raises Conflict where it is closed or recalled (`closed`, `recalled`).
    """
    project = sitting.document_set.project
    require(by, project, Verb.ASSIGN)
    sitting = _still_open(sitting)
    if sitting.assessor_id is None:
        return sitting
    data = _told(sitting)
    waiting = _back_to_queue(sitting, Sitting.Recalled.BY_HAND)
    log(project=project, actor=by, verb="requeue", target=waiting, data=data)
    return waiting


@transaction.atomic
def give_back(*, sitting: Sitting, by: User) -> Sitting:
    """Put a set that the person pulled back into the queue, by their own wish; the sitting that waits then.

    Raises NotFound where it is not theirs, Conflict where it is closed or recalled, or was given to them by
    name (code `not_pulled`).
    """
    project = sitting.document_set.project
    require(by, project, Verb.ASSESS)
    if sitting.assessor_id != by.pk:
        raise NotFound("There is no such sitting.")
    sitting = _still_open(sitting)
    if sitting.assessor_id != by.pk:
        raise NotFound("There is no such sitting.")
    if not sitting.is_pulled:
        raise Conflict(
            "This set was given to you by name: ask whoever assigns sets to take it back.", code="not_pulled"
        )
    data = _told(sitting)
    waiting = _back_to_queue(sitting, Sitting.Recalled.BY_HAND)
    log(project=project, actor=by, verb=GIVE_BACK, target=waiting, data=data)
    return waiting


def lapse_leases(*, project: Project | None = None) -> int:
    """Put pulled sets at which nobody has worked in time back into the queue; how many.

    Untouched ones wait again as they were; begun ones are kept for their person as recalled, and fresh ones
    wait in their place. May be called by anybody at any time, by several at once.
    """
    now = timezone.now()
    expired = _expired(now)
    if project is not None:
        expired = expired.filter(document_set__project=project)
    keys = list(expired.order_by("lease_until").values_list("pk", flat=True)[:LAPSED_AT_ONCE])
    return sum(_lapse(key, now) for key in keys)


@transaction.atomic
def _lapse(key: int, now: datetime) -> bool:
    # Tested again under the lock: its person may just have worked on, and somebody else may be at this too.
    sitting = (
        _expired(now)
        .select_for_update(of=("self",), skip_locked=True)
        .select_related("document_set__project", "assessor")
        .filter(pk=key)
        .first()
    )
    if sitting is None:
        return False
    data = _told(sitting)
    waiting = _back_to_queue(sitting, Sitting.Recalled.LAPSED)
    log(project=sitting.document_set.project, actor=None, verb="lapse", target=waiting, data=data)
    return True


def _expired(now: datetime) -> QuerySet[Sitting]:
    return Sitting.objects.filter(
        is_pulled=True, closed_at__isnull=True, recalled_at__isnull=True, lease_until__lt=now
    )


def _back_to_queue(sitting: Sitting, recalled_as: Sitting.Recalled) -> Sitting:
    """The sitting that waits in the queue in its place, or itself where nothing was said in it."""
    if is_begun(sitting):
        _put_away(sitting, recalled_as)
        return _afresh(sitting, None)
    _set(sitting, assessor=None, position=0, **NOT_LEASED)
    flag_own_work(sitting.assignments.all())
    return sitting


def is_begun(sitting: Sitting) -> bool:
    """Whether anything was said in it."""
    return (
        UnitJudgment.objects.filter(assignment__sitting=sitting).exists()
        or SummaryJudgment.objects.filter(sitting=sitting).exists()
    )


def _require_may_assess(person: User, project: Project) -> None:
    if not any(Verb.ASSESS in ROLE_VERBS[role] for role in roles_in(person, project)):
        raise Invalid(f"{person.username} is not an assessor of {project.name}.", field="assessor")


def _afresh(old: Sitting, to: User | None) -> Sitting:
    """The same work as the old sitting's, drawn as it was, in an order of its own."""
    seat = Seat(
        document_set_id=old.document_set_id,
        person_id=to.pk if to else None,
        items=items_in(old),
        seed=new_seed(),
        replaces_id=old.pk,
    )
    (fresh,) = seat_all(project=old.document_set.project, seats=[seat])
    return fresh


def _hand_over(sitting: Sitting, to: User) -> None:
    position = next_position(sitting.document_set.project, to.pk)
    _set(sitting, assessor=to, position=position, **NOT_LEASED)
    flag_own_work(sitting.assignments.all())


def _put_away(sitting: Sitting, recalled_as: Sitting.Recalled) -> None:
    _set(sitting, recalled_at=timezone.now(), recalled_as=recalled_as)
    sitting.assignments.update(state=Assignment.State.RECALLED)


def _set(sitting: Sitting, **columns: object) -> None:
    for name, value in columns.items():
        setattr(sitting, name, value)
    sitting.save(update_fields=list(columns))


def _locked(sitting: Sitting) -> Sitting:
    """The sitting as it stands, locked. Raises Conflict where it is closed."""
    found = (
        Sitting.objects.select_for_update(of=("self",))
        .select_related("document_set__project", "assessor")
        .filter(pk=sitting.pk)
        .first()
    )
    if found is None:
        # A waiting copy goes when whoever began the work takes it up again.
        raise NotFound("There is no such sitting any more.")
    if found.closed_at is not None:
        raise Conflict(
            f"{found.assessor} has closed {found.document_set.external_id}: what is submitted stays.",
            code="closed",
        )
    return found


def _still_open(sitting: Sitting) -> Sitting:
    found = _locked(sitting)
    if found.recalled_at is not None:
        raise Conflict("This sitting was taken away before.", code="recalled")
    return found


def _live(person: User, sitting: Sitting) -> QuerySet[Sitting]:
    return Sitting.objects.filter(
        assessor=person, document_set_id=sitting.document_set_id, recalled_at__isnull=True
    )


def _told(sitting: Sitting) -> dict[str, object]:
    return {
        "assessor": sitting.assessor.username if sitting.assessor else None,
        "document_set": sitting.document_set.external_id,
    }
