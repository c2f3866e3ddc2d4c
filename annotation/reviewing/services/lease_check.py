"""Hand out checks of a queue, each to one reviewer at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    from annotation.models import Look, Project

MOST_HELD = 3
"""So many checks of a project one person has in hand: the newest; what they left for these is anybody's."""


def hand_out(*, look: Listing, after: Check | None = None) -> Check | None:
    """The queue's next check that nobody else is at, leased to the viewer; None where there is no other.

    `after` is the check that they are at; after the end of the queue, its top follows. Nobody else is handed the check
    until five minutes have passed without a sign of its viewer. Raises as `require`.
    """
    require(look.viewer.person, look.viewer.project, Verb.REVIEW)
    return _hand_out(look, after)


def move_on(*, look: Listing, here: str) -> Check | None:
    """Record that a check has come on the viewer's screen, hold it for them, and hand out the next.

    `here` is its public id. The same as `stay` and `hand_out`, which asks for itself what the viewer may do. Raises
    as they do.
    """
    check, _ = stay(project=look.viewer.project, here=here, by=look.viewer.person)
    return _hand_out(look, check)


def stay(*, project: Project, here: str, by: User) -> tuple[Check, Look]:
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


def _hand_out(look: Listing, after: Check | None) -> Check | None:
    parts: tuple[QuerySet[Check], ...] = (look.found,)
    if after is not None:
        # A check has its place in a sample from there. One that is not in it comes before all that are.
        sampled = look.of.rows(look.viewer).filter(pk=after.pk).first() if "sample" in look.chosen else after
        beyond = look.beyond(sampled) if sampled else (look.found,)
        parts = (*beyond, look.found.exclude(pk=after.pk))
    taken = (leases.take(part, by=look.viewer.person, most=MOST_HELD) for part in parts)
    key = next((key for key in taken if key is not None), None)
    if key is None:
        return None
    check = ON_SCREEN.get(pk=key)
    check.project = look.viewer.project
    return check
