"""Invitations, setup links, cached values and comments."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q

from annotation.models.base import PublicRow
from annotation.models.claim import Claim
from annotation.models.constraints import has_text, together
from annotation.models.project import Project


class Invitation(PublicRow):
    """A link with which one person can join a project. Only a hash of the link's secret is stored."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="invitations")
    roles = models.JSONField(default=list)
    note = models.CharField(max_length=120, blank=True, help_text="The person whom it is meant for.")
    email = models.EmailField(
        blank=True, help_text="The address that the link is mailed to; empty if it was shown."
    )
    mailed_at = models.DateTimeField(null=True, blank=True)
    link_base = models.TextField(
        null=True, editable=False, help_text="The installation's address, for the mailed link."
    )
    secret_hash = models.CharField(max_length=64, unique=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="invitations")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="accepted_invitations",
    )
    accepted_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-id",)
        constraints = (
            together("invitation_accepted_by_somebody", "accepted_at", "accepted_by"),
            models.CheckConstraint(
                name="invitation_accepted_or_revoked",
                condition=Q(accepted_at__isnull=True) | Q(revoked_at__isnull=True),
            ),
        )

    def __str__(self) -> str:
        return f"invitation {self.public_id}"


def administrators() -> models.QuerySet[User]:
    return User.objects.filter(is_active=True, is_superuser=True)


class SetupLink(PublicRow):
    """A link that creates the first administrator's account. Only a hash of the link's secret is stored."""

    secret_hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"setup link {self.public_id}"


class CachedValue(models.Model):
    """A cached value, such as a counter, for installations without Redis; Django's cache writes it."""

    cache_key = models.CharField(max_length=255, primary_key=True)
    value = models.TextField()
    expires = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.cache_key


class Comment(PublicRow):
    """A remark on a claim."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="comments")
    claim = models.ForeignKey(Claim, on_delete=models.CASCADE, related_name="comments")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="comments")
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("id",)
        constraints = (has_text("comment_has_text"),)

    def __str__(self) -> str:
        return self.text[:80]
