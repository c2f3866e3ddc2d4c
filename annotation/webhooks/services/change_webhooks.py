"""A manager adds a webhook, tries it, or ends it."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Collection
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from annotation.core.events import log
from annotation.core.jobs import cancel
from annotation.core.outbox import put_into_outbox
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict, Invalid
from annotation.models import Job, Webhook
from annotation.webhooks.services.reach import checked_url

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import Project, WebhookDelivery

MOST_IN_USE = 20
MOST_TESTS_WAITING = 5
SECRET_PREFIX = "whsec_"  # noqa: S105 - how every such secret begins
SECRET_BYTES = 32
CHOICES = tuple(kind for kind in Webhook.Kind if kind is not Webhook.Kind.TEST)


@transaction.atomic
def add_webhook(*, project: Project, url: str, events: Collection[str], by: User | None) -> Webhook:
    """Have a URL told of these events from now on.

    The row's secret signs the messages; doors show it this once. Raises Invalid for a URL that webhooks may not go to
    and for no or an unknown event, Conflict (code `too_many`) where 20 are in use already.
    """
    require(by, project, Verb.CHANGE_PROJECT)
    url = checked_url(url)
    unknown = sorted(set(events) - set(CHOICES))
    if unknown or not events:
        told = f"There is no event {unknown[0]!r}." if unknown else "Choose at least one event."
        raise Invalid(f"{told} Events are {', '.join(CHOICES)}.", field="events")
    if Webhook.objects.filter(project=project, ended_at=None).count() >= MOST_IN_USE:
        raise Conflict(f"{MOST_IN_USE} webhooks are in use already. End one first.", code="too_many")
    secret = SECRET_PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()
    chosen = [kind.value for kind in CHOICES if kind in set(events)]
    hook = Webhook.objects.create(project=project, url=url, secret=secret, kinds=chosen, by=by)
    log(project=project, actor=by, verb="add webhook", target=hook, data={"url": url, "events": chosen})
    return hook


@transaction.atomic
def end_webhook(*, webhook: Webhook, by: User | None) -> Webhook:
    """Send nothing more to a webhook, nor what waits for it. Twice changes nothing."""
    require(by, webhook.project, Verb.CHANGE_PROJECT)
    return stop_sending(webhook, by=by)


@transaction.atomic
def stop_sending(webhook: Webhook, *, reason: str = "", by: User | None = None) -> Webhook:
    """As `end_webhook`, without asking who may: a receiver that says that it is gone ends its webhook too."""
    held = Webhook.objects.select_for_update(of=("self",)).select_related("project").get(pk=webhook.pk)
    if held.ended_at is not None:
        return held
    held.ended_at, held.end_reason = timezone.now(), reason
    held.save(update_fields=["ended_at", "end_reason"])
    # Also what is being sent: it must not be sent again where it fails.
    cancel(Job.objects.filter(delivery__webhook=held))
    log(
        project=held.project,
        actor=by,
        verb="end webhook",
        target=held,
        data={"url": held.url, "reason": reason},
    )
    return held


@transaction.atomic
def send_test(*, webhook: Webhook, by: User | None) -> WebhookDelivery:
    """Send a test message. Raises Conflict where the webhook has ended, or where tests wait already."""
    require(by, webhook.project, Verb.CHANGE_PROJECT)
    held = Webhook.objects.select_for_update(of=("self",)).get(pk=webhook.pk)
    if held.ended_at is not None:
        raise Conflict("This webhook has ended. Add it again.", code="ended")
    waiting = Job.objects.filter(
        delivery__webhook=held, delivery__kind=Webhook.Kind.TEST, state=Job.State.WAITING
    )
    if waiting.count() >= MOST_TESTS_WAITING:
        raise Conflict("Test messages are already waiting. Wait for their outcome first.", code="too_many")
    data = {"project": webhook.project.slug, "id": held.public_id}
    return put_into_outbox([held], kind=Webhook.Kind.TEST, data=data)[0]
