"""Change one's own account, manage tokens, and reset a forgotten password."""

from __future__ import annotations

import logging
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth.forms import PasswordResetForm
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.tokens import default_token_generator
from django.core.exceptions import ValidationError
from django.core.mail import send_mail
from django.db import transaction
from django.template.loader import render_to_string
from django.utils.encoding import force_str
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode
from knox.models import AuthToken

from annotation.accounts.events import NOWHERE, note_account
from annotation.accounts.lock_out import check_password
from annotation.accounts.second_factor import confirm
from annotation.accounts.verified_email import ask_for_verification, forget_verified
from annotation.core.jobs import hint
from annotation.core.refusals import Conflict, Invalid, NotFound
from annotation.core.shared.clients import Client, client_of
from annotation.core.shared.limits import takes_mail_turn
from annotation.models import AccountEvent, AccountSession
from annotation.projects.services.accept_invitation import set_name

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest

DAYS, MOST_DAYS = 90, 365
MOST_TOKENS = 20
MAIL_RESET = "annotation.mail_reset"
"""The name of the task that mails reset links."""
RESETS_AN_HOUR = 3
ASKED_FROM_ONE_PLACE_AN_HOUR = 30
ACCOUNTS_OF_ONE_ADDRESS = 3
"""If more accounts share an address, the others get no mail."""
RESET_SUBJECT = "A new password for Coverdict"

logger = logging.getLogger(__name__)


def rename(*, person: User, full_name: str, email: str, old: str, request: HttpRequest) -> User:
    """Change the person's name and e-mail address. Raises Invalid.

    If reset links are mailed, a new address requires the password, since it would allow resetting it. It counts as
    verified after they follow a mailed link.
    """
    if settings.EMAIL_URL and email.strip() != person.email and person.has_usable_password():
        check_password(person, old, request, field="known")
    before = person.email
    with transaction.atomic():
        person.email = email.strip()
        set_name(person, full_name)
        person.save(update_fields=["first_name", "last_name", "email"])
        if person.email != before:
            forget_verified(person=person, before=before, client=client_of(request))
    if person.email != before:
        ask_for_verification(person=person, address=request.build_absolute_uri("/"))
    return person


def change_password(*, person: User, old: str, new: str, again: str, request: HttpRequest) -> None:
    """Change the password; all sessions and tokens of the person end.

    Raises Invalid for a wrong old password, counted like an attempt to sign in, or an unusable new one.
    """
    check_password(person, old, request, field="old")
    _set_password(person, new, again, kind=AccountEvent.Kind.PASSWORD, client=client_of(request))


@transaction.atomic
def _set_password(person: User, new: str, again: str, *, kind: AccountEvent.Kind, client: Client) -> None:
    try:
        validate_password(new, person)
    except ValidationError as error:
        raise Invalid(" ".join(error.messages), field="password") from error
    if new != again:
        raise Invalid("The passwords do not match.", field="again")
    person.set_password(new)
    person.save(update_fields=["password"])
    # Sessions contain a hash of the password and are invalid now.
    AccountSession.objects.filter(person=person).delete()
    AuthToken.objects.filter(user=person).delete()
    note_account(kind=kind, person=person, client=client)


def ask_for_token(
    *,
    person: User,
    code: str = "",
    days: int = DAYS,
    request: HttpRequest,
) -> tuple[AuthToken, str]:
    """As `make_token`, after checking the second factor. Raises as `confirm`, too."""
    confirm(person=person, code=code, request=request)
    return make_token(person=person, days=days, client=client_of(request))


@transaction.atomic
def make_token(
    *,
    person: User,
    days: int = DAYS,
    client: Client = NOWHERE,
) -> tuple[AuthToken, str]:
    """Create a token for a program; returns its row and the token, which is shown once.

    It has its person's permissions. Raises Invalid; Conflict (code `too_many_tokens`).
    """
    if AuthToken.objects.filter(user=person).count() >= MOST_TOKENS:
        raise Conflict(
            f"You have {MOST_TOKENS} tokens. Revoke one that you no longer use.", code="too_many_tokens"
        )
    if not 1 <= days <= MOST_DAYS:
        raise Invalid(f"A token is valid for 1 to {MOST_DAYS} days.", field="days")
    row, token = AuthToken.objects.create(user=person, expiry=timedelta(days=days))
    note_account(kind=AccountEvent.Kind.TOKEN, person=person, client=client, note=f"{row.token_key}…")
    return row, str(token)


