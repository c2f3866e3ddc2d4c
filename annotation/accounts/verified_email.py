"""Verify e-mail addresses by mailed links, which the person follows while signed in."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import TYPE_CHECKING

from allauth.account.models import EmailAddress
from django.conf import settings
from django.contrib.auth.models import User
from django.core import signing
from django.core.mail import send_mail
from django.db import IntegrityError, transaction
from django.template.loader import render_to_string

from annotation.accounts.events import NOWHERE, note_account
from annotation.core.jobs import hint
from annotation.core.refusals import Conflict, NotFound
from annotation.core.shared.limits import takes_mail_turn
from annotation.models import AccountEvent

if TYPE_CHECKING:
    from annotation.core.shared.clients import Client

MAIL_VERIFICATION = "annotation.mail_verification"
"""The name of the task that mails the link."""
MAILS_AN_HOUR = 3
GOOD_FOR = timedelta(days=3)
SALT = "annotation.verified_email"
SUBJECT = "Your e-mail address on Coverdict"

logger = logging.getLogger(__name__)


def has_verified_email(person: User) -> bool:
    """True if the account's present address is verified."""
    return (
        bool(person.email)
        and EmailAddress.objects.filter(user=person, email__iexact=person.email, verified=True).exists()
    )


def person_with_verified(email: str) -> User | None:
    """The person with this verified address, or None."""
    found = EmailAddress.objects.filter(email__iexact=email, user__email__iexact=email, verified=True)
    row = found.select_related("user").first()
    return row.user if row else None


def forget_verified(*, person: User, before: str, client: Client) -> None:
    """Record that the account has a new, unverified address. Call it in a transaction."""
    EmailAddress.objects.filter(user=person).delete()
    note = f"{before or 'none'} → {person.email or 'none'}"
    note_account(kind=AccountEvent.Kind.EMAIL, person=person, client=client, note=note)


def ask_for_verification(*, person: User, address: str) -> None:
    """Have a link mailed to the person's address if the installation sends mail, a few times an hour.

    `address` is the installation's base URL.
    """
    if not settings.EMAIL_URL or not person.email:
        return
    if not takes_mail_turn(f"verify {person.email.casefold()}", most=MAILS_AN_HOUR):
        logger.warning("The address of %s was to be verified too often", person.get_username())
        return
    values = {"person_id": person.pk, "email": person.email, "address": address}
    hint(MAIL_VERIFICATION, kwargs=values, waits="a mailed link for an e-mail address")


def mail_verification(*, person_id: int, email: str, address: str) -> bool:
    """Mail the link, unless the address has changed or the account is closed."""
    person = User.objects.filter(pk=person_id, email=email, is_active=True).first()
    if person is None:
        return False
    link = f"{address.rstrip('/')}/account/email/{key_of(person)}/"
    words = render_to_string("accounts/verify_mail.txt", {"username": person.get_username(), "link": link})
    send_mail(SUBJECT, words, None, [email])
    return True


def key_of(person: User) -> str:
    """A signed key that proves access to the person's mail, valid for three days."""
    return signing.dumps([person.pk, person.email], salt=SALT)


def check_key(*, person: User, key: str) -> None:
    """Raise NotFound if the link is not for this person and their present address, or has expired.

    It works only for this person, signed in: otherwise somebody could enter a stranger's address and wait for a
    click.
    """
    try:
        signed = signing.loads(key, salt=SALT, max_age=GOOD_FOR)
    except signing.BadSignature:
        signed = None
    if signed != [person.pk, person.email]:
        raise NotFound(
            "This link opens nothing: it is too old, or for another address or account. Ask for another one on your "
            "account page."
        )


@transaction.atomic
def verify_email(*, person: User, key: str, client: Client = NOWHERE) -> None:
    """Mark the address as verified. Raises as `check_key`; Conflict if another account has verified it."""
    check_key(person=person, key=key)
    try:
        with transaction.atomic():
            EmailAddress.objects.filter(user=person).delete()
            EmailAddress.objects.create(user=person, email=person.email.lower(), verified=True, primary=True)
    except IntegrityError as error:
        raise Conflict(
            "Another account has this address, verified. Give one of the two another address.",
            code="email_taken",
        ) from error
    note_account(kind=AccountEvent.Kind.EMAIL_VERIFIED, person=person, client=client, note=person.email)
