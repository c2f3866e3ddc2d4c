"""Sign people in: by a password or single sign-on, and by a second factor if they have or must have one.

A session starts only after both.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth import SESSION_KEY, login, logout
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.crypto import constant_time_compare
from django.utils.http import url_has_allowed_host_and_scheme

if TYPE_CHECKING:
    from typing import Any

    from django.db.models import QuerySet

BACKEND = "django.contrib.auth.backends.ModelBackend"
WAITING = "waiting_for_second_factor"
WAITS_SECONDS = 10 * 60
PASSED = "second_factor_at"
RECENT_SECONDS = 10 * 60
"""The period in which one code counts for further acts."""


def has_second_factor(person: User) -> bool:
    """True if the person must give a code when signing in; False if the operator disabled codes."""
    return settings.SECOND_FACTOR != "off" and codes_of(person).exists()


def must_have_second_factor(person: User) -> bool:
    """True if the operator requires a second factor from the person, even if it is not set up yet."""
    is_staff = person.is_staff or person.is_superuser
    return settings.SECOND_FACTOR == "everybody" or (settings.SECOND_FACTOR == "staff" and is_staff)


def codes_of(person: User) -> QuerySet[Authenticator]:
    """The person's authenticator app. It is returned even if codes are disabled."""
    found: QuerySet[Authenticator] = Authenticator.objects.filter(user=person, type=Authenticator.Type.TOTP)
    return found


def come_in(request: HttpRequest, person: User, *, after: str, by: str = "") -> HttpResponse:
    """Sign the person in and redirect to `after`, or first to the page of the second factor.

    `by` names the method of signing in for the log of accounts, unless it is a password.
    """
    after = our_address(after, request)
    if has_second_factor(person) or must_have_second_factor(person):
        known = person.get_session_auth_hash()
        waiting = {"person": person.pk, "known": known, "at": time.time(), "after": after, "by": by}
        request.session[WAITING] = waiting
        return redirect("second-factor")
    _open_session(request, person, by)
    return redirect(after)


def waiting_person(request: HttpRequest) -> User | None:
    """The person who completed the first part of signing in, in this browser and within the last ten
    minutes.
    """
    waiting: dict[str, Any] = request.session.get(WAITING) or {}
    if waiting.get("at", 0) < time.time() - WAITS_SECONDS:
        return None
    person = User.objects.filter(pk=waiting["person"], is_active=True).first()
    # If the password has changed since, the first part must be repeated.
    is_same = person is not None and constant_time_compare(waiting["known"], person.get_session_auth_hash())
    return person if is_same else None


def come_in_with_code(request: HttpRequest, person: User, *, what: str) -> str:
    """Sign the waiting person in and return the address that they requested.

    `what` names the kind of code.
    """
    waiting: dict[str, Any] = request.session.pop(WAITING)
    _open_session(request, person, ", ".join(filter(None, (waiting["by"], what))))
    pass_second_factor(request, person)
    return str(waiting["after"])


def pass_second_factor(request: HttpRequest, person: User) -> None:
    """Record in the person's session that they gave a code. Requests by token have no session."""
    if request.session.get(SESSION_KEY) == str(person.pk):
        request.session[PASSED] = [person.pk, time.time()]


def passed_lately(request: HttpRequest, person: User) -> bool:
    """True if the person gave a code in this session recently."""
    who, at = request.session.get(PASSED) or (None, 0.0)
    return bool(who == person.pk and at > time.time() - RECENT_SECONDS)


def our_address(address: str, request: HttpRequest) -> str:
    """The address if it belongs to this installation, otherwise that of the projects."""
    is_ours = url_has_allowed_host_and_scheme(
        address, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return address if address and is_ours else "/"


def _open_session(request: HttpRequest, person: User, by: str) -> None:
    # `accounts.lock_out` records the method of the sign-in.
    request.came_in_by = by  # type: ignore[attr-defined]
    login(request, person, backend=BACKEND)


class HeldToSecondFactor:
    """Middleware that ends sessions without a second factor once the operator requires one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if settings.SECOND_FACTOR in ("staff", "everybody"):
            person = request.user
            if (
                isinstance(person, User)
                and must_have_second_factor(person)
                and not _has_passed(request, person)
            ):
                logout(request)
        return self.get_response(request)


def _has_passed(request: HttpRequest, person: User) -> bool:
    return (request.session.get(PASSED) or (None,))[0] == person.pk
