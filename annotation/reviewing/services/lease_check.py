"""Leasing the checks of a queue to reviewers."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any

from annotation.core.permissions import Verb, require
from annotation.core.refusals import NotFound
from annotation.models import Check
from annotation.reviewing.queries.check_view import ON_SCREEN
from annotation.reviewing.services import leases
from annotation.reviewing.services.look_at_check import look_at

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from annotation.core.lists import Listing
    from annotation.models import Project

MOST_HELD = 3
"""The maximum number of checks of a project that one person holds; older leases end."""


def hand_out(*, look: Listing, after: Check | None = None) -> Check | None:
    """Lease the queue's next free check to the viewer and return it; return None if there is none.

    The search starts behind `after`, the check on screen. After its last check, the queue starts again from the top.
    Raises the errors of `require`.
    """
    require(look.viewer.person, look.viewer.project, Verb.REVIEW)
    return _hand_out(look, after)


def look_and_hand_out(*, look: Listing, here: str) -> Check | None:
    """Record a look at the check with public id `here`, extend its lease, and lease the next check of the queue.

    Raises the errors of `look_and_renew`.
    """
    check = look_and_renew(project=look.viewer.project, here=here, by=look.viewer.person)
    return _hand_out(look, check)


def look_and_renew(*, project: Project, here: str, by: User) -> Check:
    """Record a look at the check with public id `here`, and extend its lease.

    Raises NotFound if there is no such check, and the errors of `require`.
    """
    check = Check.objects.filter(project=project, public_id=here).first()
    if check is None:
        raise NotFound("There is no such check in this project.")
    check.project = project
    look_at(check=check, by=by)
    renew_lease(check=check, by=by)
    return check


def renew_lease(*, check: Check, by: User) -> None:
    """Extend the person's lease of a check; take the lease if nobody holds the check."""
    leases.renew(check, by=by, most=MOST_HELD)


def end_lease(*, check: Check, by: User) -> None:
    leases.give_back(Check.objects.filter(pk=check.pk), by=by)


def _place_in_sample(look: Listing, check: Check) -> Any:
    rows = look.of.rows(look.viewer).filter(pk=check.pk).order_by()
    return rows.values_list(*look.order, named=True).first()


def _hand_out(look: Listing, after: Check | None) -> Check | None:
    parts: Iterable[QuerySet[Check]] = (look.found,)
    if after is not None:
        # In a sample, start behind the check's place in the sample, or at the top if the check is not in the sample.
        place = _place_in_sample(look, after) if "sample" in look.chosen else after
        beyond = look.beyond(place) if place else (look.found,)
        parts = chain(beyond, (look.found.exclude(pk=after.pk),))
    key = leases.take(parts, by=look.viewer.person, most=MOST_HELD)
    if key is None:
        return None
    check = ON_SCREEN.get(pk=key)
    check.project = look.viewer.project
    return check
