"""What people change of their own account, and how they come back in when they have forgotten their password."""

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
"""The task that sends the mail."""
RESETS_AN_HOUR = 3
ASKED_FROM_ONE_PLACE_AN_HOUR = 30
ACCOUNTS_OF_ONE_ADDRESS = 3
"""Several accounts may share an address; more than these get no mail."""
RESET_SUBJECT = "A new password for Coverdict"

logger = logging.getLogger(__name__)


def rename(*, person: User, full_name: str, email: str, old: str, request: HttpRequest) -> User:
    """Change what the person is called and reached by. Raises Invalid.

    Where links for a new password are mailed, another address asks for the password, as `change_password` does: it
    would be a way around it. It counts as theirs once they have followed a link that is mailed there.
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
    """Give the person another password; every session and token of theirs ends.

    Raises Invalid for a wrong old password, whose attempts are counted as at the door, or a new one that will not do.
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
    # Sessions hold a hash of the password and would open nothing any more.
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
    """As `make_token`, for one who shows the person's second factor where they have one. Raises as `confirm`, too."""
    confirm(person=person, code=code, request=request)
    return make_token(person=person, days=days, client=client_of(request))


@transaction.atomic
def make_token(
    *,
    person: User,
    days: int = DAYS,
    client: Client = NOWHERE,
) -> tuple[AuthToken, str]:
    """A token for a program: its row, and the token itself, to be shown once.

    It does what its person may. Raises Invalid; Conflict (code `too_many_tokens`).
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
    """End a token of one's own, named by what it begins with. Raises NotFound."""
    found = tokens_of(person).filter(token_key=key).first()
    if found is None:
        raise NotFound("This token does not exist or has already been revoked.")
    found.delete()
    note_account(kind=AccountEvent.Kind.TOKEN_END, person=person, client=client, note=f"{key}…")


def reset_path(person: User) -> str:
    """The path of a link by which the person gives themselves a new password: for one use, for a few days.

    It ends, too, when the person signs in. Raises Conflict (code `closed`) where the account is closed.
    """
    if not person.is_active:
        raise Conflict(f"The account of {person.get_username()} is closed.", code="closed")
    note_account(kind=AccountEvent.Kind.RESET_LINK, person=person)
    key = urlsafe_base64_encode(str(person.pk).encode())
    return f"/reset/{key}/{default_token_generator.make_token(person)}/"


def person_to_reset(*, key: str, token: str) -> User:
    """Whom the link is for. Raises NotFound where it is used up, too old or not one of ours."""
    return _person_to_reset(User.objects.all(), key, token)


@transaction.atomic
def reset_password(*, key: str, token: str, new: str, again: str, client: Client = NOWHERE) -> User:
    """Give a new password to whom the link is for; it is used up. Raises as `person_to_reset`, and Invalid."""
    # Of two who use one link at once, the second finds the password changed.
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
    """Have a link mailed to the accounts that have this e-mail address, if any; the same to its asker in any case.

    `address` is where the installation is reached, `asker` the network address that asks. More than a few times in an
    hour nothing is sent.
    """
    if not takes_mail_turn(f"from {asker}", most=ASKED_FROM_ONE_PLACE_AN_HOUR):
        logger.warning("Reset links were asked for too often from %s", asker)
    elif not takes_mail_turn(f"to {email.casefold()}", most=RESETS_AN_HOUR):
        logger.warning("Reset links were asked for too often for one address, from %s", asker)
    else:
        hint(MAIL_RESET, kwargs={"email": email, "address": address}, waits="a mailed reset link")


def mail_reset_links(*, email: str, address: str) -> int:
    """Mail each account of that e-mail address a link, as `reset_path` makes it; how many were sent.

    Closed accounts and those without a password of their own get none.
    """
    people = list(islice(PasswordResetForm().get_users(email), ACCOUNTS_OF_ONE_ADDRESS))
    for person in people:
        link = f"{address.rstrip('/')}{reset_path(person)}"
        words = render_to_string("accounts/reset_mail.txt", {"username": person.get_username(), "link": link})
        # To the address on file: one that merely looks alike may be somebody else's.
        send_mail(RESET_SUBJECT, words, None, [person.email])
        logger.warning("A reset link was mailed to %s", person.get_username())
    return len(people)
