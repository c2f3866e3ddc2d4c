"""The pages of the second factor: asked for after the password, and set up there or on the account page."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.accounts.second_factor import propose, set_up, set_up_own, show_code
from annotation.core.accounts.second_factor import has_second_factor
from annotation.core.refusals import Conflict, Invalid, Refusal
from annotation.web.come_in import come_in_with_code, waiting_person
from annotation.web.htmx import Request
from annotation.web.refusals import refused
from annotation.web.screen import screen

PROPOSED = "second_factor_proposed"
"""The secret that a page has shown, in the session: a wrong code must not ask for another scan."""


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def second_factor(request: HttpRequest) -> HttpResponse:
    """The second half of signing in: a code, or the first one of an app that the operator asks for."""
    person = waiting_person(request)
    if person is None:
        return redirect("sign-in")
    try:
        return _ask(request, person) if has_second_factor(person) else _have_set_up(request, person)
    except Refusal as refusal:
        return refused(request, refusal)


def _ask(request: HttpRequest, person: User) -> HttpResponse:
    refusal = None
    if request.method == "POST":
        try:
            what = show_code(person=person, code=request.POST.get("code", ""), request=request)
        except Invalid as wrong:
            refusal = wrong
        else:
            return redirect(come_in_with_code(request, person, what=what))
    return render(request, "accounts/code.html", {"refusal": refusal}, status=422 if refusal else 200)


def _have_set_up(request: HttpRequest, person: User) -> HttpResponse:
    if request.method != "POST":
        return _set_up_page(request, person, is_asked=True)
    secret, code = request.session.get(PROPOSED, ""), request.POST.get("code", "")
    try:
        codes = set_up(person=person, secret=secret, code=code, request=request)
    except Invalid as refusal:
        return _set_up_page(request, person, refusal, is_asked=True)
    after = come_in_with_code(request, person, what="code")
    return recovery_codes_page(request, codes, after=after)


@screen("GET", "POST")
def set_up_factor(request: Request) -> HttpResponse:
    """Set up an app of codes, while signed in."""
    if settings.SECOND_FACTOR == "off":
        raise Http404
    person = request.user
    if has_second_factor(person):
        raise Conflict("You have a second factor already.", code="has_second_factor")
    if request.method != "POST":
        return _set_up_page(request, person)
    try:
        codes = set_up_own(
            person=person,
            password=request.POST.get("known", ""),
            secret=request.session.get(PROPOSED, ""),
            code=request.POST.get("code", ""),
            request=request,
        )
    except Invalid as refusal:
        return _set_up_page(request, person, refusal)
    return recovery_codes_page(request, codes, after="/account/")


def _set_up_page(
    request: HttpRequest, person: User, refusal: Invalid | None = None, *, is_asked: bool = False
) -> HttpResponse:
    proposal = propose(person, request.session.get(PROPOSED, ""))
    request.session[PROPOSED] = proposal.secret
    context = {
        "proposal": proposal,
        "is_asked": is_asked,
        "asks_password": not is_asked and person.has_usable_password(),
        "refusal": refusal,
        "wrong": refusal.field if refusal else "",
    }
    return _secret(render(request, "accounts/set_up_factor.html", context, status=422 if refusal else 200))


def recovery_codes_page(request: HttpRequest, codes: list[str], *, after: str) -> HttpResponse:
    """The person's recovery codes, shown once."""
    request.session.pop(PROPOSED, None)
    return _secret(render(request, "accounts/recovery_codes.html", {"codes": codes, "after": after}))


def _secret(response: HttpResponse) -> HttpResponse:
    response["Cache-Control"] = "no-store"
    return response