def tokens_of(person: User) -> QuerySet[AuthToken]:
    """The person's tokens, newest first."""
    found: QuerySet[AuthToken] = AuthToken.objects.filter(user=person)
    return found.order_by("-created", "digest")


@transaction.atomic
def revoke_token(*, person: User, key: str, client: Client = NOWHERE) -> None:
    """Revoke one of the person's tokens, named by its first characters. Raises NotFound."""
    found = tokens_of(person).filter(token_key=key).first()
    if found is None:
        raise NotFound("This token does not exist or has already been revoked.")
    found.delete()
    note_account(kind=AccountEvent.Kind.TOKEN_END, person=person, client=client, note=f"{key}…")


def reset_path(person: User) -> str:
    """The path of a link for setting a new password, for one use within a few days.

    It also ends when the person signs in. Raises Conflict (code `closed`) for a closed account.
    """
    if not person.is_active:
        raise Conflict(f"The account of {person.get_username()} is closed.", code="closed")
    note_account(kind=AccountEvent.Kind.RESET_LINK, person=person)
    key = urlsafe_base64_encode(str(person.pk).encode())
    return f"/reset/{key}/{default_token_generator.make_token(person)}/"


def person_to_reset(*, key: str, token: str) -> User:
    """The person of a reset link. Raises NotFound for a used, expired or unknown link."""
    return _person_to_reset(User.objects.all(), key, token)


@transaction.atomic
def reset_password(*, key: str, token: str, new: str, again: str, client: Client = NOWHERE) -> User:
    """Set a new password by a reset link, which is used up. Raises as `person_to_reset`, and Invalid."""
    # Of two concurrent uses of one link, the second finds the password changed.
    person = _person_to_reset(User.objects.select_for_update(), key, token)
    _set_password(person, new, again, kind=AccountEvent.Kind.RESET, client=client)
    return person


def _person_to_reset(people: QuerySet[User], key: str, token: str) -> User:
    try:
        person = people.get(pk=int(force_str(urlsafe_base64_decode(key))), is_active=True)
    except (ValueError, OverflowError, User.DoesNotExist):
        person = None
    if person is None or not default_token_generator.check_token(person, token):
        raise NotFound("This link has been used or has expired. Request a new one.")
    return person


def ask_for_reset(*, email: str, address: str, asker: str) -> None:
    """Have reset links mailed to the accounts with this e-mail address; the caller learns nothing about them.

    `address` is the installation's base URL, `asker` the caller's network. Repeated requests within an hour send
    nothing.
    """
    if not takes_mail_turn(f"from {asker}", most=ASKED_FROM_ONE_PLACE_AN_HOUR):
        logger.warning("Reset links were asked for too often from %s", asker)
    elif not takes_mail_turn(f"to {email.casefold()}", most=RESETS_AN_HOUR):
        logger.warning("Reset links were asked for too often for one address, from %s", asker)
    else:
        hint(MAIL_RESET, kwargs={"email": email, "address": address}, waits="a mailed reset link")


def mail_reset_links(*, email: str, address: str) -> int:
    """Mail a reset link to each account with that address; returns the number of mails.

    Closed accounts and those without a password get none.
    """
    people = list(islice(PasswordResetForm().get_users(email), ACCOUNTS_OF_ONE_ADDRESS))
    for person in people:
        link = f"{address.rstrip('/')}{reset_path(person)}"
        words = render_to_string("accounts/reset_mail.txt", {"username": person.get_username(), "link": link})
        # To the stored address, because a similar-looking one may belong to somebody else.
        send_mail(RESET_SUBJECT, words, None, [person.email])
        logger.warning("A reset link was mailed to %s", person.get_username())
    return len(people)
