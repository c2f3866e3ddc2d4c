"""An adjudicator is handed the next dispute of the queue."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db.models import Q
from django.utils import timezone

from annotation.adjudicating.queries.disputes import WORST_FIRST, is_free
from annotation.core.paging import beyond, place_of
from annotation.core.permissions import Verb, require
from annotation.models import Dispute

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import Project

DISPUTE_LEASE = timedelta(minutes=5)
TRIED_AT_ONCE = 8


def take_next(*, project: Project, by: User, after: str = "") -> Dispute | None:
    """The worst dispute that nobody else has in progress, leased to `by` for five minutes; None where none is left.

    `after` is the public id of the one that was just on screen: what follows it comes first, then the queue from
    its top. A lease is taken by a conditional update, so two people are never handed the same one. The lease that
    `by` had before ends.
    """
    require(by, project, Verb.ADJUDICATE)
    places = [Q()]
    if after:
        rows = Dispute.objects.filter(project=project)
        beyond_it = beyond(WORST_FIRST, place_of(rows, after, WORST_FIRST, of="queue"))
        # The one on screen comes last, for it may be all there is.
        places = [beyond_it, ~Q(public_id=after), Q(public_id=after)]
    taken = next((found for where in places if (found := _take(project, by, where))), None)
    if taken is not None:
        held = Dispute.objects.filter(project=project, leased_to=by).exclude(pk=taken.pk)
        held.update(leased_to=None, lease_until=None)
    return taken


def _take(project: Project, by: User, where: Q) -> Dispute | None:
    """Others may be quicker at the first few; where they were at all of them the search begins again."""
    waiting = Dispute.objects.filter(is_free(by), where, project=project, state=Dispute.State.OPEN)
    while True:
        candidates = list(waiting.order_by(*WORST_FIRST).values_list("pk", flat=True)[:TRIED_AT_ONCE])
        if not candidates:
            return None
        for key in candidates:
            still_free = Dispute.objects.filter(is_free(by), pk=key, state=Dispute.State.OPEN)
            if still_free.update(leased_to=by, lease_until=timezone.now() + DISPUTE_LEASE):
                return Dispute.objects.get(pk=key)
