"""The redirects to the OpenID Connect provider and back, by django-allauth's client."""

from __future__ import annotations

import hashlib
import io
import logging
from typing import TYPE_CHECKING, Any, NoReturn

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter, get_adapter
from allauth.socialaccount.models import SocialApp
from allauth.socialaccount.providers import registry
from allauth.socialaccount.providers.base.constants import AuthError, AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST
from requests import RequestException, Response, Session
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError

from annotation.accounts.lock_out import check_password
from annotation.accounts.second_factor import confirm
from annotation.accounts.single_sign_on import PROVIDER, Identity, connect, is_on, note_refused, sign_on
from annotation.core.refusals import NotAllowed, NotReady, Refusal, TooMany
from annotation.core.shared.clients import client_of
from annotation.core.shared.limits import count, seconds_left
from annotation.web.come_in import come_in, our_address
from annotation.web.refusals import refused, sign_in_first

if TYPE_CHECKING:
    from allauth.socialaccount.models import SocialLogin

AWAY_SECONDS = 30.0
STARTS_A_MINUTE = 60
MOST_BODY_BYTES = 4 * 1024**2

logger = logging.getLogger(__name__)

# Among the installed apps it would be loaded by every command.
registry.register(OpenIDConnectProvider)


@require_POST
@never_cache
def begin(request: HttpRequest) -> HttpResponse:
    """Go to the provider: to sign in, or to link the account of a signed-in person."""
    if not is_on():
        raise Http404
    person = request.user
    try:
        _refuse_if_often(request)
        if isinstance(person, User):
            if person.has_usable_password():
                check_password(person, request.POST.get("known", ""), request, field="known")
            confirm(person=person, code=request.POST.get("code", ""), request=request)
        process = AuthProcess.CONNECT if isinstance(person, User) else AuthProcess.LOGIN
        provider = get_adapter(request).get_provider(request, PROVIDER)
        after = our_address(request.POST.get("next", ""), request)
        onward = provider.redirect(request, process, next_url=after)
    except Refusal as refusal:
        return refused(request, refusal)
    except _faults():
        logger.warning("The single sign-on provider did not answer as it should", exc_info=True)
        return refused(request, NotReady(_AWAY, seconds=AWAY_SECONDS))
    # A page instead of a redirect: the policy would apply our rule for forms to the provider's redirects.
    return render(
        request, "accounts/leaving.html", {"address": onward["Location"], "name": settings.OIDC_NAME}
    )


def _faults() -> tuple[type[Exception], ...]:
    """Exceptions that the client raises for an invalid answer of the provider, or an unavailable cache."""
    from redis import RedisError  # noqa: PLC0415 - slow to load, and most installations never need it here

    return (OAuth2Error, RequestException, RedisError, LookupError, ValueError, TypeError, AttributeError)


def _refuse_if_often(request: HttpRequest) -> None:
    """Each start asks the provider for its addresses while a thread waits."""
    if count(f"sign-on:{client_of(request).network}", seconds=60) > STARTS_A_MINUTE:
        message = "Single sign-on was started too often from your network. Try again in a minute."
        raise TooMany(message, seconds=seconds_left(60))


_AWAY = "The single sign-on provider does not answer as it should. Sign in with your password, or try again later."


