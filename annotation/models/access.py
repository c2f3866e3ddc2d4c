"""Events and sessions of accounts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models
from django.utils.module_loading import import_string

if TYPE_CHECKING:
    from django.contrib.sessions.backends.db import SessionStore


class AccountEvent(models.Model):
    """An event of an account, such as a sign-in or a failed attempt.

    Rows are only added, until retention removes them.

    All processes and hosts count failures from these rows. They never contain a password, a token, or a
    typed name without an account.
    """

    class Kind(models.TextChoices):
        SIGN_IN = "sign in", "Signed in"
        FAILURE = "failure", "Wrong password or code"
        LOCK = "lock", "Locked for a while"
        SIGN_OUT = "sign out", "Signed out"
        PASSWORD = "password", "Password changed"
        RESET_LINK = "reset link", "Reset link made"
        RESET = "reset", "Password reset by a link"
        TOKEN = "token", "Token made"
        TOKEN_END = "token end", "Token ended"
        SESSION_END = "session end", "Session ended"
        EMAIL = "email", "E-mail address changed"
        EMAIL_VERIFIED = "verified", "E-mail address verified"
        FACTOR = "factor", "Second factor set up"
        FACTOR_END = "factor end", "Second factor removed"
        RECOVERY = "recovery", "Recovery codes replaced"
        IDENTITY = "identity", "Single sign-on connected"
        IDENTITY_END = "identity end", "Single sign-on disconnected"
        REFUSED = "refused", "Single sign-on refused"

    kind = models.CharField(max_length=12, choices=Kind)
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="account_events",
        db_index=False,
        help_text="The account; empty if nobody has the typed name.",
    )
    name_key = models.CharField(max_length=64, blank=True, help_text="Keyed hash of the typed name.")
    address = models.GenericIPAddressField(null=True, blank=True)
    network = models.CharField(max_length=50, blank=True, help_text="The network by which limits count.")
    agent = models.CharField(max_length=300, blank=True, verbose_name="browser")
    device = models.CharField(max_length=32, blank=True, help_text="Hash of the browser's cookie.")
    is_known = models.BooleanField(
        default=False, help_text="The sign-in came from a known device or network of the person."
    )
    note = models.CharField(max_length=200, blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ("-id",)
        indexes = (
            models.Index(fields=("person", "-id"), name="account_event_of_person"),
            models.Index(fields=("name_key", "at"), name="account_event_by_name"),
            models.Index(fields=("network", "at"), name="account_event_by_network"),
        )

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.at:%Y-%m-%d %H:%M}"


class AccountSession(AbstractBaseSession):
    """A browser session of a user or visitor. Its key is secret and never shown."""

    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE, related_name="sessions"
    )
    address = models.GenericIPAddressField(null=True, blank=True, help_text="The address of the sign-in.")
    agent = models.CharField(max_length=300, blank=True, verbose_name="browser")
    began_at = models.DateTimeField()
    seen_at = models.DateTimeField(help_text="Time of the last request, to five minutes.")

    class Meta(AbstractBaseSession.Meta):
        verbose_name = "session"
        verbose_name_plural = "sessions"

    @classmethod
    def get_session_store_class(cls) -> type[SessionStore]:
        store: type[SessionStore] = import_string(f"{settings.SESSION_ENGINE}.SessionStore")
        return store
