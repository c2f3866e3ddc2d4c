"""Second factors: codes of an authenticator app, and recovery codes on paper.

Codes follow RFC 6238, by django-allauth. Each works once for all processes, because the row stores the last one.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING

from allauth.core.internal.cryptokit import compare_user_code, normalize_user_code
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import (
    TOTP,
    format_hotp_value,
    generate_totp_secret,
    hotp_value,
    yield_hotp_counters_from_time,
)
from allauth.mfa.utils import decrypt
from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.crypto import salted_hmac

from annotation.accounts.events import NOWHERE, note_account
from annotation.accounts.lock_out import check_password, note_wrong_code, refuse_if_waiting
from annotation.accounts.own_sessions import end_other_sessions
from annotation.core.refusals import Conflict, Invalid, NotAllowed, NotFound
from annotation.core.shared.clients import client_of
from annotation.models import AccountEvent
from annotation.web.come_in import (
    codes_of,
    has_second_factor,
    must_have_second_factor,
    pass_second_factor,
    passed_lately,
)

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.http import HttpRequest

    from annotation.core.shared.clients import Client

APP, PAPER = "code", "recovery code"
SHORTEST_SECRET_BYTES = 16
"""RFC 4226 requires at least 128 bits."""

Kind = AccountEvent.Kind


class SecretsAtRest(DefaultMFAAdapter):  # type: ignore[misc]  # allauth has no types
    """Encrypts the secrets of second factors, so that the database alone does not reveal them."""

    def encrypt(self, text: str) -> str:
        return _lock().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return _lock().decrypt(encrypted_text).decode()


def _lock() -> Fernet:
    key = salted_hmac("annotation.second_factor", "", algorithm="sha256").digest()
    return Fernet(base64.urlsafe_b64encode(key))


@dataclass(frozen=True, slots=True)
class Proposal:
    """A secret for an authenticator app, with the address for a QR code."""

    secret: str
    address: str

    @property
    def picture(self) -> str:
        """The QR code as a data URL."""
        image = base64.b64encode(SecretsAtRest().build_totp_svg(self.address).encode()).decode()
        return f"data:image/svg+xml;base64,{image}"


def propose(person: User, secret: str = "") -> Proposal:
    """A secret for the person's app: a new one, or the one already shown. Nothing is saved."""
    secret = secret or generate_totp_secret()
    return Proposal(secret, SecretsAtRest().build_totp_url(person, secret))


def recovery_codes_left(person: User) -> int:
    """The number of the person's unused recovery codes."""
    row = Authenticator.objects.filter(user=person, type=Authenticator.Type.RECOVERY_CODES).first()
    try:
        return len(RecoveryCodes(row).get_unused_codes()) if row else 0
    except InvalidToken:
        return 0


def set_up_own(*, person: User, password: str, secret: str, code: str, request: HttpRequest) -> list[str]:
    """As `set_up` for a signed-in person. Raises Invalid (field `known`) if their password is another one."""
    if person.has_usable_password():
        check_password(person, password, request, field="known")
    return set_up(person=person, secret=secret, code=code, request=request)


def set_up(*, person: User, secret: str, code: str, request: HttpRequest) -> list[str]:
    """Enable codes for the person, end their other sessions, and return recovery codes to be shown once.

    The person must have just proved their identity. Raises Invalid (`field` "code") for a code of another secret;
    Conflict (code `has_second_factor`); NotAllowed if the operator disabled second factors.
    """
    if settings.SECOND_FACTOR == "off":
        raise NotAllowed("Second factors are switched off on this installation.", code="no_second_factor")
    counter = _counter_of(secret, code)
    if counter is None:
        raise Invalid("That code does not fit this secret. Check the clock of your phone.", field="code")
    try:
        with transaction.atomic():
            row = TOTP.activate(person, secret).instance
            row.data["used"] = counter
            row.save(update_fields=["data"])
            Authenticator.objects.filter(user=person, type=Authenticator.Type.RECOVERY_CODES).delete()
            codes: list[str] = RecoveryCodes.activate(person).generate_codes()
            note_account(kind=Kind.FACTOR, person=person, client=client_of(request))
            end_other_sessions(person=person, current=request.session.session_key, client=client_of(request))
    except IntegrityError as error:
        raise Conflict("You have a second factor already.", code="has_second_factor") from error
    pass_second_factor(request, person)
    return codes


