"""An administrator's account where there is none, by a link that the operator reads off the server's own words."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

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
    """The secret of a link that makes the first account, good for a day and for one use.

    None where there is an administrator. A link that was issued before opens nothing any more.
    """
    if administrators().exists():
        return None
    SetupLink.objects.all().delete()
    secret = secrets.token_urlsafe(_SECRET_BYTES)
    SetupLink.objects.create(secret_hash=hash_of(secret), expires_at=timezone.now() + GOOD_FOR)
    return secret


def open_setup(secret: str) -> SetupLink:
    """The link of that secret, while it may make the first account.

    Raises NotFound where no link has that secret, or an administrator is there already; Conflict (code `expired`)
    once it has run out.
    """
    return _usable(SetupLink.objects.filter(secret_hash=hash_of(secret)).first())


@transaction.atomic
def make_first_account(*, secret: str, username: str, password: str, full_name: str = "") -> User:
    """Make the installation's first account, an administrator's; the link is used up by it.

    Raises as `open_setup`, and Invalid for a name or password that will not do.
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
