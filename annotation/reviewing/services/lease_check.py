"""Hand out checks of a queue, each to one reviewer at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from annotation.core import leases
from annotation.core.permissions import Verb, require
from annotation.core.refusals import NotFound
from annotation.models import Check
from annotation.reviewing.queries.check_view import ON_SCREEN
from annotation.reviewing.queries.review_queue import Filter, following_check, waiting_checks
from annotation.reviewing.services.look_at_check import look_at

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from annotation.core.readers import CheckReader
    from annotation.models import CheckLook, Project

MOST_HELD = 3
"""So many checks of a project one person has in hand: the newest; what they left for these is anybody's."""


def hand_out(
    *, project: Project, reader: CheckReader, filters: Filter, after: Check | None = None
) -> Check | None:
    """The queue's next check that nobody else is at, leased to the reader; None where there is no other.

    `after` is the check that they are at; after the queue's end it begins anew. Nobody else is handed the check until
    five minutes have passed without a sign of its reader. Raises as `waiting_checks`.
    """
    require(reader.person, project, Verb.REVIEW)
    return _hand_out(project, reader, filters, after)


def move_on(*, project: Project, reader: CheckReader, filters: Filter, here: str) -> Check | None:
    """Record that a check has come on the reader's screen, hold it for them, and hand out the next.

    `here` is its public id. The same as `stay` and `hand_out`, which asks for itself what the reader may do. Raises
    as they do.
    """
    check, _ = stay(project=project, here=here, by=reader.person)
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
    """Go on holding a check for its reader, or take it up where nobody else holds it."""
    leases.renew(check, by=by, most=MOST_HELD)


def let_go(*, check: Check, by: User) -> None:
    """Give a check that was handed out to the person back to its queues."""
    leases.give_back(Check.objects.filter(pk=check.pk), by=by)


def _hand_out(project: Project, reader: CheckReader, filters: Filter, after: Check | None) -> Check | None:
    waiting = waiting_checks(project, reader, filters)
    parts: tuple[QuerySet[Check], ...] = (waiting,)
    if after is not None:
        parts = (*following_check(waiting, after, filters), waiting.exclude(pk=after.pk))
    taken = (leases.take(part, by=reader.person, most=MOST_HELD) for part in parts)
    key = next((key for key in taken if key is not None), None)
    if key is None:
        return None
    check = ON_SCREEN.get(pk=key)
    check.project = project
    return check
