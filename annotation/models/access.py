"""What a token may do, and what programs were told, for those that ask twice."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from annotation.models.project import Project

LONGEST_TOKEN_NAME = 80
LONGEST_KEY = 200


class TokenGrant(models.Model):
    """How far a token reaches: less than its person. A token without a grant may do what its person may."""

    token = models.OneToOneField(
        "knox.AuthToken", on_delete=models.CASCADE, primary_key=True, related_name="grant"
    )
    name = models.CharField(max_length=LONGEST_TOKEN_NAME, blank=True, help_text="What it is for.")
    may_write = models.BooleanField(default=True)
    is_of_one = models.BooleanField(
        default=False, help_text="For one project alone; when that is gone the token opens nothing."
    )
    project = models.ForeignKey(
        Project, null=True, blank=True, on_delete=models.SET_NULL, related_name="token_grants"
    )

    def __str__(self) -> str:
        return self.name or "token"


class KeptReply(models.Model):
    """The reply to a request that was sent with an idempotency key; without a status it is still under way."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    route = models.CharField(max_length=64, help_text="Hash of the address.")
    key = models.CharField(max_length=LONGEST_KEY)
    fingerprint = models.CharField(max_length=64, help_text="Hash of what was sent.")
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    body = models.TextField(blank=True)
    began_at = models.DateTimeField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("person", "route", "key"), name="kept_reply_once"),)
        indexes = (models.Index(fields=("began_at",), name="kept_reply_by_age"),)

    def __str__(self) -> str:
        return self.key
