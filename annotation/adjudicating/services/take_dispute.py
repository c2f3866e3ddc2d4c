"""An adjudicator is handed the next dispute of the queue, and lays one down again."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db.models import Q
from django.utils import timezone

from annotation.adjudicating.queries.disputes import DisputeFilter, beyond, free_for, is_free
from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.models import Dispute

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import Project

DISPUTE_LEASE = timedelta(minutes=5)
TRIED_AT_ONCE = 8


def take_next(*, project: Project, by: User, filters: DisputeFilter, after: str = "") -> Dispute | None:
    """The worst dispute that nobody else has in progress, leased to `by` for five minutes; None where none is left.

    `after` is the public id of the one that was just on screen: what follows it comes first, then the queue from
    its top. A lease is taken by a conditional update, so two people are never handed the same one. Whatever else
    `by` had in hand is laid down.
    """
    require(by, project, Verb.ADJUDICATE)
    taken = _take(project, by, filters, beyond(project, filters, after)) if after else None
    taken = taken or _take(project, by, filters, ~Q(public_id=after))
    if taken is None and after:
        # The one on screen may be all there is; where it was settled it no longer waits.
        taken = _take(project, by, filters, Q(public_id=after))
    if taken is not None:
        held = Dispute.objects.filter(project=project, leased_to=by).exclude(pk=taken.pk)
        held.update(leased_to=None, lease_until=None)
    return taken


def release_dispute(*, dispute: Dispute, by: User) -> bool:
    """End a lease before its time, whoever holds it. Gives whether there was one."""
    require(by, dispute.project, Verb.ADJUDICATE)
    held = Dispute.objects.filter(pk=dispute.pk, lease_until__gt=timezone.now())
    holder = held.values_list("leased_to__username", flat=True).first()
    if not held.update(leased_to=None, lease_until=None):
        return False
    log(
        project=dispute.project,
        actor=by,
        verb="release dispute",
        target=dispute.place,
        data={"dispute": dispute.public_id, "held_by": holder},
    )
    return True


def _take(project: Project, by: User, filters: DisputeFilter, where: Q) -> Dispute | None:
    """Others may be quicker at the first few; where they were at all of them the search begins anew."""
    while True:
        candidates = list(
            free_for(project, by, filters).filter(where).values_list("pk", flat=True)[:TRIED_AT_ONCE]
        )
        if not candidates:
            return None
        for key in candidates:
            still_free = Dispute.objects.filter(is_free(by), pk=key, state=filters.state)
            if still_free.update(leased_to=by, lease_until=timezone.now() + DISPUTE_LEASE):
                return Dispute.objects.get(pk=key)
