from __future__ import annotations

from django.conf import settings
from django.http.response import HttpResponseBase

from annotation.core.permissions import Verb
from annotation.projects.queries.event_log import EVENTS
from annotation.web.htmx import Request
from annotation.web.lists import list_page
from annotation.web.rooms import enter
from annotation.web.screen import screen


@screen("GET")
def event_log(request: Request, slug: str) -> HttpResponseBase:
    room = enter(request, slug, Verb.VIEW_EVENTS, here="log")
    context = {"days": settings.COVERDICT_KEEP_LOG_DAYS}
    return list_page(request, room, EVENTS, page="projects/event_log/page.html", context=context)
