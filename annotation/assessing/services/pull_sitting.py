"""An assessor takes the next set from the project's queue, under a lease.

Rule: one pulled set at a time. Of two people who pull at the same instant each gets another one: a waiting
row is taken by a locked read that passes over what somebody else is taking (one writer at a time on SQLite),
and by an update that holds only while it still waits.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Count, Exists, F, IntegerField, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from annotation.assessing.queries.assignments import waiting_for
from annotation.assessing.services.act_turn import lease_end
from annotation.assessing.services.recall_sitting import GIVE_BACK, lapse_leases
from annotation.assessing.services.seat import flag_own_work, left_and_saw, lock_people, next_position
from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict, NotFound
from annotation.models import Assignment, Event, Project, Sitting, SummaryJudgment, System, UnitJudgment

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

LAPSED = Sitting.Recalled.LAPSED
LARGEST_FACTOR = 2**30
CIRCLE = 2**31 - 1
"""A prime: multiplied and cut back to it, seeds stand in an order of each person's own."""


def pull(*, project: Project, by: User) -> Sitting:
    """The next set of the queue for this person, leased to them for as long as they work at it.

    What they began and lost to the lease comes first, with all that they said; then the sets that fewest
    people have, at random among equals, those whose summaries they wrote themselves after them, and untouched
    ones that they gave back last. Never a set that they have, closed, gave back begun or lost to a manager.
    Raises Conflict: `one_at_a_time` while they hold a pulled set (`details` names it), `queue_empty` where
    nothing waits that they may have.
    """
    require(by, project, Verb.ASSESS)
    lapse_leases(project=project)
    with transaction.atomic():
        lock_people([by.pk])
        _require_free_hands(project, by)
        slot = _in_order(project, by).select_for_update(of=("self",), skip_locked=True).first()
        if slot is None:
            raise Conflict(
                "The queue has no set for you. Try again later, or ask a manager.",
                code="queue_empty",
            )
        begun = _lost_by(by, slot)
        sitting = _take(project, slot, by) if begun is None else _resume(project, begun, slot)
        log(
            project=project,
            actor=by,
            verb="pull",
            target=sitting,
            data={"document_set": slot.document_set.external_id, "resumed": begun is not None},
        )
    return sitting


@transaction.atomic
def take_up(*, sitting: Sitting, by: User) -> Sitting:
    """Let a person go on in the set that their lease ran out on, with all that they said in it.

    It works as long as the same work waits in the queue: nobody has pulled it meanwhile. One whose lease ran
    out but which nobody has taken away yet is simply theirs. Raises NotFound where it is not theirs, Conflict:
    `taken`, `one_at_a_time`, `not_lapsed`.
    """
    project = sitting.document_set.project
    require(by, project, Verb.ASSESS)
    lock_people([by.pk])
    found = (
        Sitting.objects.select_for_update(of=("self",))
        .select_related("document_set__project")
        .filter(pk=sitting.pk, assessor=by)
        .first()
    )
    if found is None:
        raise NotFound("There is no such assignment.")
    if found.is_open:
        return found
    if found.recalled_as != LAPSED:
        raise Conflict("This set did not expire.", code="not_lapsed")
    _require_free_hands(project, by)
    slot = _same_work(found)
    if slot is None:
        raise Conflict(
            f"Someone else has {found.document_set.external_id} now. Your judgments are kept but not counted.",
            code="taken",
        )
    resumed = _resume(project, found, slot)
    log(project=project, actor=by, verb="take up", target=resumed, data={"from": slot.public_id})
    return resumed


def _require_free_hands(project: Project, by: User) -> None:
    held = Sitting.objects.filter(
        document_set__project=project,
        assessor=by,
        is_pulled=True,
        closed_at__isnull=True,
        recalled_at__isnull=True,
    ).select_related("document_set")
    in_hand = held.first()
    if in_hand is not None:
        raise Conflict(
            f"You have {in_hand.document_set.external_id} assigned to you. Close or return it, then take the "
            "next one.",
            code="one_at_a_time",
            details={"sitting": in_hand.public_id},
        )


