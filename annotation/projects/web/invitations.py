"""Accepting an invitation with an existing or a new account.

Attempts to create an account are counted per invitation, because a taken name reveals that an account exists.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.contrib import messages
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import password_validators_help_texts
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.core.refusals import Conflict, Invalid, NotAllowed, Refusal
from annotation.core.shared.limits import count
from annotation.models import Invitation, Membership, Role
from annotation.projects.queries.members import DOES
from annotation.projects.services import accept_invitation as service
from annotation.projects.services.accept_invitation import open_invitation
from annotation.web.refusals import refused, status_of
from annotation.web.sign_in import sign_in

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_ATTEMPTS = 10
COUNTED_FOR_SECONDS = 15 * 60


@dataclass(frozen=True, slots=True)
class Typed:
    """The submitted fields of the form for a new account, without the password."""

    username: str = ""
    full_name: str = ""


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    try:
        return _answer(request, secret)
    except Refusal as refusal:
        return refused(request, refusal)


def _answer(request: HttpRequest, secret: str) -> HttpResponse:
    found = open_invitation(secret)
    if request.method != "POST":
        return _show(request, found)
    if request.user.is_authenticated:
        return _join(request, secret)
    return _join_again(request, secret, found)


def _join(request: HttpRequest, secret: str) -> HttpResponse:
    assert isinstance(request.user, User)
    return redirect(_welcome(request, service.accept_invitation(secret=secret, by=request.user)))


def _join_again(request: HttpRequest, secret: str, found: Invitation) -> HttpResponse:
    typed = Typed(request.POST.get("username", ""), request.POST.get("full_name", ""))
    password = request.POST.get("password", "")
    try:
        if password != request.POST.get("again", ""):
            raise Invalid("The passwords do not match.", field="again")
        if count(f"invitations:names:{found.public_id}", seconds=COUNTED_FOR_SECONDS) > MOST_ATTEMPTS:
            raise NotAllowed(
                "Too many attempts. Wait 15 minutes, then open the link again.", code="locked_out"
            )
        user, membership = service.accept_with_new_account(
            secret=secret, username=typed.username, password=password, full_name=typed.full_name
        )
    except Invalid as refusal:
        return _show(request, found, typed=typed, refusal=refusal)
    except Conflict as refusal:
        if refusal.code != "name_taken":
            raise
        return _show(request, found, typed=typed, refusal=refusal)
    return sign_in(request, user, after=_welcome(request, membership))


def _welcome(request: HttpRequest, membership: Membership) -> str:
    messages.success(request, f"Welcome to {membership.project.name}.")
    return reverse("project", kwargs={"slug": membership.project.slug})


def _show(
    request: HttpRequest,
    found: Invitation,
    *,
    typed: Typed | None = None,
    refusal: Invalid | Conflict | None = None,
) -> HttpResponse:
    project = found.project
    is_member = (
        request.user.is_authenticated
        and Membership.objects.filter(project=project, user=request.user).exists()
    )
    context: Mapping[str, object] = {
        "invitation": found,
        "roles": [(Role(role).label, DOES[Role(role)]) for role in Role.values if role in found.roles],
        "is_member": is_member,
        "typed": typed or Typed(),
        "refusal": refusal,
        "wrong": _field(refusal),
        "password_rules": password_validators_help_texts(),
    }
    status = status_of(refusal) if refusal else 200
    return render(request, "projects/invitations/page.html", dict(context), status=status)


def _field(refusal: Invalid | Conflict | None) -> str:
    if refusal is None:
        return ""
    return (refusal.field or "") if isinstance(refusal, Invalid) else "username"
