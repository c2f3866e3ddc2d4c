"""Signing in and out; in the demo, as one of its people with one click; and the first account of all."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import password_validators_help_texts
from django.contrib.auth.views import LoginView, LogoutView
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation.accounts.services import make_first_account, open_setup
from annotation.core.refusals import Invalid, Refusal
from annotation.sample.people import DEMO_PEOPLE
from annotation.web.refusals import refused

BACKEND = "django.contrib.auth.backends.ModelBackend"


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
    login(request, user, backend=BACKEND)
    return HttpResponseRedirect(_safe(request.POST.get("next", ""), request))


def _safe(address: str, request: HttpRequest) -> str:
    is_ours = url_has_allowed_host_and_scheme(
        address, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return address if address and is_ours else "/"


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def setup(request: HttpRequest, secret: str) -> HttpResponse:
    """The first account of an installation that has none. Open to whoever holds the link."""
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
    login(request, user, backend=BACKEND)
    messages.success(request, f"Welcome, {user.get_username()}. Create your first project.")
    return HttpResponseRedirect("/")


def _setup_page(request: HttpRequest, typed: dict[str, str], refusal: Invalid | None = None) -> HttpResponse:
    context = {
        "typed": typed,
        "refusal": refusal,
        "wrong": refusal.field if refusal else "",
        "password_rules": password_validators_help_texts(),
    }
    return render(request, "accounts/setup.html", context, status=422 if refusal else 200)
