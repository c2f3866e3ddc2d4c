from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q

from annotation.adjudicating.queries.disputes import WORST_FIRST
from annotation.core.paging import beyond, place_of
from annotation.core.permissions import Verb, require
from annotation.models import Dispute
from annotation.reviewing.services import leases

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import Project


def take_next(*, project: Project, by: User, after: str = "") -> Dispute | None:
    """Lease the next free open dispute to `by`, and return it; None if there is none.

    Disputes with the largest difference come first. `after` is the public id of the dispute on screen. The search
    starts behind this dispute and continues from the top. Raises NoSuchPage if there is no dispute `after`, and the
    errors of `require`.
    """
    require(by, project, Verb.ADJUDICATE)
    places = [Q()]
    if after:
        rows = Dispute.objects.filter(project=project)
        beyond_it = beyond(WORST_FIRST, place_of(rows, after, WORST_FIRST, of="queue"))
        # Try the dispute on screen last, because it may be the only one left.
        places = [beyond_it, ~Q(public_id=after), Q(public_id=after)]
    waiting = Dispute.objects.filter(project=project, state=Dispute.State.OPEN).order_by(*WORST_FIRST)
    key = leases.take((waiting.filter(where) for where in places), by=by)
    return None if key is None else Dispute.objects.get(pk=key)
