"""Delays after wrong passwords and codes, and the record of sign-ins; called by django-axes.

A person's own browser, and networks they signed in from, are known: they wait only after wrong passwords from
there, so that strangers cannot lock anybody out. Other clients also wait after attempts of other unknown clients at
the account, and of their network at any account.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from axes.handlers.base import AxesHandler
from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.db.models import Count, Max, Q
from django.utils import timezone

from annotation.accounts.events import name_key, note_account
from annotation.core.refusals import Invalid, TooMany
from annotation.core.shared.clients import DEVICE_COOKIE, Client, client_of, device_of
from annotation.models import AccountEvent
from annotation.web.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse

FAILURES_HERE = 5
FAILURES_OF_ACCOUNT = 20
FAILURES_OF_NETWORK = 50
"""Wrong passwords without a delay per day: at one account from one place, at it from all unknown clients, and at
all accounts from one network. Each further one doubles the delay.
"""
COUNTED_FOR = timedelta(days=1)
FIRST_WAIT = timedelta(minutes=1)
LONGEST_WAIT = timedelta(hours=1)
KNOWN_FOR = timedelta(days=90)
DEVICE_SECONDS = 400 * 24 * 60 * 60
"""The longest lifetime of a cookie in browsers."""

Kind = AccountEvent.Kind
CAME_IN = (Kind.SIGN_IN, Kind.TOKEN)


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt at an account's password. `knows_device` is narrower than `is_known`."""

    typed: str
    person: User | None
    client: Client
    knows_device: bool
    is_known: bool
    now: datetime

    @classmethod
    def of(cls, request: HttpRequest, credentials: Mapping[str, Any] | None) -> Attempt:
        typed, client = str((credentials or {}).get("username") or ""), client_of(request)
        person = User.objects.filter(username__iexact=typed).order_by("pk").first() if typed else None
        now = timezone.now()
        came_in = AccountEvent.objects.filter(person=person, kind__in=CAME_IN, at__gte=now - KNOWN_FOR)
        knows_device = bool(person and client.device and came_in.filter(device=client.device).exists())
        is_known = knows_device or bool(
            person and client.network and came_in.filter(network=client.network).exists()
        )
        return cls(typed, person, client, knows_device, is_known, now)

    def ends(self) -> datetime | None:
        """The time at which the next attempt is allowed; None if it is allowed now."""
        recent = AccountEvent.objects.filter(at__gte=self.now - COUNTED_FOR)
        failed = recent.filter(kind=Kind.FAILURE)
        ends = [_wait_ends(self._here(recent), FAILURES_HERE)]
        if not self.is_known:
            strange = failed.filter(is_known=False)
            ends += [
                _wait_ends(strange.filter(name_key=name_key(self.typed)), FAILURES_OF_ACCOUNT),
                _wait_ends(strange.filter(network=self.client.network), FAILURES_OF_NETWORK),
            ]
        return max((end for end in ends if end and end > self.now), default=None)

    def _here(self, recent: QuerySet[AccountEvent]) -> QuerySet[AccountEvent]:
        """Failures at the account from this place since its last sign-in there."""
        # For a known browser, failures of other clients in its network do not count.
        place = Q(device=self.client.device) if self.knows_device else Q(network=self.client.network)
        here = recent.filter(place, name_key=name_key(self.typed))
        last = here.filter(kind__in=CAME_IN).aggregate(last=Max("pk"))["last"] or 0
        return here.filter(kind=Kind.FAILURE, pk__gt=last)


def _wait_ends(failures: QuerySet[AccountEvent], free: int) -> datetime | None:
    counted = failures.order_by().aggregate(count=Count("pk"), last=Max("at"))
    over = int(counted["count"]) - free
    if over < 0:
        return None
    last: datetime = counted["last"]
    # Ten doublings of a minute exceed the longest wait.
    doubled: int = 2 ** min(over, 10)
    return last + min(LONGEST_WAIT, FIRST_WAIT * doubled)


