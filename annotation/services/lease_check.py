"""Hand out checks of a queue, each to one reviewer at a time."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import connection
from django.db.models import Q
from django.utils import timezone

from annotation.models import Check
from annotation.permissions import Verb, require
from annotation.queries.check_view import first_check
from annotation.queries.reveal import sight_of
from annotation.queries.review_queue import Filter, following_check, waiting_checks
from annotation.services.look_at_check import see

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from annotation.models import Project
    from annotation.queries.reveal import Reader

LEASE = timedelta(minutes=5)
MOST_TRIES = 50
"""How often somebody else may be quicker before a queue counts as empty."""

# One statement that looks and takes: of two who ask for the same check at once, one gets it.
_TAKE = """
UPDATE annotation_check SET leased_to_id = %s, lease_until = %s
WHERE id = %s AND (leased_to_id IS NULL OR leased_to_id = %s OR lease_until < %s)
"""


def hand_out(
    *, project: Project, reader: Reader, filters: Filter, after: Check | None = None
) -> Check | None:
    """The queue's next check that nobody else is at, leased to the reader; None where there is no other.

    `after` is the check that they are at; after the queue's end it begins anew. Nobody else is handed the check until
    five minutes have passed without a sign of its reader. Whoever has its address may open it all the same, and
    of two who answer the second is told. Raises as `waiting_checks`.
    """
    require(reader.person, project, Verb.REVIEW)
    return _hand_out(project, reader, filters, after)


def move_on(*, project: Project, reader: Reader, filters: Filter, here: str) -> Check | None:
    """Record that a check has come on the reader's screen, hold it for them, and hand out the next.

    `here` is its public id. The same as `look_at`, `keep` and `hand_out`, which ask each for itself what the reader
    may do. Raises as they do, and NotFound.
    """
    require(reader.person, project, Verb.REVIEW)
    sight = sight_of(project, here, reader.person)
    see(sight=sight, by=reader.person)
    _take(sight.check.pk, reader.person)
    return _hand_out(project, reader, filters, sight.check)


def keep(*, check: Check, by: User) -> None:
    """Go on holding a check for its reader, or take it up where nobody else holds it."""
    _take(check.pk, by)


def let_go(*, check: Check, by: User) -> None:
    """Give a check that was handed out to the person back to its queues."""
    Check.objects.filter(pk=check.pk, leased_to=by).update(leased_to=None, lease_until=None)


def _hand_out(project: Project, reader: Reader, filters: Filter, after: Check | None) -> Check | None:
    waiting = waiting_checks(project, reader, filters)
    if after is None:
        return _first_free(project, waiting, reader.person)
    following = following_check(waiting, after, filters)
    return _first_free(project, following, reader.person) or _first_free(
        project, waiting.exclude(pk=after.pk), reader.person
    )


def _first_free(project: Project, waiting: QuerySet[Check], person: User) -> Check | None:
    free = waiting.filter(_free_for(person))
    for _ in range(MOST_TRIES):
        check = first_check(project, free)
        if check is None or _take(check.pk, person):
            return check
    return None


def _take(key: int, person: User) -> bool:
    now = timezone.now()
    until, over = (connection.ops.adapt_datetimefield_value(moment) for moment in (now + LEASE, now))
    with connection.cursor() as cursor:
        cursor.execute(_TAKE, [person.pk, until, key, person.pk, over])
        return bool(cursor.rowcount)


def _free_for(person: User) -> Q:
    return Q(leased_to=None) | Q(leased_to=person) | Q(lease_until__lt=timezone.now())
