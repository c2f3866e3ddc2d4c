"""Events of accounts."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone


class AccountEvent(models.Model):
    """An event of an account, such as a sign-in or a failed attempt."""

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
    address = models.GenericIPAddressField(null=True, blank=True)
    browser = models.CharField(max_length=300, blank=True)
    note = models.CharField(max_length=200, blank=True)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("-id",)
        indexes = (models.Index(fields=("person", "-id"), name="account_event_of_person"),)

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.at:%Y-%m-%d %H:%M}"
