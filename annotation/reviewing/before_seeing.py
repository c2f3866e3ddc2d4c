"""A warning before pages with verdicts, if seeing them would prevent blind answers to sampled checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.shortcuts import render

from annotation.core.permissions import Verb
from annotation.models import SampledCheck
from annotation.models.assignment import AWAITED
from annotation.reviewing.queries.known_checks import knows

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpResponse

    from annotation.models import Check
    from annotation.web.htmx import Request
    from annotation.web.rooms import Room


def ask_before_seeing(request: Request, room: Room, checks: QuerySet[Check]) -> HttpResponse | None:
    """Return a warning page if the reader could still answer one of these checks blind in an open sample; else None.

    Returns None also if the reader chose to continue.
    """
    if Verb.REVIEW not in room.verbs or "anyway" in request.GET:
        return None
    # Start from the few waiting checks, because a page may cover a million checks.
    waiting = SampledCheck.objects.filter(AWAITED, sample__project=room.project).values("check_row")
    lost = checks.filter(pk__in=waiting).exclude(knows(request.user)).order_by().count()
    if not lost:
        return None
    query = request.GET.copy()
    query["anyway"] = "1"
    context = {"room": room, "lost": lost, "anyway": f"{request.path}?{query.urlencode()}"}
    return render(request, "reviewing/before_seeing.html", context)
