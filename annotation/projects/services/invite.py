"""Inviting a person into a project by a link, and revoking an invitation."""

from __future__ import annotations

import hashlib
import logging
import secrets
from collections.abc import Collection
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import send_mail
from django.core.validators import validate_email
from django.db import transaction
from django.template.loader import render_to_string
from django.utils import timezone

from annotation.core.events import log
from annotation.core.jobs import hint
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict, Invalid
from annotation.core.shared.limits import count, takes_mail_turn
from annotation.core.text_faults import checked_note
from annotation.models import Invitation, Project
from annotation.projects.services.change_members import checked_roles

if TYPE_CHECKING:
    from django.contrib.auth.models import User

GOOD_FOR = timedelta(days=14)
MAIL_INVITATION = "annotation.mail_invitation"
"""The name of the task that mails an invitation."""
MAILS_AN_HOUR = 5
TRIED_FOR = timedelta(days=1)
TRIED_EVERY = timedelta(minutes=15)
"""The pause between attempts."""
MOST_WAITING = 100
LONGEST_NOTE = 120
_SECRET_BYTES = 32

logger = logging.getLogger(__name__)


class Issued(NamedTuple):
    """An invitation with its secret. Only a hash of the secret is stored."""

    invitation: Invitation
    secret: str


@transaction.atomic
def invite(
    *,
    project: Project,
    roles: Collection[str],
    by: User,
    note: str = "",
    email: str = "",
    address: str = "",
) -> Issued:
    """Create a link with which one person can join with these roles, once within 14 days.

    `note` names the invited person. With `email`, a worker mails another secret, which replaces the returned one;
    `address` is the base URL of the installation. Raises Invalid for missing or unknown roles, a too long note, an
    unusable e-mail address, or an installation that sends no mail. Raises Conflict (code `too_many`) if 100
    invitations are waiting.
    """
    require(by, project, Verb.MANAGE_MEMBERS)
    wanted = checked_roles(roles)
    note, email = checked_line(note), _checked_email(email)
    now = timezone.now()
    waiting = Invitation.objects.filter(
        project=project, accepted_at=None, revoked_at=None, expires_at__gt=now
    )
    if waiting.count() >= MOST_WAITING:
        raise Conflict(
            f"{MOST_WAITING} invitations are pending already. Revoke some that are not needed.",
            code="too_many",
        )
    secret = secrets.token_urlsafe(_SECRET_BYTES)
    invitation = Invitation.objects.create(
        project=project,
        roles=wanted,
        note=note,
        email=email,
        link_base=address if email else None,
        secret_hash=hash_of(secret),
        by=by,
        expires_at=now + GOOD_FOR,
    )
    log(
        project=project,
        actor=by,
        verb="invite",
        target=invitation,
        data={"for": note or email, "roles": wanted},
    )
    if email:
        transaction.on_commit(lambda: _ask_to_mail(invitation))
    return Issued(invitation, secret)


@transaction.atomic
def revoke_invitation(*, invitation: Invitation, by: User | None) -> Invitation:
    """Revoke an invitation. A second call changes nothing.

    Raises Conflict (code `accepted`) if it was accepted; then the member must be removed instead.
    """
    require(by, invitation.project, Verb.MANAGE_MEMBERS)
    now = Invitation.objects.select_for_update(of=("self",)).select_related("project").get(pk=invitation.pk)
    if now.accepted_at is not None:
        raise Conflict("This invitation has been accepted. Remove the member instead.", code="accepted")
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


def _ask_to_mail(invitation: Invitation) -> None:
    values = {"invitation_id": invitation.public_id, "address": invitation.link_base}
    hint(MAIL_INVITATION, kwargs=values, waits="a mailed invitation")


def ask_again_to_mail() -> None:
    """Ask workers again to mail invitations of the last day, each at most once per `TRIED_EVERY`."""
    now = timezone.now()
    waiting = Invitation.objects.filter(
        accepted_at=None,
        revoked_at=None,
        mailed_at=None,
        link_base__isnull=False,
        created_at__range=(now - TRIED_FOR, now - TRIED_EVERY),
    )
    for invitation in waiting:
        if count(f"mail:{invitation.public_id}", seconds=int(TRIED_EVERY.total_seconds())) == 1:
            _ask_to_mail(invitation)


def mail_invitation(*, invitation_id: str, address: str) -> bool:
    """Mail the invitation's link. Returns True if it was sent.

    Nothing is sent if the invitation was revoked, used or mailed already, or if too many mails went to the address in
    this hour. Raises the error of the mail server; then the mail counts as not sent.
    """
    secret = secrets.token_urlsafe(_SECRET_BYTES)
    invitation = _claim(invitation_id, secret)
    if invitation is None:
        return False
    name = " ".join(invitation.project.name.split())
    values = {
        "by": invitation.by.get_full_name() or invitation.by.get_username(),
        "project": name,
        "link": f"{address.rstrip('/')}/invitations/{secret}/",
        "until": invitation.expires_at,
    }
    words = render_to_string("projects/invitations/mail.txt", values)
    try:
        send_mail(f"Invitation to {name}", words, None, [invitation.email])
    except Exception:
        Invitation.objects.filter(pk=invitation.pk).update(mailed_at=None)
        raise
    return True


@transaction.atomic
def _claim(invitation_id: str, secret: str) -> Invitation | None:
    """Returns None if there is nothing to mail or too many mails were sent."""
    locked = Invitation.objects.select_for_update(of=("self",)).select_related("project", "by")
    invitation = locked.filter(
        public_id=invitation_id, accepted_at=None, revoked_at=None, mailed_at=None
    ).first()
    if invitation is None or not invitation.email:
        return None
    if not takes_mail_turn(f"to {invitation.email.casefold()}", most=MAILS_AN_HOUR):
        logger.warning("Invitations were mailed too often to one address; %s was not", invitation.public_id)
        return None
    invitation.secret_hash, invitation.mailed_at = hash_of(secret), timezone.now()
    invitation.save(update_fields=["secret_hash", "mailed_at"])
    return invitation


def _checked_email(email: str) -> str:
    email = email.strip()
    if not email:
        return ""
    if not settings.EMAIL_URL:
        raise Invalid(
            "This installation does not send mail. Leave the e-mail empty and send the link yourself.",
            field="email",
        )
    try:
        validate_email(email)
    except ValidationError as error:
        raise Invalid(" ".join(error.messages), field="email") from error
    return email


def hash_of(secret: str) -> str:
    """Hash a link's secret for storing. A plain SHA-256 is safe, because the secret has 256 random bits."""
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


def checked_line(note: str) -> str:
    """Turn a short note into one line. Raises Invalid if it is too long or has a control character."""
    if_long = f"For whom: at most {LONGEST_NOTE} characters, this has {{length}}."
    return checked_note(note, most=LONGEST_NOTE, if_long=if_long)
