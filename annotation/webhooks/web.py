"""Webhooks of a project: who is told of what, and what became of the latest messages."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from annotation.core.permissions import Verb
from annotation.core.refusals import Conflict, Invalid
from annotation.models import Webhook
from annotation.web.htmx import Request
from annotation.web.refusals import status_of
from annotation.web.rooms import Room, enter, found
from annotation.web.screen import screen
from annotation.webhooks.queries import LATEST, deliveries_of, webhooks_of
from annotation.webhooks.services import change_webhooks as service

HERE = "webhooks"


@screen("GET")
def webhooks(request: Request, slug: str) -> HttpResponse:
    return _show(request, enter(request, slug, Verb.CHANGE_PROJECT, here=HERE))


@screen("POST")
def add_webhook(request: Request, slug: str) -> HttpResponse:
    """The page with the secret that was made, once: no address shows it again."""
    room = enter(request, slug, Verb.CHANGE_PROJECT, here=HERE)
    url, events = request.POST.get("url", ""), request.POST.getlist("events")
    try:
        hook = service.add_webhook(project=room.project, url=url, events=events, by=request.user)
    except (Invalid, Conflict) as refusal:
        return _show(request, room, refusal=refusal)
    return _show(request, room, added=hook)


@screen("POST")
def end_webhook(request: Request, slug: str, webhook_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.CHANGE_PROJECT, here=HERE)
    service.end_webhook(webhook=_webhook(room, webhook_id), by=request.user)
    messages.success(request, "Webhook ended. No more messages are sent.")
    return redirect(HERE, slug=slug)


@screen("POST")
def test_webhook(request: Request, slug: str, webhook_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.CHANGE_PROJECT, here=HERE)
    try:
        service.send_test(webhook=_webhook(room, webhook_id), by=request.user)
    except Conflict as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, "Test message sent. Reload to see the outcome.")
    return redirect(HERE, slug=slug)


def _webhook(room: Room, webhook_id: str) -> Webhook:
    return found(webhooks_of(room.project), webhook_id, "webhook")


def _show(
    request: Request, room: Room, *, refusal: Invalid | Conflict | None = None, added: Webhook | None = None
) -> HttpResponse:
    context = {
        "room": room,
        "webhooks": webhooks_of(room.project),
        "deliveries": deliveries_of(room.project)[:LATEST],
        "choices": [(kind.value, kind.label) for kind in service.CHOICES],
        "hosts": settings.COVERDICT_WEBHOOK_HOSTS,
        "typed": request.POST.get("url", "") if refusal else "",
        "chosen": request.POST.getlist("events") if refusal else [kind.value for kind in service.CHOICES],
        "refusal": refusal,
        "added": added,
    }
    response = render(request, "webhooks/page.html", context, status=status_of(refusal) if refusal else 200)
    if added:
        # The secret is shown this once and must not lie in a cache, nor come back with the Back button.
        response["Cache-Control"] = "private, no-store"
    return response
