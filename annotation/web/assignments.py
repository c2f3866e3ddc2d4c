"""A manager hands document sets to assessors and sees how far they are."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.shortcuts import redirect

from annotation.models import DocumentSet
from annotation.permissions import Verb
from annotation.queries.assignments import assessors_in, assignable_sets, sittings_in
from annotation.refusals import Conflict, Invalid
from annotation.services.assign import assign as give
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.rooms import Room, enter
from annotation.web.screen import screen


@screen("GET")
def assignments(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.ASSIGN, here="assignments")
    return _show(request, room)


@screen("POST")
def assign(request: Request, slug: str) -> HttpResponse:
    """Give the chosen sets to the chosen assessor; what is refused is told set by set."""
    room = enter(request, slug, Verb.ASSIGN, here="assignments")
    chosen = request.POST.getlist("sets")
    assessor = User.objects.filter(
        username=request.POST.get("assessor", ""), memberships__project=room.project
    ).first()
    if assessor is None or not chosen:
        what = "an assessor of this project" if assessor is None else "at least one document set"
        return _show(request, room, refusals=[Invalid(f"Choose {what}.")], chosen=chosen)
    sets = DocumentSet.objects.filter(project=room.project, public_id__in=chosen).select_related("project")
    given, refusals = 0, []
    for document_set in sets:
        try:
            give(document_set=document_set, assessor=assessor, by=request.user)
            given += 1
        except (Conflict, Invalid) as refusal:
            refusals.append(refusal)
    if given:
        sets_in_words = "1 document set" if given == 1 else f"{given} document sets"
        messages.success(request, f"{assessor.username} has {sets_in_words} to judge.")
    if refusals:
        return _show(request, room, refusals=refusals, chosen=chosen)
    return _show(request, room) if request.htmx else redirect("assignments", slug=slug)


def _show(
    request: Request,
    room: Room,
    *,
    refusals: list[Conflict | Invalid] | None = None,
    chosen: list[str] | None = None,
) -> HttpResponse:
    context = {
        "room": room,
        "sittings": sittings_in(room.project),
        "sets": assignable_sets(room.project),
        "assessors": assessors_in(room.project),
        "refusals": refusals or [],
        "chosen": chosen or [],
        "typed": request.POST.get("assessor", ""),
    }
    return page_or_fragment(
        request,
        page="assignments/page.html",
        fragment="assignments/_room.html",
        context=context,
        status=422 if refusals else 200,
    )
