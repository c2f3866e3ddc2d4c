"""The log of accounts."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from allauth.account import signals as account
from allauth.account.authentication import get_authentication_records
from allauth.mfa import signals as mfa
from allauth.socialaccount import signals as social
from axes.signals import user_locked_out
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed

from annotation.core.shared.clients import Client, browser_of, client_of
from annotation.models import AccountEvent

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest

Kind = AccountEvent.Kind
EVENTS_SHOWN = 20
NOWHERE = Client()
"""The client of the operator's shell and of the program itself."""
SIGNALS = (
    (user_logged_in, Kind.SIGN_IN),
    (user_logged_out, Kind.SIGN_OUT),
    (user_login_failed, Kind.FAILURE),
    (user_locked_out, Kind.LOCK),
    (account.password_changed, Kind.PASSWORD),
    (account.password_reset, Kind.RESET),
    (account.email_changed, Kind.EMAIL),
    (account.email_confirmed, Kind.EMAIL_VERIFIED),
    (mfa.authenticator_added, Kind.FACTOR),
    (mfa.authenticator_removed, Kind.FACTOR_END),
    (mfa.authenticator_reset, Kind.RECOVERY),
    (mfa.authentication_failed, Kind.FAILURE),
    (social.social_account_added, Kind.IDENTITY),
    (social.social_account_removed, Kind.IDENTITY_END),
)
PROOFS = {"socialaccount": "single sign-on", "mfa": "second factor"}

logger = logging.getLogger(__name__)


def note_account(*, kind: Kind, person: User | None, client: Client = NOWHERE, note: str = "") -> None:
    """Record an event of a person's account, and write it to the server's log.

    `note` must contain no secrets.
    """
    event = AccountEvent.objects.create(
        kind=kind,
        person=person,
        address=client.address or None,
        browser=browser_of(client.agent) if client.agent else "",
        note=note,
    )
    logger.log(
        logging.INFO if kind in (Kind.SIGN_IN, Kind.SIGN_OUT) else logging.WARNING,
        "%s: account %s from %s",
        event.get_kind_display(),
        person.get_username() if person else "(of nobody)",
        client.address or "the server itself",
    )


def events_of(person: User) -> QuerySet[AccountEvent]:
    """Select the latest events of the person's account, newest first."""
    return AccountEvent.objects.filter(person=person)[:EVENTS_SHOWN]


def listen() -> None:
    """Connect to the signals of the libraries. Call it once."""
    for signal, kind in SIGNALS:
        signal.connect(partial(_note, kind), weak=False, dispatch_uid=f"account {kind}")


def _note(kind: Kind, request: HttpRequest | None = None, **told: Any) -> None:
    """Attempts during a lock are ignored, because they would fill the log."""
    is_locked = getattr(request, "axes_locked_out", False)
    is_new = getattr(request, "axes_failures_since_start", None) is not None
    is_of_codes = getattr(told.get("authenticator"), "type", "") == "recovery_codes" and kind != Kind.RECOVERY
    if request is None or is_of_codes or (is_locked and not is_new and kind in (Kind.FAILURE, Kind.LOCK)):
        return
    person = _person(told)
    if person is None and kind == Kind.SIGN_OUT:
        return
    proofs = get_authentication_records(request, person) if kind == Kind.SIGN_IN else []
    note = ", ".join(PROOFS[each["method"]] for each in proofs if each["method"] in PROOFS)
    note_account(kind=kind, person=person, client=client_of(request), note=note)


def _person(told: dict[str, Any]) -> User | None:
    about = told.get("email_address") or told.get("sociallogin") or told.get("socialaccount")
    if credentials := told.get("credentials"):
        # Store the account and never the typed name, because people may type a password in its field.
        return User.objects.filter(username__iexact=str(credentials.get("username") or "")).first()
    return told.get("user") or getattr(about, "user", None)
