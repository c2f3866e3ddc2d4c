"""What people change of their own account, and how they come back in when they have forgotten their password."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.tokens import default_token_generator
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.encoding import force_str
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode
from knox.models import AuthToken

from annotation.accounts.lock_out import check_password
from annotation.accounts.second_factor import confirm
from annotation.accounts.verified_email import ask_for_verification, forget_verified
from annotation.core.accounts.clients import Client, client_of
from annotation.core.accounts.events import NOWHERE, note_account
from annotation.core.accounts.tokens import DAYS, end_token, issue_token
from annotation.core.refusals import Conflict, Invalid, NotFound
from annotation.models import AccountEvent, AccountSession
from annotation.projects.services.accept_invitation import set_name

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest

MOST_TOKENS = 20


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
    return issue_token(person=person, days=days, client=client)


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
    end_token(found, client=client)


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
