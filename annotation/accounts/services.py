"""Links that the operator prints: for creating the first administrator's account, and for setting a new password."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import TYPE_CHECKING

from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from annotation.accounts.events import Kind, note_account
from annotation.core.refusals import Conflict, NotFound
from annotation.models import SetupLink, administrators
from annotation.operator_commands import as_typed
from annotation.projects.services.accept_invitation import new_account
from annotation.projects.services.invite import hash_of

if TYPE_CHECKING:
    from django.contrib.auth.models import User

GOOD_FOR = timedelta(hours=24)
_SECRET_BYTES = 32


@transaction.atomic
def issue_setup_link() -> str | None:
    """Make the secret of a link that creates the first account. The link can be used once within a day.

    Returns None if there is an administrator already. Earlier links become invalid.
    """
    if administrators().exists():
        return None
    SetupLink.objects.all().delete()
    secret = secrets.token_urlsafe(_SECRET_BYTES)
    SetupLink.objects.create(secret_hash=hash_of(secret), expires_at=timezone.now() + GOOD_FOR)
    return secret


def open_setup(secret: str) -> SetupLink:
    """Return the setup link that belongs to a secret.

    Raises NotFound if the secret is unknown or an administrator exists, and Conflict (code `expired`) if the link
    has expired.
    """
    return _usable(SetupLink.objects.filter(secret_hash=hash_of(secret)).first())


@transaction.atomic
def make_first_account(*, secret: str, username: str, password: str, full_name: str = "") -> User:
    """Create the first administrator's account and use up the link.

    Raises the errors of `open_setup` and `new_account`.
    """
    locked = SetupLink.objects.select_for_update().filter(secret_hash=hash_of(secret)).first()
    _usable(locked)
    user = new_account(
        username=username, password=password, full_name=full_name, is_staff=True, is_superuser=True
    )
    SetupLink.objects.all().delete()
    return user


def _usable(link: SetupLink | None) -> SetupLink:
    if link is None or administrators().exists():
        raise NotFound("This setup link is not valid. It works only once, while there is no administrator.")
    if link.expires_at <= timezone.now():
        raise Conflict(
            f"This setup link has expired. Print a new one: {as_typed('setup_link')}",
            code="expired",
        )
    return link


def reset_path(person: User) -> str:
    """Make the path of a link for setting a new password.

    Raises Conflict (code `closed`) for a closed account.
    """
    if not person.is_active:
        raise Conflict(f"The account of {person.get_username()} is closed.", code="closed")
    note_account(kind=Kind.RESET_LINK, person=person)
    parts = {"uidb36": user_pk_to_url_str(person), "key": default_token_generator.make_token(person)}
    return reverse("account_reset_password_from_key", kwargs=parts)
