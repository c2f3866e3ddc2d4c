"""Messages to a project's webhooks: written in the transaction of the act that they tell of, sent by a worker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from annotation.models import Draw, Event, Export, Job, Run, Webhook, WebhookDelivery

if TYPE_CHECKING:
    from annotation.models.base import PublicRow

TOLD: Mapping[tuple[str, type[PublicRow]], str] = {
    ("finish run", Run): Webhook.Kind.RUN_FINISHED,
    ("stop run", Run): Webhook.Kind.RUN_FINISHED,
    ("cancel run", Run): Webhook.Kind.RUN_FINISHED,
    ("export", Export): Webhook.Kind.EXPORT_READY,
    ("finish sample", Draw): Webhook.Kind.SAMPLE_FINISHED,
}
"""The kind of message by the verb in the log and the row that it is about; other acts are told to nobody."""


def put_out(event: Event, target: PublicRow) -> None:
    """Write down a message of an event for each webhook that is told of its kind. Workers look for them."""
    kind = TOLD.get((event.verb, type(target)))
    if kind is None:
        return
    hooks = Webhook.objects.filter(project=event.project_id, ended_at__isnull=True)
    state = {"state": target.state} if isinstance(target, Run) else {}
    data = {"project": event.project.slug, "id": target.public_id, **state, **event.data}
    put_into_outbox([hook for hook in hooks if kind in hook.kinds], kind=kind, data=data)


def put_into_outbox(hooks: list[Webhook], *, kind: str, data: Mapping[str, object]) -> list[WebhookDelivery]:
    """Write down one message for each of these webhooks, with the job that delivers it."""
    deliveries = WebhookDelivery.objects.bulk_create(
        WebhookDelivery(webhook=hook, kind=kind, data=dict(data)) for hook in hooks
    )
    Job.objects.bulk_create(Job(delivery=delivery) for delivery in deliveries)
    return deliveries
