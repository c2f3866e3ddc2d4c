"""Account pages that django-allauth lacks, and extensions of its pages."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from allauth.account.decorators import reauthentication_required, secure_admin_login
from allauth.account.utils import get_next_redirect_url
from allauth.account.views import ConfirmEmailView
from allauth.decorators import rate_limit
from allauth.mfa.totp.views import ActivateTOTPView
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect import views as openid_connect
from allauth.usersessions.adapter import get_adapter
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import password_validators_help_texts
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST
from requests import RequestException

from annotation.accounts.events import events_of
from annotation.accounts.second_factor import refuse_without
from annotation.accounts.services import make_first_account, open_setup
from annotation.accounts.tokens import DAYS, MOST_DAYS, make_token, revoke_token, tokens_of
from annotation.core.refusals import Invalid, NotAllowed, NotReady, Refusal
from annotation.core.shared.clients import client_of
from annotation.demo.people import DEMO_PEOPLE
from annotation.models import Project
from annotation.projects.services.accept_invitation import set_name
from annotation.web.htmx import Request
from annotation.web.numbers import whole_number
from annotation.web.refusals import refused
from annotation.web.screen import screen
from annotation.web.sign_in import sign_in

if TYPE_CHECKING:
    from typing import Any

# The cookie applies the theme before sign-in and without a query.
THEME_COOKIE = "coverdict_theme"
THEME_SECONDS = 365 * 24 * 60 * 60
THEMES = (("", "As the system"), ("light", "Light"), ("dark", "Dark"))

PROVIDER_FAULTS = (OAuth2Error, RequestException, LookupError, ValueError, TypeError, AttributeError)
"""The exceptions of django-allauth's client for an invalid answer of the provider."""

logger = logging.getLogger(__name__)


@screen("GET", "POST")
def account(request: Request) -> HttpResponse:
    act = request.POST.get("act", "")
    if not act:
        return _page(request)
    if act == "theme":
        return _with_theme(request.POST.get("theme", ""))
    if act == "rename":
        set_name(request.user, request.POST.get("full_name", ""))
        request.user.save(update_fields=["first_name", "last_name"])
        messages.success(request, "Saved.")
    elif act == "revoke":
        revoke_token(person=request.user, key=request.POST.get("key", ""), client=client_of(request))
        messages.success(request, "Token revoked.")
    return redirect("account")


@screen("POST")
@reauthentication_required
def new_token(request: Request) -> HttpResponse:
    refuse_without(request.user)
    days = whole_number(request.POST.get("days", str(DAYS))) or 0
    _, token = make_token(person=request.user, days=days, client=client_of(request))
    return _page(request, token=token)


def _with_theme(theme: str) -> HttpResponse:
    answer = redirect("account")
    is_theme = theme in dict(THEMES)
    answer.set_cookie(
        THEME_COOKIE,
        theme if is_theme else "",
        max_age=THEME_SECONDS * is_theme,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return answer


def _page(request: Request, *, token: str = "") -> HttpResponse:
    context = {
        "token": token,
        "tokens": tokens_of(request.user),
        "events": events_of(request.user),
        "days": DAYS,
        "most_days": MOST_DAYS,
        "themes": THEMES,
        "theme": request.COOKIES.get(THEME_COOKIE, ""),
    }
    return render(request, "accounts/account.html", context)


@screen("GET", "POST")
def no_password(request: Request) -> HttpResponse:
    """Refuse to set a first password: a stolen session must not be enough to take over the account."""
    raise NotAllowed("This account has no password.", code="no_password")


class SetUpFactor(ActivateTOTPView):  # type: ignore[misc]  # allauth has no types
    def form_valid(self, form: Any) -> HttpResponse:
        """End the person's other sessions, which began without the second factor."""
        response: HttpResponse = super().form_valid(form)
        sessions = UserSession.objects.filter(user=self.request.user)
        get_adapter().end_sessions([each for each in sessions if not each.is_current()])
        return response


class ConfirmOwnEmail(ConfirmEmailView):  # type: ignore[misc]  # allauth has no types
    """Confirms an address only for its signed-in owner. Otherwise a stranger could enter somebody's address and wait
    for a click.
    """

    def get_object(self, queryset: Any = None) -> Any:
        found = super().get_object(queryset)
        if found.email_address.user_id != self.request.user.pk:
            raise Http404
        return found


@require_http_methods(["GET", "POST"])
@rate_limit(action="login")
def to_provider(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Redirect to the OpenID Connect provider by a page, because the content policy blocks redirects of forms."""
    try:
        response: HttpResponse = openid_connect.login(request, provider_id)
    except PROVIDER_FAULTS:
        return _away(request)
    if response.status_code != 302:
        return response
    address = {"address": response["Location"], "name": settings.OIDC_NAME}
    return render(request, "accounts/leaving.html", address)


def from_provider(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Accept the code that the provider sends with the person."""
    try:
        response: HttpResponse = openid_connect.callback(request, provider_id)
    except PROVIDER_FAULTS:
        return _away(request)
    return response


def _away(request: HttpRequest) -> HttpResponse:
    logger.warning("The single sign-on provider did not answer as it should", exc_info=True)
    message = (
        "The single sign-on provider does not answer as it should. Sign in with your password, or try later."
    )
    return refused(request, NotReady(message, seconds=30))


@require_POST
def demo_sign_in(request: HttpRequest) -> HttpResponse:
    """Sign in as a person of the demo. Raises Http404 without DEMO_SIGN_IN."""
    username = request.POST.get("person", "")
    if not settings.DEMO_SIGN_IN or username not in {person.username for person in DEMO_PEOPLE}:
        raise Http404
    user = get_object_or_404(User, username=username, is_active=True)
    return sign_in(request, user, after=get_next_redirect_url(request) or "/")


@secure_admin_login
def admin_door(request: HttpRequest) -> HttpResponse:
    """Replace the admin's own sign-in form, which asks for no second factor, by a refusal or a redirect."""
    if not admin.site.has_permission(request):
        message = "The admin is for superusers and for adjudicators on staff, without open assessor work."
        return refused(request, NotAllowed(message))
    return redirect(get_next_redirect_url(request) or "admin:index")


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def setup(request: HttpRequest, secret: str) -> HttpResponse:
    typed = {name: request.POST.get(name, "") for name in ("username", "full_name")}
    try:
        open_setup(secret)
        if request.method != "POST":
            return _setup_page(request, typed)
        password = request.POST.get("password", "")
        if password != request.POST.get("again", ""):
            raise Invalid("The passwords do not match.", field="again")
        user = make_first_account(secret=secret, password=password, **typed)
    except Invalid as refusal:
        return _setup_page(request, typed, refusal)
    except Refusal as refusal:
        return refused(request, refusal)
    first = "" if Project.objects.exists() else " Create your first project."
    messages.success(request, f"Welcome, {user.get_username()}.{first}")
    return sign_in(request, user, after="/")


def _setup_page(request: HttpRequest, typed: dict[str, str], refusal: Invalid | None = None) -> HttpResponse:
    context = {
        "typed": typed,
        "password_rules": password_validators_help_texts(),
        "refusal": refusal,
        "wrong": refusal.field if refusal else "",
    }
    return render(request, "accounts/setup.html", context, status=422 if refusal else 200)
