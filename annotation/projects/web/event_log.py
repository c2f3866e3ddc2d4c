"""The log of a project: who did what to which row, newest first."""

from __future__ import annotations

import json

from django.http import HttpResponse
from django.shortcuts import render

from annotation.core.paging import page_after
from annotation.core.permissions import Verb
from annotation.models import Event
from annotation.web.htmx import Request
from annotation.web.rooms import enter
from annotation.web.screen import screen

NEWEST_FIRST = ("-created_at", "-pk")


@screen("GET")
def event_log(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_EVENTS, here="log")
    after = request.GET.get("after", "")
    rows = Event.objects.filter(project=room.project).select_related("actor")
    events, older = page_after(rows, order=NEWEST_FIRST, after=after)
    lines = [(event, json.dumps(event.data, ensure_ascii=False) if event.data else "") for event in events]
    context = {"room": room, "lines": lines, "after": after, "older": older}
    return render(request, "projects/event_log/page.html", context)
