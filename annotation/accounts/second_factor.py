"""Requiring a second factor, if the operator demands one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from allauth.mfa.models import Authenticator
from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.db import transaction
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.cache import patch_cache_control

from annotation.accounts.events import Kind, note_account
from annotation.core.refusals import NotAllowed, NotFound
from annotation.web.htmx import wants_fragment
from annotation.web.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse

OPEN_PAGES = ("mfa_index", "account_reauthenticate", "account_logout")
"""The pages that stay open to people who must set up a second factor."""


def has_second_factor(person: User) -> bool:
    """Return True if the person has an authenticator app for codes."""
    return bool(is_mfa_enabled(person, [Authenticator.Type.TOTP]))


def must_have_second_factor(person: User) -> bool:
    """Return True if the operator requires a second factor of the person, set up or not."""
    is_staff = person.is_staff or person.is_superuser
    return settings.SECOND_FACTOR == "everybody" or (settings.SECOND_FACTOR == "staff" and is_staff)


def refuse_without(person: User) -> None:
    """Raise NotAllowed (code `second_factor_needed`) if a second factor is required but not set up."""
    if must_have_second_factor(person) and not has_second_factor(person):
        raise NotAllowed("Set up a second factor on your account page first.", code="second_factor_needed")


@transaction.atomic
def reset_second_factor(person: User) -> None:
    """Remove a second factor. Raises NotFound if there is none."""
    if not has_second_factor(person):
        raise NotFound(f"{person.get_username()} has no second factor.")
    Authenticator.objects.filter(user=person).delete()
    note_account(kind=Kind.FACTOR_END, person=person)


class HeldToSecondFactor:
    """Middleware: people who must set up a second factor can open only `OPEN_PAGES` and the pages below them.

    It also tells browsers not to store account pages.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self._held(request) or self.get_response(request)
        if request.path.startswith("/account"):
            patch_cache_control(response, no_store=True, private=True)
        return response

    def _held(self, request: HttpRequest) -> HttpResponse | None:
        if settings.SECOND_FACTOR == "optional" or not isinstance(request.user, User):
            return None
        if any(request.path.startswith(reverse(name)) for name in OPEN_PAGES):
            return None
        try:
            refuse_without(request.user)
        except NotAllowed as refusal:
            if request.method == "GET" and not wants_fragment(request):
                messages.info(
                    request, "You need a second factor here. Set up an authenticator app to continue."
                )
                return redirect("mfa_activate_totp")
            return refused(request, refusal)
        return None
