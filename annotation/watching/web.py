"""The page *Status* for staff, and the figures for Prometheus."""

from __future__ import annotations

import secrets

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.core.jobs import broker_fault
from annotation.core.refusals import NotFound
from annotation.judging.services import servers
from annotation.models import AllowedServer
from annotation.watching.queries import (
    disk,
    failed_jobs,
    files_fault,
    missing_migrations,
    open_jobs,
    versions,
    workers,
)
from annotation.web.htmx import Request
from annotation.web.rooms import found
from annotation.web.screen import screen

LITTLE_ROOM = 0.1


@screen("GET")
def status(request: Request) -> HttpResponse:
    if not request.user.is_staff:
        raise NotFound("There is no such page.")
    failed = failed_jobs()
    room = disk()
    known, waiting = workers(), open_jobs()
    context = {
        "kinds": [(each, failed.get(each.kind, 0)) for each in waiting],
        "failed": sum(failed.values()),
        "workers": known,
        "alive": sum(each.is_alive for each in known),
        "waiting": sum(each.waiting for each in waiting),
        "broker": broker_fault(),
        "files_fault": files_fault(),
        "disk": room,
        "is_little_room": room.share_free < LITTLE_ROOM,
        "missing": missing_migrations(),
        "versions": versions(),
        "allowed_by_settings": settings.COVERDICT_JUDGE_URLS,
        "allowed_servers": AllowedServer.objects.all(),
    }
    return render(request, "watching/status.html", context)


@screen("POST")
def allow_server(request: Request) -> HttpResponse:
    server = servers.allow_server(url=request.POST.get("url", ""), by=request.user)
    messages.success(request, f"Judges may call {server.url}.")
    return redirect("status")


@screen("POST")
def disallow_server(request: Request, server_id: str) -> HttpResponse:
    servers.disallow_server(server=found(AllowedServer.objects.all(), server_id, "server"), by=request.user)
    return redirect("status")


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Send the figures to Prometheus. Without a METRICS_TOKEN the response is 404; a request without the token gets
    401.
    """
    if not settings.METRICS_TOKEN:
        return HttpResponse("There is no such page.", content_type="text/plain", status=404)
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    is_known = secrets.compare_digest(given.strip().encode(), settings.METRICS_TOKEN.encode())
    if scheme.lower() != "bearer" or not is_known:
        headers = {"WWW-Authenticate": 'Bearer realm="metrics"'}
        return HttpResponse("Send the token.", content_type="text/plain", status=401, headers=headers)
    from prometheus_client import CONTENT_TYPE_LATEST  # noqa: PLC0415 - loaded only if figures are asked for

    from annotation.watching.figures import as_text  # noqa: PLC0415 - likewise

    return HttpResponse(as_text(), content_type=CONTENT_TYPE_LATEST)
