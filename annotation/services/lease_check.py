"""Hand out checks of a queue, each to one reviewer at a time."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db.models import Q
from django.utils import timezone

from annotation.models import Check
from annotation.permissions import Verb, require
from annotation.queries.check_view import in_view
from annotation.queries.review_queue import Filter, following_check, waiting_checks

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from annotation.models import Project
    from annotation.queries.reveal import Reader

LEASE = timedelta(minutes=5)
MOST_TRIES = 50
"""How often somebody else may be quicker before a queue counts as empty."""


def hand_out(
    *, project: Project, reader: Reader, filters: Filter, after: Check | None = None
) -> Check | None:
    """The queue's next check that nobody else is at, leased to the reader; None where there is no other.

    `after` is the check that they are at; after the queue's end it begins anew. Nobody else is handed the check until
    five minutes have passed without a sign of its reader. Whoever has its address may open it all the same, and
    of two who answer the second is told. Raises as `waiting_checks`.
    """
    require(reader.person, project, Verb.REVIEW)
    waiting = waiting_checks(project, reader, filters)
    if after is None:
        return _first_free(waiting, reader.person)
    following = following_check(waiting, after, filters)
    return _first_free(following, reader.person) or _first_free(waiting.exclude(pk=after.pk), reader.person)


def keep(*, check: Check, by: User) -> None:
    """Go on holding a check for its reader, or take it up where nobody else holds it."""
    _take(check.pk, by)


def let_go(*, check: Check, by: User) -> None:
    """Give a check that was handed out to the person back to its queues."""
    Check.objects.filter(pk=check.pk, leased_to=by).update(leased_to=None, lease_until=None)


def _first_free(waiting: QuerySet[Check], person: User) -> Check | None:
    free = waiting.filter(_free_for(person)).values_list("pk", flat=True)
    for _ in range(MOST_TRIES):
        key = free.first()
        if key is None:
            return None
        if _take(key, person):
            return in_view(Check.objects.filter(pk=key)).get()
    return None


def _take(key: int, person: User) -> bool:
    # One statement that looks and takes: of two who ask for the same check at once, one gets it.
    until = timezone.now() + LEASE
    free = Check.objects.filter(_free_for(person), pk=key)
    return free.update(leased_to=person, lease_until=until) > 0


def _free_for(person: User) -> Q:
    return Q(leased_to=None) | Q(leased_to=person) | Q(lease_until__lt=timezone.now())
