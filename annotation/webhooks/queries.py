"""The webhooks of a project, and what became of their latest messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import IntegerField, OuterRef, Subquery

from annotation.models import Job, Webhook, WebhookDelivery

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.models import Project

LATEST = 50


def webhooks_of(project: Project) -> QuerySet[Webhook]:
    """All of them, newest first."""
    return Webhook.objects.filter(project=project).select_related("project", "by").order_by("-pk")


def deliveries_of(project: Project) -> QuerySet[WebhookDelivery]:
    """Their messages, newest first, each with the `state`, the `attempts` and the next time of its job."""
    job = Job.objects.filter(delivery=OuterRef("pk"))
    return (
        WebhookDelivery.objects.filter(webhook__project=project)
        .select_related("webhook")
        .annotate(
            state=Subquery(job.values("state")[:1]),
            attempts=Subquery(job.values("attempt")[:1], output_field=IntegerField()),
            next_at=Subquery(job.values("queued_at")[:1]),
        )
        .order_by("-pk")
    )