class LockOut(AxesHandler):  # type: ignore[misc]  # axes has no types
    """The handler that django-axes calls before a password is checked, and after sign-in, failure and sign-out."""

    def is_locked(self, request: HttpRequest, credentials: Mapping[str, Any] | None = None) -> bool:
        ends = Attempt.of(request, credentials).ends()
        _mark(request, ends)
        return ends is not None

    def user_login_failed(
        self,
        sender: object,
        credentials: Mapping[str, Any],
        request: HttpRequest | None = None,
        **kwargs: Any,
    ) -> None:
        # Attempts during a delay are not checked and do not extend it.
        if request is not None and not getattr(request, "axes_locked_out", False):
            _note_failure(request, credentials)

    def user_logged_in(self, sender: object, request: HttpRequest, user: User, **kwargs: Any) -> None:
        cookie = request.COOKIES.get(DEVICE_COOKIE) or secrets.token_urlsafe(16)
        request.device_cookie = cookie  # type: ignore[attr-defined]
        client = replace(client_of(request), device=device_of(cookie))
        note_account(kind=Kind.SIGN_IN, person=user, client=client, note=getattr(request, "came_in_by", ""))
        # For the session's row, which is rewritten whenever its data change.
        began = {"address": client.address, "agent": client.agent, "at": timezone.now().isoformat()}
        request.session["client"] = began

    def user_logged_out(self, sender: object, request: HttpRequest, user: User | None, **kwargs: Any) -> None:
        if user is not None:
            note_account(kind=Kind.SIGN_OUT, person=user, client=client_of(request))


def _note_failure(request: HttpRequest, credentials: Mapping[str, Any] | None, what: str = "") -> None:
    attempt = Attempt.of(request, credentials)
    note = partial(
        note_account,
        person=attempt.person,
        typed=attempt.typed,
        client=attempt.client,
        is_known=attempt.is_known,
    )
    note(kind=Kind.FAILURE, note=what)
    ends = replace(attempt, now=timezone.now()).ends()
    if ends is not None:
        _mark(request, ends)
        note(kind=Kind.LOCK, note=f"{_wait_of(ends):.0f} s")


def refuse_if_waiting(request: HttpRequest, person: User) -> None:
    """Raise TooMany (code `locked_out`) if codes of the person's second factor may not be checked now."""
    _mark(request, Attempt.of(request, {"username": person.get_username()}).ends())
    refuse_if_locked(request)


def note_wrong_code(request: HttpRequest, person: User) -> None:
    """Count a wrong code of the second factor like a wrong password. Raises as `refuse_if_waiting`."""
    _note_failure(request, {"username": person.get_username()}, "code of the second factor")
    refuse_if_locked(request)


def _mark(request: HttpRequest, ends: datetime | None) -> None:
    request.axes_locked_out = ends is not None  # type: ignore[attr-defined]
    request.locked_until = ends  # type: ignore[attr-defined]


def _wait_of(ends: datetime) -> float:
    return max(1.0, (ends - timezone.now()).total_seconds())


def check_password(person: User, password: str, request: HttpRequest, *, field: str) -> None:
    """Raise Invalid for a wrong password, counted like an attempt to sign in; TooMany."""
    known = authenticate(request, username=person.get_username(), password=password)
    refuse_if_locked(request)
    if known is None:
        raise Invalid("That is not your password.", field=field)


def refuse_if_locked(request: HttpRequest) -> None:
    """Raise TooMany (code `locked_out`) if the password was not checked, or was the last allowed attempt."""
    if getattr(request, "axes_locked_out", False):
        raise _locked_out(request)


def _locked_out(request: HttpRequest) -> TooMany:
    ends: datetime | None = getattr(request, "locked_until", None)
    wait = _wait_of(ends) if ends else FIRST_WAIT.total_seconds()
    minutes = -(-round(wait) // 60)
    pause = "a minute" if minutes <= 1 else f"{minutes} minutes"
    return TooMany(
        f"Too many wrong passwords or codes. Try again in {pause}.", code="locked_out", seconds=wait
    )


def locked_page(request: HttpRequest, response: HttpResponse, credentials: object) -> HttpResponse:
    """The response of django-axes during a delay."""
    return refused(request, _locked_out(request))


class RememberedDevice:
    """Middleware that sets the cookie by which a browser is known at the next sign-in."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        cookie: str | None = getattr(request, "device_cookie", None)
        if cookie is not None:
            response.set_cookie(
                DEVICE_COOKIE,
                cookie,
                max_age=DEVICE_SECONDS,
                secure=settings.SESSION_COOKIE_SECURE,
                httponly=True,
                samesite="Lax",
            )
        return response
