"""Signing in and out; in the demo, as one of its people with one click."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView, LogoutView
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from annotation.sample.people import DEMO_PEOPLE

BACKEND = "django.contrib.auth.backends.ModelBackend"


class SignIn(LoginView):
    template_name = "accounts/page.html"
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: object) -> dict[str, object]:
        context: dict[str, object] = super().get_context_data(**kwargs)
        return {**context, "people": DEMO_PEOPLE if settings.DEMO_SIGN_IN else ()}

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
