"""The page of one's own account, and resetting a forgotten password."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.password_validation import password_validators_help_texts
from django.contrib.auth.views import PasswordResetView
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.accounts.own_account import (
    DAYS,
    MOST_DAYS,
    ask_for_reset,
    ask_for_token,
    change_password,
    person_to_reset,
    rename,
    reset_password,
    revoke_token,
    tokens_of,
)
from annotation.accounts.own_sessions import end_other_sessions, end_session, events_of, sessions_of
from annotation.accounts.second_factor import new_recovery_codes, recovery_codes_left, remove
from annotation.accounts.single_sign_on import disconnect, is_connected, is_on
from annotation.accounts.verified_email import (
    ask_for_verification,
    check_key,
    has_verified_email,
    verify_email,
)
from annotation.accounts.web import recovery_codes_page
from annotation.core.refusals import Invalid, Refusal
from annotation.core.shared.clients import client_of
from annotation.web.come_in import has_second_factor, must_have_second_factor, passed_lately
from annotation.web.htmx import Request
from annotation.web.numbers import whole_number
from annotation.web.refusals import refused
from annotation.web.screen import screen

# A cookie, so that it applies before sign-in and costs no query. It is not shared between devices.
THEME_COOKIE = "coverdict_theme"
THEME_SECONDS = 365 * 24 * 60 * 60
THEMES = (("", "As the system"), ("light", "Light"), ("dark", "Dark"))


@screen("GET", "POST")
def account(request: Request) -> HttpResponse:
    if request.method != "POST":
        return _page(request)
    act = request.POST.get("act", "")
    try:
        if act == "rename":
            rename(
                person=request.user,
                full_name=request.POST.get("full_name", ""),
                email=request.POST.get("email", ""),
                old=request.POST.get("known", ""),
                request=request,
            )
            messages.success(request, "Saved.")
        elif act == "password":
            change_password(
                person=request.user,
                old=request.POST.get("old", ""),
                new=request.POST.get("password", ""),
                again=request.POST.get("again", ""),
                request=request,
            )
            # The password change ends all other sessions.
            update_session_auth_hash(request, request.user)
            messages.success(
                request, "Password changed. Your other sessions have ended and your tokens are revoked."
            )
        elif act == "theme":
            return _with_theme(request.POST.get("theme", ""))
        elif act == "token":
            days = request.POST.get("days", "")
            _, token = ask_for_token(
                person=request.user,
                code=request.POST.get("code", ""),
                days=whole_number(days) or 0 if days else DAYS,
                request=request,
            )
            return _page(request, token=token)
        elif act == "revoke":
            revoke_token(person=request.user, key=request.POST.get("key", ""), client=client_of(request))
            messages.success(request, "Token revoked.")
        elif act == "end-session":
            end_session(
                person=request.user,
                session_id=request.POST.get("session", ""),
                client=client_of(request),
            )
            messages.success(request, "Session ended.")
        elif act == "end-others":
            end_other_sessions(
                person=request.user, current=request.session.session_key, client=client_of(request)
            )
            messages.success(request, "You are signed out everywhere else.")
        elif act in _CODE_ACTS:
            return _CODE_ACTS[act](request)
        elif act == "disconnect":
            disconnect(person=request.user, client=client_of(request))
            messages.success(request, "Your account is no longer connected.")
        elif act == "verify":
            ask_for_verification(person=request.user, address=request.build_absolute_uri("/"))
            messages.success(request, "A link is on its way by mail. Follow it in this browser.")
    except Invalid as refusal:
        request.user.refresh_from_db()
        return _page(request, refusal=refusal)
    return redirect("account")


def _new_codes(request: Request) -> HttpResponse:
    code = request.POST.get("code", "")
    codes = new_recovery_codes(person=request.user, code=code, request=request)
    return recovery_codes_page(request, codes, after="/account/")


def _remove_factor(request: Request) -> HttpResponse:
    remove(person=request.user, code=request.POST.get("code", ""), request=request)
    messages.success(request, "Your second factor is removed.")
    return redirect("account")


_CODE_ACTS = {"new-codes": _new_codes, "remove-factor": _remove_factor}


def _with_theme(theme: str) -> HttpResponse:
    answer = redirect("account")
    if theme in dict(THEMES) and theme:
        answer.set_cookie(
            THEME_COOKIE,
            theme,
            max_age=THEME_SECONDS,
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Lax",
        )
    else:
        answer.delete_cookie(THEME_COOKIE, samesite="Lax")
    return answer


def _page(request: Request, *, token: str = "", refusal: Invalid | None = None) -> HttpResponse:
    context = {
        "token": token,
        "tokens": tokens_of(request.user),
        "sessions": sessions_of(request.user, current=request.session.session_key),
        "events": events_of(request.user),
        "days": request.POST.get("days", "") if refusal else DAYS,
        "most_days": MOST_DAYS,
        "refusal": refusal,
        "wrong": refusal.field if refusal else "",
        "has_password": request.user.has_usable_password(),
        "typed": request.POST,
        "password_rules": password_validators_help_texts(),
        "has_mail": bool(settings.EMAIL_URL),
        "has_verified_email": has_verified_email(request.user),
        "offers_second_factor": settings.SECOND_FACTOR != "off",
        "has_second_factor": has_second_factor(request.user),
        "must_have_second_factor": must_have_second_factor(request.user),
        "recovery_codes_left": recovery_codes_left(request.user),
        "asks_code": has_second_factor(request.user) and not passed_lately(request, request.user),
        "wrong_act": request.POST.get("act", "") if refusal else "",
        "sign_on": settings.OIDC_NAME if is_on() else "",
        "is_connected": is_connected(request.user),
        "is_renaming": refusal is not None and refusal.field in {"full_name", "email", "known"},
        "themes": THEMES,
        "theme": request.COOKIES.get(THEME_COOKIE, ""),
    }
    response = render(request, "accounts/account.html", context, status=422 if refusal else 200)
    if token:
        response["Cache-Control"] = "no-store"
    return response


@screen("GET", "POST")
def verify(request: Request, key: str) -> HttpResponse:
    """Confirm an e-mail address from a mailed link. A button confirms, because mail scanners open links."""
    if request.method == "POST":
        verify_email(person=request.user, key=key, client=client_of(request))
        messages.success(request, "Your e-mail address is verified.")
        return redirect("account")
    check_key(person=request.user, key=key)
    return render(request, "accounts/verify.html")


class ForgottenPassword(PasswordResetView):
    """Request a reset link by mail; without a mail server, the page says whom to ask.

    A worker looks the address up, so that the response time does not reveal accounts.
    """

    template_name = "accounts/forgotten.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(has_mail=bool(settings.EMAIL_URL), **kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        if not settings.EMAIL_URL:
            raise Http404
        ask_for_reset(
            email=form.cleaned_data["email"],
            address=self.request.build_absolute_uri("/"),
            asker=client_of(self.request).network,
        )
        messages.success(self.request, "If an account has this address, a reset link has been mailed to it.")
        return redirect("sign-in")

    def form_invalid(self, form: Any) -> HttpResponse:
        return self.render_to_response(self.get_context_data(form=form), status=422)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def reset(request: HttpRequest, key: str, token: str) -> HttpResponse:
    """Set a new password by a reset link."""
    refusal = None
    try:
        person = person_to_reset(key=key, token=token)
    except Refusal as gone:
        return refused(request, gone)
    if request.method == "POST":
        new, again = request.POST.get("password", ""), request.POST.get("again", "")
        try:
            reset_password(key=key, token=token, new=new, again=again, client=client_of(request))
        except Invalid as not_so:
            refusal = not_so
        else:
            messages.success(request, "Password changed. Sign in with the new password.")
            return redirect("sign-in")
    context = {
        "person": person,
        "refusal": refusal,
        "wrong": refusal.field if refusal else "",
        "password_rules": password_validators_help_texts(),
    }
    response = render(request, "accounts/reset.html", context, status=422 if refusal else 200)
    # The address contains the secret, so no other site may receive it as a referrer.
    response["Referrer-Policy"] = "no-referrer"
    return response
