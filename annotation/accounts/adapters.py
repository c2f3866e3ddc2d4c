"""django-allauth's adapters: rules for new accounts, for counting attempts and for storing secrets."""

from __future__ import annotations

import base64
import hashlib
import logging
import secrets
from typing import TYPE_CHECKING, Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.models import EmailAddress
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.usersessions.adapter import DefaultUserSessionsAdapter
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.sites.shortcuts import get_current_site
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import salted_hmac
from knox.models import AuthToken

from annotation.accounts.events import Kind, note_account
from annotation.accounts.second_factor import must_have_second_factor
from annotation.core.jobs import MAIL, hint
from annotation.core.refusals import Conflict, NotAllowed, Refusal
from annotation.core.shared.clients import address_of, client_of
from annotation.core.shared.sealed import seal, unseal
from annotation.models import Invitation
from annotation.web.refusals import refused

if TYPE_CHECKING:
    from allauth.mfa.models import Authenticator
    from allauth.socialaccount.models import SocialLogin
    from django.http import HttpRequest

UNKNOWN_ACCOUNT = "account/email/unknown_account"


logger = logging.getLogger(__name__)

PURPOSE = "second factor"


def name_key(request: HttpRequest, credentials: dict[str, Any] | None = None) -> str:
    """Hash a typed name, ignoring case, for django-axes."""
    name = str((credentials or {}).get("username") or "")
    return salted_hmac("annotation.attempts", name.casefold(), algorithm="sha256").hexdigest()


class Accounts(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """Rules for accounts. Nobody can sign up by django-allauth's form."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def get_client_ip(self, request: HttpRequest) -> str:
        # Use the same address as all other limits, behind proxies too.
        return address_of(request) or super().get_client_ip(request)

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Do nothing. A count per account would let strangers lock the account; django-axes counts attempts instead."""

    def get_reauthentication_methods(self, user: User) -> list[dict[str, Any]]:
        """Allow only the second factor to people who have one."""
        methods: list[dict[str, Any]] = super().get_reauthentication_methods(user)
        return [each for each in methods if each["id"].startswith("mfa")] or methods

    @transaction.atomic
    def set_password(self, user: User, password: str) -> None:
        """Set the password, and delete the person's tokens."""
        super().set_password(user, password)
        AuthToken.objects.filter(user=user).delete()

    def send_password_reset_mail(self, user: User, email: str, context: dict[str, Any]) -> None:
        prefix = "account/email/password_reset_key" if user.has_usable_password() else UNKNOWN_ACCOUNT
        self.send_mail(prefix, email, context)

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Let a worker send the mail, so that the response time does not reveal whether an account exists.

        For an unknown address, the mail has no recipient.
        """
        if not settings.EMAIL_URL:
            raise ImmediateHttpResponse(
                refused(self.request, NotAllowed("This installation does not send mail.", code="no_mail"))
            )
        values = {"request": self.request, "email": email, "current_site": get_current_site(self.request)}
        mail = self.render_mail(template_prefix, email, {**values, **context})
        to = "" if template_prefix == UNKNOWN_ACCOUNT else email
        hint(MAIL, kwargs={"to": to, "subject": mail.subject, "body": mail.body}, waits="a mail")


class Identities(DefaultSocialAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """Rules for identities of the OpenID Connect provider."""

    def populate_user(self, request: HttpRequest, sociallogin: SocialLogin, data: dict[str, Any]) -> User:
        """Bind the identity to the provider that signed it, and empty its `extra_data`."""
        account = sociallogin.account
        token = account.extra_data["id_token"]
        # OpenID Connect Core, 5.3.2 requires this check, because the data could describe another person.
        if account.uid != token["sub"]:
            raise OAuth2Error("userinfo of another subject")
        account.uid = hashlib.sha256(f"{token['iss']} {token['sub']}".encode()).hexdigest()
        account.extra_data = {}
        for address in sociallogin.email_addresses:
            # Accept only True, because some providers send the word "false".
            address.verified = address.verified is True
        user: User = super().populate_user(request, sociallogin, data)
        return user

    def authenticate_by_email(self, sociallogin: SocialLogin) -> tuple[User, str] | None:
        for email in _verified(sociallogin):
            found = EmailAddress.objects.filter(email__iexact=email, user__email__iexact=email, verified=True)
            if row := found.select_related("user").first():
                return row.user, email
        return None

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Return True if the person gets an account; otherwise refuse the sign-in.

        The refusal is NotAllowed (code `no_account`) if the operator's rules give no account to a verified address, or
        Conflict (code `connect_first`) if an account here has the address.
        """
        emails = _verified(sociallogin)
        refusal: Refusal
        if not emails or not _gets_account(emails[0]):
            message = (
                "You have no account here. Ask an administrator, or sign in with your password and connect "
            )
            refusal = NotAllowed(f"{message}single sign-on on your account page.", code="no_account")
        elif User.objects.filter(
            Q(email__iexact=emails[0]) | Q(emailaddress__email__iexact=emails[0])
        ).exists():
            message = "An account here has your e-mail address, but it was not verified. Sign in with your password "
            refusal = Conflict(
                f"{message}and connect single sign-on on your account page.", code="connect_first"
            )
        else:
            return True
        note_account(kind=Kind.REFUSED, person=None, client=client_of(request), note=refusal.code)
        raise ImmediateHttpResponse(refused(request, refusal))


def _verified(sociallogin: SocialLogin) -> list[str]:
    return [each.email for each in sociallogin.email_addresses if each.verified]


def _gets_account(email: str) -> bool:
    invitations = Invitation.objects.filter(
        email__iexact=email, accepted_at=None, revoked_at=None, expires_at__gt=timezone.now()
    )
    is_invited = "invited" in settings.OIDC_NEW_ACCOUNTS and invitations.exists()
    return is_invited or email.rpartition("@")[2].lower() in settings.OIDC_NEW_ACCOUNTS


class Secrets(DefaultMFAAdapter):  # type: ignore[misc]  # allauth has no types
    """Encrypts the secrets of second factors."""

    def encrypt(self, text: str) -> str:
        return seal(text, purpose=PURPOSE)

    def decrypt(self, encrypted_text: str) -> str:
        secret = unseal(encrypted_text, purpose=PURPOSE)
        if secret is None:
            # Return a random secret. Codes of an empty secret could be computed.
            logger.warning("A second factor was encrypted with another SECRET_KEY: have it reset")
            return base64.b32encode(secrets.token_bytes(20)).decode()
        return secret

    def can_delete_authenticator(self, authenticator: Authenticator) -> bool:
        return not must_have_second_factor(authenticator.user)


class Sessions(DefaultUserSessionsAdapter):  # type: ignore[misc]  # allauth has no types
    def end_sessions(self, sessions: list[Any]) -> None:
        super().end_sessions(sessions)
        for each in sessions:
            note_account(kind=Kind.SESSION_END, person=each.user, note=each.ip)
