"""How a person comes in at any door of the web: with what they showed first, and with a second factor where they have
or must have one. There is no session of theirs before both.
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
"""For so long a code that was shown counts for what asks for another one."""


def has_second_factor(person: User) -> bool:
    """Whether the person is asked for a code when they sign in. Nobody is where the operator has switched it off."""
    return settings.SECOND_FACTOR != "off" and codes_of(person).exists()


def must_have_second_factor(person: User) -> bool:
    """Whether the operator asks the person for a second factor, set up or not."""
    is_staff = person.is_staff or person.is_superuser
    return settings.SECOND_FACTOR == "everybody" or (settings.SECOND_FACTOR == "staff" and is_staff)


def codes_of(person: User) -> QuerySet[Authenticator]:
    """The person's app of codes, if they have set one up; also where codes are switched off."""
    found: QuerySet[Authenticator] = Authenticator.objects.filter(user=person, type=Authenticator.Type.TOTP)
    return found


def come_in(request: HttpRequest, person: User, *, after: str, by: str = "") -> HttpResponse:
    """Sign the person in and lead them to `after`, or to the page that asks for the second factor first.

    `by` says in the log of accounts what they showed, where it was no password.
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
    """Who has come through the first half of signing in, in this browser and in the last ten minutes."""
    waiting: dict[str, Any] = request.session.get(WAITING) or {}
    if waiting.get("at", 0) < time.time() - WAITS_SECONDS:
        return None
    person = User.objects.filter(pk=waiting["person"], is_active=True).first()
    # Not with a password that was changed meanwhile.
    is_same = person is not None and constant_time_compare(waiting["known"], person.get_session_auth_hash())
    return person if is_same else None


def come_in_with_code(request: HttpRequest, person: User, *, what: str) -> str:
    """Sign in who was waiting; where they wanted to go. `what` says which code it was."""
    waiting: dict[str, Any] = request.session.pop(WAITING)
    _open_session(request, person, ", ".join(filter(None, (waiting["by"], what))))
    pass_second_factor(request, person)
    return str(waiting["after"])


def pass_second_factor(request: HttpRequest, person: User) -> None:
    """Remember in the person's session that they have shown a code; a program with a token has none."""
    if request.session.get(SESSION_KEY) == str(person.pk):
        request.session[PASSED] = [person.pk, time.time()]


def passed_lately(request: HttpRequest, person: User) -> bool:
    """Whether the person showed a code in this session a short while ago."""
    who, at = request.session.get(PASSED) or (None, 0.0)
    return bool(who == person.pk and at > time.time() - RECENT_SECONDS)


def our_address(address: str, request: HttpRequest) -> str:
    """The address, where it leads to this installation, else that of the projects."""
    is_ours = url_has_allowed_host_and_scheme(
        address, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return address if address and is_ours else "/"


def _open_session(request: HttpRequest, person: User, by: str) -> None:
    # For who writes down the sign-in (`accounts.lock_out`).
    request.came_in_by = by  # type: ignore[attr-defined]
    login(request, person, backend=BACKEND)


class HeldToSecondFactor:
    """Ends sessions from before the operator asked for a second factor; their people sign in again, with one."""

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