@require_GET
@never_cache
def come_back(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Return from the provider with a code that works once, in the same browser."""
    if not is_on():
        raise Http404
    try:
        view = OAuth2CallbackView.adapter_view(OpenIDConnectOAuth2Adapter(request, provider_id))
        response: HttpResponse = view(request)
    except _faults():
        logger.warning("The single sign-on provider did not answer as it should", exc_info=True)
        return refused(request, NotReady(_AWAY, seconds=AWAY_SECONDS))
    return response


class _Bounded(HTTPAdapter):
    """Reads at most `MOST_BODY_BYTES` of the provider's answer."""

    def send(self, *args: Any, **kwargs: Any) -> Response:
        response = super().send(*args, **{**kwargs, "stream": True})
        try:
            body = response.raw.read(MOST_BODY_BYTES + 1, decode_content=True)
        except HTTPError as broken:
            raise RequestException(str(broken)) from broken
        finally:
            response.raw.close()
        if len(body) > MOST_BODY_BYTES:
            raise RequestException(f"The answer is longer than {MOST_BODY_BYTES // 1024**2} MiB.")
        response.raw = io.BytesIO(body)
        return response


class ProviderDoor(DefaultSocialAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """django-allauth's adapter: the configured provider, with `single_sign_on` finding the account."""

    def get_requests_session(self) -> Session:
        session: Session = super().get_requests_session()
        for scheme in ("https://", "http://"):
            session.mount(scheme, _Bounded())
        return session

    def list_apps(self, request: HttpRequest, provider: Any = None, client_id: Any = None) -> list[SocialApp]:
        """The provider of the settings, never one from a row."""
        options = {"server_url": settings.OIDC_ISSUER, "oauth_pkce_enabled": True}
        return [
            SocialApp(
                provider="openid_connect",
                provider_id=PROVIDER,
                name=settings.OIDC_NAME,
                client_id=settings.OIDC_CLIENT_ID,
                secret=settings.OIDC_CLIENT_SECRET,
                settings=options,
            )
        ]

    def populate_user(self, request: HttpRequest, sociallogin: SocialLogin, data: dict[str, Any]) -> User:
        """Bind the identity to the provider that signed it; store nothing else."""
        account = sociallogin.account
        token = account.extra_data["id_token"]
        claims = account.extra_data.get("userinfo") or token
        # Required by OpenID Connect Core, 5.3.2: it could describe another person.
        if claims["sub"] != token["sub"]:
            raise OAuth2Error("userinfo of another subject")
        account.uid = hashlib.sha256(f"{token['iss']} {token['sub']}".encode()).hexdigest()
        account.extra_data = {}
        user: User = super().populate_user(request, sociallogin, data)
        return user

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> NoReturn:
        """Answer instead of django-allauth: signing in continues as after a password."""
        raise ImmediateHttpResponse(_arrive(request, sociallogin))

    def on_authentication_error(
        self, request: HttpRequest, provider: Any, error: str | None = None, exception: Any = None, **_: Any
    ) -> NoReturn:
        if error == AuthError.CANCELLED:
            messages.info(request, "Single sign-on was cancelled.")
            raise ImmediateHttpResponse(redirect("sign-in"))
        logger.warning("Single sign-on failed: %s", type(exception).__name__ if exception else "no state")
        note_refused(why="the provider's answer was not valid", client=client_of(request))
        message = (
            "Single sign-on did not work, or took longer than ten minutes. Try again from the sign-in page."
        )
        raise ImmediateHttpResponse(refused(request, NotAllowed(message, code="sign_on_failed")))


def _arrive(request: HttpRequest, sociallogin: SocialLogin) -> HttpResponse:
    identity, client = _identity_of(sociallogin), client_of(request)
    after: str = sociallogin.state.get("next") or "/"
    try:
        if sociallogin.state.get("process") != AuthProcess.CONNECT:
            return come_in(
                request, sign_on(identity=identity, client=client), after=after, by="single sign-on"
            )
        if not isinstance(request.user, User):
            return sign_in_first(request)
        connect(identity=identity, person=request.user, client=client)
    except Refusal as refusal:
        note_refused(why=refusal.code, client=client)
        return refused(request, refusal)
    messages.success(request, f"Your account is connected: you can sign in with {settings.OIDC_NAME} now.")
    return redirect("account")


def _identity_of(sociallogin: SocialLogin) -> Identity:
    identity = sociallogin.user
    # Only addresses that the provider itself marks with `true` are verified.
    verified = [each.email for each in sociallogin.email_addresses if each.verified is True]
    return Identity(
        key=sociallogin.account.uid,
        email=verified[0] if verified else "",
        username=identity.username,
        first_name=identity.first_name,
        last_name=identity.last_name,
    )
