"""Webhooks: whom a project tells that something has happened, and what became of each message."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from annotation.models.base import PublicRow
from annotation.models.project import Project


class Webhook(PublicRow):
    """An address that is told of a project's events. The secret signs each message, so it is kept as it is."""

    class Kind(models.TextChoices):
        RUN_FINISHED = "run.finished", "A run has ended"
        EXPORT_READY = "export.ready", "An export is ready"
        SAMPLE_FINISHED = "sample.finished", "A random sample is answered"
        TEST = "webhook.test", "Test message"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=500)
    secret = models.CharField(max_length=100)
    kinds = models.JSONField(default=list, help_text="The kinds of events that it is told of.")
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="webhooks"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    end_reason = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ("-id",)
        indexes = (
            models.Index(
                fields=("project",), condition=models.Q(ended_at__isnull=True), name="webhook_in_use"
            ),
        )

    def __str__(self) -> str:
        return self.url


class WebhookDelivery(PublicRow):
    """One message to one webhook, written in the transaction of what it tells of. Its job holds the attempts.

    The public id names the message in every attempt, so that a receiver can tell a repetition.
    """

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    kind = models.CharField(max_length=20, choices=Webhook.Kind)
    data = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    delivered_at = models.DateTimeField(null=True, blank=True)
    status = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="What the receiver last answered; empty where it did not."
    )
    error = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ("-id",)
        verbose_name_plural = "webhook deliveries"

    def __str__(self) -> str:
        return f"{self.kind} to {self.webhook}"
