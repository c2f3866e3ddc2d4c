"""Signing in people who have proved their identity without a password, for example by a link with a secret."""

from __future__ import annotations

from typing import TYPE_CHECKING

from allauth.account.utils import perform_login

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.http import HttpRequest, HttpResponse


def sign_in(request: HttpRequest, person: User, *, after: str) -> HttpResponse:
    """Sign the person in, after the second factor if there is one, and redirect to `after`."""
    response: HttpResponse = perform_login(request, person, redirect_url=after)
    return response
