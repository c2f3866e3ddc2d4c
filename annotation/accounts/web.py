"""Signing in and out; in the demo, as one of its people with one click; and the first account of all."""

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

from annotation.accounts.services import make_first_account, open_setup
from annotation.accounts.single_sign_on import is_on
from annotation.core.refusals import Invalid, NotAllowed, Refusal
from annotation.demo.people import DEMO_PEOPLE
from annotation.models import Project
from annotation.web.come_in import come_in, our_address
from annotation.web.refusals import refused


class SignInForm(AuthenticationForm):
    """The name may be written in capitals or not, where only one account is meant by it."""

    def clean_username(self) -> str:
        # Here and not in a backend: what counts attempts is to count all ways of writing a name together.
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
    """Sign in as one of the demo's people. Outside of the demo settings there is no such address."""
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
    """In the place of the admin's own sign-in page, which knows neither second factor nor single sign-on."""
    after = request.GET.get("next", "/admin/")
    if not request.user.is_authenticated:
        return redirect_to_login(after)
    if not admin.site.has_permission(request):
        told = "The admin is for superusers and for adjudicators on staff, without open assessor work."
        return refused(request, NotAllowed(told))
    return redirect(our_address(after, request))


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def setup(request: HttpRequest, secret: str) -> HttpResponse:
    """The first account of an installation that has none. Open to anyone who holds the link."""
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
