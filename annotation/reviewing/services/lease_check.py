"""Hand out checks of a queue, each to one reviewer at a time."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import Q
from django.utils import timezone

from annotation.core.permissions import Verb, require
from annotation.core.refusals import NotFound
from annotation.models import Check
from annotation.reviewing.queries import sql
from annotation.reviewing.queries.check_view import ON_SCREEN
from annotation.reviewing.queries.review_queue import Filter, following_check, waiting_checks
from annotation.reviewing.services.look_at_check import look_at

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from annotation.core.readers import CheckReader
    from annotation.models import CheckLook, Project

LEASE = timedelta(minutes=5)
SPARE = timedelta(minutes=1)
"""A lease is written so much longer than is promised: whoever goes on within it has nothing written again."""
MOST_HELD = 3
"""So many checks of a project one person has in hand: the newest; what they left for these is anybody's."""
LAST_LOOKS = 50
"""So many looks of everybody tell what somebody has opened of late: whoever skips claims has many of them."""
GIVEN_BACK_AT_ONCE = 10_000


def hand_out(
    *, project: Project, reader: CheckReader, filters: Filter, after: Check | None = None
) -> Check | None:
    """The queue's next check that nobody else is at, leased to the reader; None where there is no other.

    `after` is the check that they are at; after the queue's end it begins anew. Nobody else is handed the check until
    five minutes have passed without a sign of its reader. Whoever has its address may open it all the same. Raises as
    `waiting_checks`.
    """
    require(reader.person, project, Verb.REVIEW)
    return _hand_out(project, reader, filters, after)


def move_on(*, project: Project, reader: CheckReader, filters: Filter, here: str) -> Check | None:
    """Record that a check has come on the reader's screen, hold it for them, and hand out the next.

    `here` is its public id. The same as `stay` and `hand_out`, which asks for itself what the reader may do. Raises
    as they do.
    """
    check, look = stay(project=project, here=here, by=reader.person)
    if look.opened_at < timezone.now() - LEASE - SPARE:
        # Met again: none of the last looks tells that they have it in hand. The next one comes to it.
        _let_go_of_others(check, reader.person, but=MOST_HELD - 2)
    return _hand_out(project, reader, filters, check)


def stay(*, project: Project, here: str, by: User) -> tuple[Check, CheckLook]:
    """Record that a check, `here` its public id, is on the person's screen, and go on holding it for them.

    Raises NotFound, and as `require`.
    """
    check = Check.objects.filter(project=project, public_id=here).first()
    if check is None:
        raise NotFound("There is no such check in this project.")
    check.project = project
    look = look_at(check=check, by=by)
    keep(check=check, by=by)
    return check, look


def keep(*, check: Check, by: User) -> None:
    """Go on holding a check for its reader, or take it up where nobody else holds it.

    Whoever takes one up that was not handed to them holds no more than `MOST_HELD` afterwards, the newest.
    """
    now = timezone.now()
    is_theirs = check.leased_to_id == by.pk and check.lease_until is not None and check.lease_until > now
    if is_theirs and check.lease_until is not None and check.lease_until >= now + LEASE:
        return
    until, over = _written(now + LEASE + SPARE), _written(now)
    with connection.cursor() as cursor:
        cursor.execute(sql.TAKE, [by.pk, until, check.pk, by.pk, over])
        is_taken = cursor.rowcount > 0
    if is_taken and not is_theirs:
        _let_go_of_others(check, by)


def let_go(*, check: Check, by: User) -> None:
    """Give a check that was handed out to the person back to its queues."""
    Check.objects.filter(pk=check.pk, leased_to=by).update(leased_to=None, lease_until=None)


def _hand_out(project: Project, reader: CheckReader, filters: Filter, after: Check | None) -> Check | None:
    waiting = waiting_checks(project, reader, filters)
    parts: tuple[QuerySet[Check], ...] = (waiting,)
    if after is not None:
        parts = (*following_check(waiting, after, filters), waiting.exclude(pk=after.pk))
    free = (_first_free(project, part, reader.person) for part in parts)
    return next((check for check in free if check is not None), None)


def _first_free(project: Project, waiting: QuerySet[Check], person: User) -> Check | None:
    now = timezone.now()
    is_free = Q(leased_to=None) | Q(leased_to=person) | Q(lease_until__lt=now)
    try:
        first, values = waiting.filter(is_free).values_list("pk", flat=True)[:1].query.sql_with_params()
    except EmptyResultSet:
        # Filters that exclude each other have no SQL.
        return None
    statement = sql.TAKE_FIRST.format(first=first, unless_locked=_unless_locked("annotation_check"))
    counted = [LAST_LOOKS, person.pk, person.pk, _written(now)]
    with connection.cursor() as cursor:
        cursor.execute(statement, [person.pk, _written(now + LEASE + SPARE), *values, *counted])
        found = cursor.fetchone()
    if found is None:
        return None
    key, others = found
    check = ON_SCREEN.get(pk=key)
    check.project = project
    if others >= MOST_HELD:
        _let_go_of_others(check, person)
    return check


def _let_go_of_others(check: Check, person: User, *, but: int = MOST_HELD - 1) -> None:
    """Give back what the person holds of the project beside this check, `but` so many, the newest.

    It goes through all that they ever opened.
    """
    statement = sql.LET_GO.format(unless_locked=_unless_locked("held"))
    which = [person.pk, person.pk, _written(timezone.now()), check.project_id, check.pk]
    with connection.cursor() as cursor:
        cursor.execute(statement, [*which, GIVEN_BACK_AT_ONCE, but])


def _unless_locked(table: str) -> str:
    has_it = connection.features.has_select_for_update_skip_locked
    return sql.UNLESS_LOCKED.format(table=table) if has_it else ""


def _written(moment: datetime) -> Any:
    """A moment as the database takes it in a statement by hand: SQLite as text."""
    return connection.ops.adapt_datetimefield_value(moment)
