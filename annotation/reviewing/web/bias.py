"""The bias watch: how far reviewers follow the judge, on screen and as a file."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render

from annotation.core.permissions import Verb
from annotation.core.tables.answer import file_answer
from annotation.core.tables.write import CONTENT_TYPES
from annotation.models import Project
from annotation.reviewing.bias_table import as_bytes
from annotation.reviewing.queries.bias import FEWEST, bias_watch
from annotation.web.htmx import Request
from annotation.web.rooms import enter
from annotation.web.screen import screen


@screen("GET")
def bias(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_BIAS, here="bias")
    watch = bias_watch(room.project)
    context = {
        "room": room,
        "watch": watch,
        "rows": [*watch.people, watch.project] if len(watch.people) > 1 else watch.people,
        "is_always_shown": room.project.reveal == Project.Reveal.SHOWN,
        "fewest": FEWEST,
    }
    return render(request, "reviewing/bias/page.html", context)


@screen("GET")
def bias_file(request: Request, slug: str) -> HttpResponse:
    """The same as CSV or JSON."""
    room = enter(request, slug, Verb.VIEW_BIAS, here="bias")
    name = request.GET.get("format", "csv")
    body = as_bytes(bias_watch(room.project), name)
    return file_answer(body, content_type=CONTENT_TYPES[name], name=f"{room.project.slug}-bias.{name}")
