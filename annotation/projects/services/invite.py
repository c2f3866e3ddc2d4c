"""An owner invites somebody into a project by a link, or takes an invitation back."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from django.db import transaction
from django.utils import timezone

from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict
from annotation.core.text_faults import checked_note
from annotation.models import Invitation, Project
from annotation.projects.services.change_members import checked_roles

if TYPE_CHECKING:
    from django.contrib.auth.models import User

GOOD_FOR = timedelta(days=14)
MOST_WAITING = 100
LONGEST_NOTE = 120
_SECRET_BYTES = 32


class Issued(NamedTuple):
    """An invitation and its secret, which is known at this moment alone: the row keeps a hash of it."""

    invitation: Invitation
    secret: str


@transaction.atomic
def invite(*, project: Project, roles: Collection[str], by: User, note: str = "") -> Issued:
    """Make a link that lets one person into a project with these roles, good for 14 days and for one use.

    `note` says for whom it is meant. Raises Invalid for no or an unknown role and for a note that is too long,
    Conflict (code `too_many`) where 100 invitations of the project wait already.
    """
    require(by, project, Verb.MANAGE_MEMBERS)
    wanted = checked_roles(roles)
    note = checked_line(note)
    now = timezone.now()
    waiting = Invitation.objects.filter(
        project=project, accepted_at=None, revoked_at=None, expires_at__gt=now
    )
    if waiting.count() >= MOST_WAITING:
        raise Conflict(
            f"{MOST_WAITING} invitations wait already. Take some back that nobody will use.", code="too_many"
        )
    secret = secrets.token_urlsafe(_SECRET_BYTES)
    invitation = Invitation.objects.create(
        project=project,
        roles=wanted,
        note=note,
        secret_hash=hash_of(secret),
        by=by,
        expires_at=now + GOOD_FOR,
    )
    log(project=project, actor=by, verb="invite", target=invitation, data={"for": note, "roles": wanted})
    return Issued(invitation, secret)


@transaction.atomic
def revoke_invitation(*, invitation: Invitation, by: User | None) -> Invitation:
    """Take an invitation back: its link opens nothing from now on. Twice changes nothing.

    Raises Conflict (code `accepted`) where somebody has come in by it: remove the member instead.
    """
    require(by, invitation.project, Verb.MANAGE_MEMBERS)
    now = Invitation.objects.select_for_update(of=("self",)).select_related("project").get(pk=invitation.pk)
    if now.accepted_at is not None:
        raise Conflict("Somebody has come in by this invitation. Remove the member instead.", code="accepted")
    if now.revoked_at is not None:
        return now
    now.revoked_at = timezone.now()
    now.save(update_fields=["revoked_at"])
    log(
        project=now.project,
        actor=by,
        verb="revoke invitation",
        target=now,
        data={"for": now.note, "roles": now.roles},
    )
    return now


def hash_of(secret: str) -> str:
    """What is kept of a link's secret. The secret is 256 random bits, so a plain SHA-256 cannot be guessed back."""
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


def checked_line(note: str) -> str:
    """A short note in one line. Raises Invalid where it is too long or holds a control character."""
    if_long = f"For whom: at most {LONGEST_NOTE} characters, this has {{length}}."
    return checked_note(note, most=LONGEST_NOTE, if_long=if_long)
