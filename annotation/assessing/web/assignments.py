"""Assign and unassign document sets, and show everybody's progress."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.template.defaultfilters import pluralize
from django.urls import reverse

from annotation.assessing.queries.assignments import (
    ASSIGNMENTS,
    assessor_progress,
    assessors_in,
    assignment_in,
    comparable_sets,
    lacking_sets,
    member_named,
    set_named,
)
from annotation.assessing.services.assign import assign as give
from annotation.assessing.services.assign import assign_sets as give_sets
from annotation.assessing.services.unassign import unassign as take_away
from annotation.core.permissions import Verb
from annotation.core.refusals import Conflict, Invalid
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.lists import list_page, listed
from annotation.web.numbers import need_whole_number
from annotation.web.rooms import Room, enter
from annotation.web.screen import screen

SETS_SHOWN = 500


@screen("GET")
def assignments(request: Request, slug: str) -> HttpResponseBase:
    room = enter(request, slug, Verb.ASSIGN, here="assignments")
    page = "assessing/assignments/page.html"
    return list_page(request, room, ASSIGNMENTS, page=page, context=_beside(request, room))


@screen("POST")
def assign(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.ASSIGN, here="assignments")
    try:
        document_set = set_named(room.project, request.POST.get("document_set", "").strip())
        assessor = member_named(room.project, request.POST.get("assessor", ""), field="assessor")
        give(document_set=document_set, assessor=assessor, by=request.user)
    except (Conflict, Invalid) as refusal:
        return _show(request, room, refusal=refusal)
    return _done(request, room, f"{assessor.username} has {document_set.external_id} to judge.")


@screen("POST")
def assign_sets(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.ASSIGN, here="assignments")
    try:
        per_set = need_whole_number(
            request.POST.get("per_set", ""), "Assessors per set is a whole number.", field="per_set"
        )
        people = [member_named(room.project, name, field="people") for name in request.POST.getlist("people")]
        given = give_sets(project=room.project, people=people, per_set=per_set, by=request.user)
    except Invalid as refusal:
        return _show(request, room, refusal=refusal)
    return _done(request, room, f"{len(given):,} assignment{pluralize(len(given))} created.")


@screen("POST")
def unassign(request: Request, slug: str, assignment_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.ASSIGN, here="assignments")
    assignment = take_away(assignment=assignment_in(room.project, assignment_id), by=request.user)
    name = assignment.document_set.external_id
    return _done(request, room, f"{name} was unassigned. Its judgments are kept but not counted.")


def _done(request: Request, room: Room, message: str) -> HttpResponse:
    messages.success(request, message)
    return _show(request, room) if request.htmx else redirect("assignments", slug=room.project.slug)


def _show(request: Request, room: Room, *, refusal: Conflict | Invalid | None = None) -> HttpResponse:
    address = reverse("assignments", args=[room.project.slug])
    return page_or_fragment(
        request,
        page="assessing/assignments/page.html",
        fragment="assessing/assignments/_room.html",
        context={
            **listed(request, room, ASSIGNMENTS, address=address),
            **_beside(request, room),
            "refusal": refusal,
        },
        status=422 if refusal else 200,
    )


def _beside(request: Request, room: Room) -> dict[str, object]:
    progress = assessor_progress(room.project)
    return {
        "progress": progress,
        "in_queue": lacking_sets(room.project).count(),
        "sets": comparable_sets(room.project).order_by("assessors", "external_id")[:SETS_SHOWN],
        "assessors": assessors_in(room.project),
        "form": request.POST,
        "people": request.POST.getlist("people") or [row.person for row in progress if row.is_assessor],
    }
