"""Whom an identity at the operator's OpenID Connect provider is here: an account, linked once, or a new one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from allauth.utils import generate_unique_username
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.accounts.events import NOWHERE, note_account
from annotation.accounts.verified_email import person_with_verified
from annotation.core.refusals import Conflict, NotAllowed, NotFound
from annotation.models import AccountEvent, Invitation

if TYPE_CHECKING:
    from annotation.core.shared.clients import Client

PROVIDER = "sso"
"""How rows name the one provider; which one it is, is part of `Identity.key`."""
INVITED = "invited"

Kind = AccountEvent.Kind


@dataclass(frozen=True, slots=True)
class Identity:
    """Somebody as the provider tells of them. `key` is a hash of the provider and its own key for them.

    `email` is empty unless the provider says itself, for this address, that it is verified.
    """

    key: str
    email: str = ""
    username: str = ""
    first_name: str = ""
    last_name: str = ""


def is_on() -> bool:
    """Whether the operator has named a provider."""
    return bool(settings.OIDC_ISSUER)


def is_connected(person: User) -> bool:
    """Whether the person comes in by the provider."""
    return bool(SocialAccount.objects.filter(user=person, provider=PROVIDER).exists())


@transaction.atomic
def sign_on(*, identity: Identity, client: Client = NOWHERE) -> User:
    """Whose account this is: of an identity seen before, else the one with its verified address, else a new one.

    Both sides must have verified the address: it alone never opens an account. Raises NotAllowed (codes `closed`,
    `no_account`); Conflict (code `connect_first`) where an account has the address, but nobody has proved it there.
    """
    row = SocialAccount.objects.filter(provider=PROVIDER, uid=identity.key).select_related("user").first()
    if row is not None:
        person: User = row.user
        _refuse_closed(person)
        row.save(update_fields=["last_login"])
        return person
    found = person_with_verified(identity.email) if identity.email else None
    if found is None:
        found = _new_account(identity)
    _refuse_closed(found)
    _link(found, identity, client)
    return found


@transaction.atomic
def connect(*, identity: Identity, person: User, client: Client = NOWHERE) -> None:
    """Let the person, who is signed in, come in by this identity. Raises Conflict where it is somebody else's."""
    row = SocialAccount.objects.filter(provider=PROVIDER, uid=identity.key).first()
    if row is None:
        _link(person, identity, client)
    elif row.user_id != person.pk:
        raise Conflict("This identity belongs to another account here.", code="connected_elsewhere")


@transaction.atomic
def disconnect(*, person: User, client: Client = NOWHERE) -> None:
    """End that the person comes in by the provider. Raises NotFound; Conflict for who has no password to come in by."""
    rows = SocialAccount.objects.filter(user=person, provider=PROVIDER)
    if not rows.exists():
        raise NotFound("Your account is not connected.")
    if not person.has_usable_password():
        raise Conflict(
            "Your account has no password. Without single sign-on you could not sign in.", code="no_password"
        )
    rows.delete()
    note_account(kind=Kind.IDENTITY_END, person=person, client=client)


def note_refused(*, why: str, client: Client) -> None:
    """Write down that somebody came from the provider and was not let in."""
    note_account(kind=Kind.REFUSED, person=None, client=client, note=why)


def _link(person: User, identity: Identity, client: Client) -> None:
    try:
        with transaction.atomic():
            SocialAccount.objects.create(user=person, provider=PROVIDER, uid=identity.key)
    except IntegrityError as error:
        raise Conflict(
            "This identity was connected at the same moment. Try again.", code="twice_at_once"
        ) from error
    note_account(kind=Kind.IDENTITY, person=person, client=client)


def _new_account(identity: Identity) -> User:
    email = identity.email
    if not email or not _gets_account(email):
        raise NotAllowed(
            "You have no account here. Ask an administrator, or sign in with your password and connect single sign-on "
            "on your account page.",
            code="no_account",
        )
    if User.objects.filter(email__iexact=email).exists() or EmailAddress.objects.filter(email__iexact=email):
        raise Conflict(
            "An account here has your e-mail address, but it was not verified. Sign in with your password and connect "
            "single sign-on on your account page.",
            code="connect_first",
        )
    name = generate_unique_username([identity.username, email.partition("@")[0], "person"])
    person = User(
        username=name, email=email, first_name=identity.first_name[:150], last_name=identity.last_name[:150]
    )
    person.set_unusable_password()
    try:
        person.clean_fields()
    except ValidationError as error:
        raise NotAllowed("The provider sent a name that no account can have.", code="no_account") from error
    person.save()
    return person


def _gets_account(email: str) -> bool:
    if email.rpartition("@")[2].lower() in settings.OIDC_NEW_ACCOUNTS:
        return True
    invitations = Invitation.objects.filter(
        email__iexact=email, accepted_at=None, revoked_at=None, expires_at__gt=timezone.now()
    )
    return INVITED in settings.OIDC_NEW_ACCOUNTS and invitations.exists()


def _refuse_closed(person: User) -> None:
    if not person.is_active or hasattr(person, "imported"):
        raise NotAllowed("Nobody signs in as this account.", code="closed")
