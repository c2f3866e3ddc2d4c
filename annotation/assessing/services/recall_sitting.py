"""Take a sitting away from an assessor: recalled, given to somebody else, or back in the queue.

What was said in it stays as rows of the recalled sitting and counts for nothing. A closed sitting is never
taken away. Whoever changes who has a sitting locks the people first and its row then.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from annotation.assessing.queries.waiting import stranded
from annotation.assessing.services.seat import (
    Seat,
    flag_own_work,
    items_in,
    left_and_saw,
    lock_people,
    next_position,
    require_may_assess,
    seat_all,
)
from annotation.core.events import log
from annotation.core.permissions import Verb, has_sight, require
from annotation.core.refusals import Conflict, NotFound
from annotation.core.shared.clock import shared_now
from annotation.models import Assignment, Project, Sitting, SummaryJudgment, UnitJudgment
from annotation.models.base import new_seed

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
    require_may_assess(to, project)
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
        raise NotFound("There is no such assignment.")
    sitting = _still_open(sitting)
    if sitting.assessor_id != by.pk:
        raise NotFound("There is no such assignment.")
    if not sitting.is_pulled:
        raise Conflict(
            "This set was assigned to you by name. Ask a manager to withdraw it.", code="not_pulled"
        )
    data = _told(sitting)
    waiting = _back_to_queue(sitting, Sitting.Recalled.BY_HAND)
    log(project=project, actor=by, verb=GIVE_BACK, target=waiting, data=data)
    return waiting


@transaction.atomic
def withdraw_stranded(*, project: Project, by: User | None) -> int:
    """Take out of the queue what waits there for nobody; how many sittings.

    Everybody who may assess has those sets already, or another copy waits for them. Nothing was said in a waiting
    one. Without any, nothing changes.
    """
    require(by, project, Verb.ASSIGN)
    waiting = Sitting.objects.filter(
        document_set__project=project, assessor__isnull=True, recalled_at__isnull=True
    )
    # What somebody is pulling at this instant is passed over: it waits for nobody no longer.
    locked = waiting.select_for_update(of=("self",), skip_locked=True).order_by("pk")
    held = set(locked.values_list("pk", flat=True))
    left_over = stranded(project)
    keys = [key for key in left_over.sittings if key in held]
    if not keys:
        return 0
    rows = Sitting.objects.filter(pk__in=keys)
    rows.update(recalled_at=timezone.now(), recalled_as=Sitting.Recalled.BY_HAND)
    Assignment.objects.filter(sitting__in=keys).update(state=Assignment.State.RECALLED)
    log(
        project=project,
        actor=by,
        verb="withdraw",
        target=project,
        data={"sittings": len(keys), "document_sets": list(left_over.document_sets)},
    )
    return len(keys)


def lapse_leases(*, project: Project | None = None) -> int:
    """Put pulled sets at which nobody has worked in time back into the queue; how many.

    Untouched ones wait again as they were; begun ones are kept for their person as recalled, and fresh ones
    wait in their place. May be called by anybody at any time, by several at once.
    """
    now = shared_now()
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
    """The sitting that waits in the queue in its place, or itself where nothing was said in it.

    Who sees more from now on leaves a trace: given the set again, they are no longer blind to it.
    """
    if is_begun(sitting) or _sees_more(sitting):
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
    seen = bool(left_and_saw([(to.pk, sitting.document_set_id)]))
    _set(sitting, assessor=to, position=position, may_have_seen=seen, **NOT_LEASED)
    flag_own_work(sitting.assignments.all())


def _put_away(sitting: Sitting, recalled_as: Sitting.Recalled) -> None:
    seen = sitting.may_have_seen or _sees_more(sitting)
    _set(sitting, recalled_at=timezone.now(), recalled_as=recalled_as, may_have_seen=seen)
    sitting.assignments.update(state=Assignment.State.RECALLED)


def _sees_more(sitting: Sitting) -> bool:
    """Whether its assessor is shown what others or the judge said once it is no longer theirs."""
    return sitting.assessor is not None and has_sight(sitting.assessor, sitting.document_set.project)


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
        raise NotFound("This assignment no longer exists.")
    if found.closed_at is not None:
        raise Conflict(
            f"{found.assessor} has closed {found.document_set.external_id}. "
            "Submitted judgments cannot be withdrawn.",
            code="closed",
        )
    return found


def _still_open(sitting: Sitting) -> Sitting:
    found = _locked(sitting)
    if found.recalled_at is not None:
        raise Conflict("This assignment has already been withdrawn.", code="recalled")
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