def show_code(*, person: User, code: str, request: HttpRequest) -> str:
    """Check a code of the person's app or a recovery code, and return its kind.

    Raises Invalid (`field` "code") for a wrong one, which counts like a wrong password; TooMany (code
    `locked_out`).
    """
    refuse_if_waiting(request, person)
    what = _taken(person, code)
    if what is None:
        note_wrong_code(request, person)
        raise Invalid(
            "That code is wrong, or it was used before. Wait for the next code of your app.",
            field="code",
            code="wrong_code",
        )
    return what


def confirm(*, person: User, code: str, request: HttpRequest) -> None:
    """Require the person's second factor: this code, or one given in the last ten minutes.

    People without a second factor need no code. Raises as `show_code`; Invalid (code `code_needed`) without a code;
    NotAllowed (code `second_factor_needed`) if a required factor is not set up.
    """
    if not has_second_factor(person):
        if must_have_second_factor(person):
            raise NotAllowed(
                "Set up a second factor on your account page first.", code="second_factor_needed"
            )
        return
    if not code and passed_lately(request, person):
        return
    if not code:
        raise Invalid("A code of your second factor is needed.", field="code", code="code_needed")
    show_code(person=person, code=code, request=request)


def new_recovery_codes(*, person: User, code: str, request: HttpRequest) -> list[str]:
    """Replace all recovery codes and return the new ones, to be shown once. Raises as `confirm`; NotFound."""
    _refuse_without(person)
    confirm(person=person, code=code, request=request)
    with transaction.atomic():
        Authenticator.objects.filter(user=person, type=Authenticator.Type.RECOVERY_CODES).delete()
        codes: list[str] = RecoveryCodes.activate(person).generate_codes()
        note_account(kind=Kind.RECOVERY, person=person, client=client_of(request))
    return codes


def remove(*, person: User, code: str, request: HttpRequest) -> None:
    """Remove the second factor. Raises as `confirm`; NotFound; NotAllowed if the operator requires one."""
    _refuse_without(person)
    if must_have_second_factor(person):
        raise NotAllowed("This installation requires a second factor from you.", code="second_factor_needed")
    confirm(person=person, code=code, request=request)
    _end(person, client_of(request))


def reset_second_factor(person: User) -> None:
    """Remove a lost second factor, so that the person can set up another one.

    Raises NotFound if there is none.
    """
    if not codes_of(person).exists():
        raise NotFound(f"{person.get_username()} has no second factor.")
    _end(person, NOWHERE)


@transaction.atomic
def _end(person: User, client: Client) -> None:
    Authenticator.objects.filter(user=person).delete()
    note_account(kind=Kind.FACTOR_END, person=person, client=client)


def _refuse_without(person: User) -> None:
    if not has_second_factor(person):
        raise NotFound("You have no second factor.")


def _taken(person: User, code: str) -> str | None:
    try:
        return (
            APP if _takes_code_of_app(person, code) else PAPER if _takes_recovery_code(person, code) else None
        )
    except InvalidToken:
        # Encrypted with another SECRET_KEY: an administrator must reset it.
        return None


@transaction.atomic
def _takes_code_of_app(person: User, code: str) -> bool:
    row = codes_of(person).select_for_update().first()
    counter = _counter_of(decrypt(row.data["secret"]), code, after=row.data["used"]) if row else None
    if row is None or counter is None:
        return False
    row.data["used"] = counter
    row.save(update_fields=["data"])
    row.record_usage()
    return True


def _takes_recovery_code(person: User, code: str) -> bool:
    row = Authenticator.objects.filter(user=person, type=Authenticator.Type.RECOVERY_CODES).first()
    return row is not None and RecoveryCodes(row).validate_code(code)


def _counter_of(secret: str, code: str, *, after: int = 0) -> int | None:
    """The half minute of a code, near now and after `after`; None for a wrong code."""
    try:
        key = base64.b32decode(secret, casefold=True)
    except ValueError:
        return None
    if len(key) < SHORTEST_SECRET_BYTES or not normalize_user_code(code):
        return None
    for counter in yield_hotp_counters_from_time():
        if counter > after and compare_user_code(
            actual=code, expected=format_hotp_value(hotp_value(secret, counter))
        ):
            return int(counter)
    return None
