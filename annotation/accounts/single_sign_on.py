"""Map an identity of the OpenID Connect provider to an account."""

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
"""The name of the provider in rows; `Identity.key` contains which one it is."""
INVITED = "invited"

Kind = AccountEvent.Kind


@dataclass(frozen=True, slots=True)
class Identity:
    """A person as described by the provider. `key` is a hash of the provider and its id for them.

    `email` is "" unless the provider says that this address is verified.
    """

    key: str
    email: str = ""
    username: str = ""
    first_name: str = ""
    last_name: str = ""


def is_on() -> bool:
    """True if the operator configured a provider."""
    return bool(settings.OIDC_ISSUER)


def is_connected(person: User) -> bool:
    """True if the person can sign in by the provider."""
    return bool(SocialAccount.objects.filter(user=person, provider=PROVIDER).exists())


@transaction.atomic
def sign_on(*, identity: Identity, client: Client = NOWHERE) -> User:
    """Return the account of an identity: the linked one, else the one with its verified address, else a new one.

    Both sides must have verified the address. Raises NotAllowed (codes `closed`, `no_account`); Conflict (code
    `connect_first`) if an account has the address unverified.
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
    """Link an identity to a signed-in person. Raises Conflict if it belongs to another account."""
    row = SocialAccount.objects.filter(provider=PROVIDER, uid=identity.key).first()
    if row is None:
        _link(person, identity, client)
    elif row.user_id != person.pk:
        raise Conflict("This identity belongs to another account here.", code="connected_elsewhere")


@transaction.atomic
def disconnect(*, person: User, client: Client = NOWHERE) -> None:
    """Unlink the person from the provider. Raises NotFound; Conflict if they have no password to sign in with."""
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
    """Record that a person from the provider was refused."""
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
