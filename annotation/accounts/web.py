"""The pages for signing in and out, the second factor, the demo's sign-in and the first account."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import password_validators_help_texts
from django.contrib.auth.views import LoginView, LogoutView, redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation.accounts.second_factor import propose, set_up, set_up_own, show_code
from annotation.accounts.services import make_first_account, open_setup
from annotation.accounts.single_sign_on import is_on
from annotation.core.refusals import Conflict, Invalid, NotAllowed, Refusal
from annotation.demo.people import DEMO_PEOPLE
from annotation.models import Project
from annotation.web.come_in import come_in, come_in_with_code, has_second_factor, our_address, waiting_person
from annotation.web.htmx import Request
from annotation.web.refusals import refused
from annotation.web.screen import screen

PROPOSED = "second_factor_proposed"
"""The shown secret, stored in the session, so that a wrong code does not require another scan."""


class SignInForm(AuthenticationForm):
    """Accepts a username in any case if only one account matches."""

    def clean_username(self) -> str:
        # Here and not in a backend, so that attempts with all spellings of a name count together.
        typed: str = self.cleaned_data["username"]
        named = list(User.objects.filter(username__iexact=typed).values_list("username", flat=True)[:2])
        return named[0] if len(named) == 1 else typed


class SignIn(LoginView):
    template_name = "accounts/page.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(sign_on=settings.OIDC_NAME if is_on() else "", **kwargs)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        return come_in(self.request, form.get_user(), after=self.get_success_url())

    def form_invalid(self, form: object) -> HttpResponse:
        return self.render_to_response(self.get_context_data(form=form), status=422)


class SignOut(LogoutView):
    http_method_names = ["post", "options"]


@require_POST
def demo_sign_in(request: HttpRequest) -> HttpResponse:
    """Sign in as a person of the demo. The address exists only with the demo settings."""
    if not settings.DEMO_SIGN_IN:
        raise Http404
    username = request.POST.get("person", "")
    if username not in {person.username for person in DEMO_PEOPLE}:
        raise Http404
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise Http404
    return come_in(request, user, after=request.POST.get("next", ""))


def admin_door(request: HttpRequest) -> HttpResponse:
    """Replaces the admin's own sign-in page, which supports neither second factors nor single sign-on."""
    after = request.GET.get("next", "/admin/")
    if not request.user.is_authenticated:
        return redirect_to_login(after)
    if not admin.site.has_permission(request):
        message = "The admin is for superusers and for adjudicators on staff, without open assessor work."
        return refused(request, NotAllowed(message))
    return redirect(our_address(after, request))


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def setup(request: HttpRequest, secret: str) -> HttpResponse:
    """Create the first account of an installation, for the holder of the setup link."""
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
    return come_in(request, user, after="/")


def _setup_page(request: HttpRequest, typed: dict[str, str], refusal: Invalid | None = None) -> HttpResponse:
    context = {
        "typed": typed,
        "refusal": refusal,
        "wrong": refusal.field if refusal else "",
        "password_rules": password_validators_help_texts(),
    }
    return render(request, "accounts/setup.html", context, status=422 if refusal else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def second_factor(request: HttpRequest) -> HttpResponse:
    """Ask for a code after the password, or set up an app if the operator requires it."""
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
    """Set up an authenticator app while signed in."""
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
    """Show the person's recovery codes once."""
    request.session.pop(PROPOSED, None)
    return _secret(render(request, "accounts/recovery_codes.html", {"codes": codes, "after": after}))


def _secret(response: HttpResponse) -> HttpResponse:
    response["Cache-Control"] = "no-store"
    return response