def _in_order(project: Project, by: User) -> QuerySet[Sitting]:
    """What waits for the person: own begun work, the least covered sets, own summaries, what they gave back."""
    live = Sitting.objects.filter(
        document_set=OuterRef("document_set"), assessor__isnull=False, recalled_at__isnull=True
    )
    covered = live.order_by().values("document_set").annotate(n=Count("pk")).values("n")
    begun = Sitting.objects.filter(
        document_set=OuterRef("document_set"), assessor=by, recalled_as=LAPSED, recalled_at__isnull=False
    )
    factor = random.Random(f"queue:{project.public_id}:{by.pk}").randrange(1, LARGEST_FACTOR) | 1
    slots = waiting_for(project, by).select_related("document_set")
    slots = slots.annotate(
        is_begun=Exists(begun),
        covered=Coalesce(Subquery(covered, output_field=IntegerField()), 0),
        turn=F("seed") * factor % CIRCLE,
    )
    order = ["-is_begun", "covered", "turn", "pk"]
    if System.objects.filter(project=project, person=by).exists():
        own = Q(comparison__peer__system__person=by) | Q(comparison__model__system__person=by)
        slots = slots.annotate(is_own=Exists(Assignment.objects.filter(own, sitting=OuterRef("pk"))))
        order.insert(1, "is_own")
    # An untouched set waits again as it was: the log alone knows who gave it back, and how long ago.
    given_back = Event.objects.filter(project=project, actor=by, verb=GIVE_BACK)
    if given_back.exists():
        of_set = Sitting.objects.filter(document_set=OuterRef(OuterRef("document_set")))
        last = given_back.filter(target_id__in=of_set.values("public_id")).order_by("-pk").values("pk")[:1]
        slots = slots.annotate(given_back=Coalesce(Subquery(last), 0))
        order.insert(1, "given_back")
    return slots.order_by(*order)


def _take(project: Project, slot: Sitting, by: User) -> Sitting:
    slot.assessor = by
    slot.is_pulled = True
    slot.lease_until = lease_end(project)
    slot.position = next_position(project, by.pk)
    slot.worked_at, slot.pen, slot.pen_seq = None, "", 0
    slot.may_have_seen = bool(left_and_saw([(by.pk, slot.document_set_id)]))
    columns = (
        "assessor",
        "is_pulled",
        "lease_until",
        "position",
        "worked_at",
        "pen",
        "pen_seq",
        "may_have_seen",
    )
    still = Sitting.objects.filter(pk=slot.pk, assessor__isnull=True, recalled_at__isnull=True)
    if not still.update(**{name: getattr(slot, name) for name in columns}):
        # Not to be expected under the lock; nobody may ever be given what another one has.
        raise Conflict("Someone else took this set first. Take the next one.", code="taken")
    flag_own_work(slot.assignments.all())
    return slot


def _lost_by(by: User, slot: Sitting) -> Sitting | None:
    """The person's sitting whose lease ran out and that holds the same work as this one."""
    lost = Sitting.objects.filter(
        document_set_id=slot.document_set_id, assessor=by, recalled_as=LAPSED, recalled_at__isnull=False
    )
    candidates = list(lost.order_by("-pk"))
    work = _work_of(slot) if candidates else set()
    return next((sitting for sitting in candidates if _work_of(sitting) == work), None)


def _same_work(lost: Sitting) -> Sitting | None:
    """A waiting sitting that holds the same work, locked."""
    waiting = (
        Sitting.objects.select_for_update(of=("self",), skip_locked=True)
        .filter(
            document_set_id=lost.document_set_id,
            assessor__isnull=True,
            recalled_at__isnull=True,
        )
        .order_by("pk")
    )
    work = _work_of(lost)
    return next((slot for slot in waiting if _work_of(slot) == work), None)


def _work_of(sitting: Sitting) -> set[int | None]:
    firsts = sitting.assignments.filter(repeat_of__isnull=True)
    return set(firsts.values_list("comparison_id", flat=True))


def _resume(project: Project, lost: Sitting, slot: Sitting) -> Sitting:
    """Open the lost sitting again in place of the waiting one, in which nobody has said anything."""
    own = Sitting.objects.filter(
        assessor_id=lost.assessor_id, document_set_id=lost.document_set_id, recalled_at__isnull=True
    )
    if own.exists():
        raise Conflict(f"You have {lost.document_set.external_id} already.", code="has_it")
    slot.assignments.filter(repeat_of__isnull=False).delete()
    slot.delete()
    lost.recalled_at, lost.recalled_as = None, ""
    lost.is_pulled, lost.lease_until = True, lease_end(project)
    lost.save(update_fields=["recalled_at", "recalled_as", "is_pulled", "lease_until"])
    _open_again(lost)
    return lost


def _open_again(lost: Sitting) -> None:
    said = set(
        UnitJudgment.objects.filter(assignment__sitting=lost)
        .order_by()
        .values_list("assignment_id", flat=True)
    )
    answered = set(SummaryJudgment.objects.filter(sitting=lost).values_list("peer_id", "is_repeat"))
    rows = lost.assignments.values_list("pk", "comparison__peer_id", "repeat_of_id")
    begun = [key for key, peer, first in rows if key in said or (peer, first is not None) in answered]
    lost.assignments.update(state=Assignment.State.OPEN)
    lost.assignments.filter(pk__in=begun).update(state=Assignment.State.DRAFT)
