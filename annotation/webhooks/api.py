"""Webhooks: addresses that are told of a project's events, and their messages."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView, PageQuery, only
from annotation.api.fields import NamedChoice
from annotation.api.schema import operation
from annotation.core.permissions import Verb
from annotation.models import Job, Webhook, WebhookDelivery
from annotation.webhooks.queries import deliveries_of, webhooks_of
from annotation.webhooks.services.change_webhooks import CHOICES, add_webhook, end_webhook, send_test
from annotation.webhooks.services.reach import LONGEST_URL


class EventKind(NamedChoice):
    """A kind of event."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__("EventKind", Webhook.Kind.choices, **kwargs)


class ToldKind(NamedChoice):
    """A kind of event that a webhook can be told of."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__("ToldKind", [(kind.value, kind.label) for kind in CHOICES], **kwargs)


class WebhookRow(serializers.Serializer[Webhook]):
    id = serializers.CharField(source="public_id")
    url = serializers.CharField()
    events = serializers.ListField(child=ToldKind(), source="kinds")
    by = serializers.CharField(source="by.username", allow_null=True, default=None)
    created_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    end_reason = serializers.CharField()


class AddedWebhook(WebhookRow):
    secret = serializers.CharField(help_text="Signs the messages. Shown only once.")


class NewWebhook(serializers.Serializer[Any]):
    url = serializers.CharField(max_length=LONGEST_URL)
    events = serializers.ListField(child=ToldKind(), min_length=1, max_length=len(CHOICES))


class DeliveryState(NamedChoice):
    """How far a message is."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__("DeliveryState", Job.State.choices, **kwargs)


class DeliveryRow(serializers.Serializer[WebhookDelivery]):
    id = serializers.CharField(source="public_id", help_text="The header `webhook-id` of every attempt.")
    webhook = serializers.CharField(source="webhook.public_id")
    kind = EventKind()
    state = DeliveryState()
    attempts = serializers.IntegerField()
    status = serializers.IntegerField(allow_null=True, help_text="The receiver's last reply.")
    error = serializers.CharField()
    created_at = serializers.DateTimeField()
    delivered_at = serializers.DateTimeField(allow_null=True)


class Webhooks(ApiView):
    tag = "webhooks"

    @operation("list_webhooks", parameters=[PageQuery], responses=WebhookRow(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the webhooks of a project, newest first."""
        project = self.enter(Verb.CHANGE_PROJECT)
        return self.page(webhooks_of(project), WebhookRow, query=self.query(PageQuery), order=("-pk",))

    @operation("add_webhook", request=NewWebhook, responses={201: AddedWebhook})
    def post(self, request: Request, slug: str) -> Response:
        """Have a URL told of events from now on.

        Needs the verb "change project". The reply alone holds the secret that signs the messages.
        """
        project = self.enter(Verb.CHANGE_PROJECT)
        hook = add_webhook(project=project, by=self.person, **self.body(NewWebhook))
        return Response(AddedWebhook(hook).data, status=status.HTTP_201_CREATED)


class OneWebhook(ApiView):
    tag = "webhooks"

    @operation("get_webhook", responses=WebhookRow)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show a webhook, without its secret."""
        project = self.enter(Verb.CHANGE_PROJECT)
        return Response(WebhookRow(only(webhooks_of(project), public_id, "webhook")).data)

    @operation("end_webhook", responses={204: None})
    def delete(self, request: Request, slug: str, public_id: str) -> Response:
        """Send nothing more to a webhook.

        Needs the verb "change project". It stays in the list, and so do its messages.
        """
        project = self.enter(Verb.CHANGE_PROJECT)
        end_webhook(webhook=only(webhooks_of(project), public_id, "webhook"), by=self.person)
        return Response(status=status.HTTP_204_NO_CONTENT)


class WebhookTest(ApiView):
    tag = "webhooks"

    @operation("test_webhook", request=None, responses={201: DeliveryRow})
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Send a test message; a worker delivers it.

        Needs the verb "change project". A conflict (409) says that the webhook has ended or that tests wait.
        """
        project = self.enter(Verb.CHANGE_PROJECT)
        sent = send_test(webhook=only(webhooks_of(project), public_id, "webhook"), by=self.person)
        row = deliveries_of(project).get(pk=sent.pk)
        return Response(DeliveryRow(row).data, status=status.HTTP_201_CREATED)


class Deliveries(ApiView):
    tag = "webhooks"

    @operation("list_webhook_deliveries", parameters=[PageQuery], responses=DeliveryRow(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the messages to a project's webhooks, newest first, with what became of them."""
        project = self.enter(Verb.CHANGE_PROJECT)
        return self.page(deliveries_of(project), DeliveryRow, query=self.query(PageQuery), order=("-pk",))
