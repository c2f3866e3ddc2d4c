"""The pages for joining and splitting units of summaries."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse

from annotation.core.lists import Viewer
from annotation.core.permissions import Verb
from annotation.core.refusals import Conflict, Invalid, NotFound
from annotation.models import Summary
from annotation.texts.queries.sets_of_texts import SETS_OF_TEXTS
from annotation.texts.queries.unit_texts import (
    cut_of,
    refuse_own_open_set,
    summaries_in_order,
    summary_to_cut,
)
from annotation.texts.services import change_units
from annotation.web.htmx import Request
from annotation.web.lists import list_page
from annotation.web.numbers import need_whole_number, whole_number
from annotation.web.refusals import status_of
from annotation.web.rooms import Room, enter, found
from annotation.web.screen import screen


@screen("GET")
def unit_texts(request: Request, slug: str) -> HttpResponseBase:
    room = enter(request, slug, Verb.CHANGE_UNITS, here="unit-texts")
    unjudged = SETS_OF_TEXTS.rows(Viewer(request.user, room.project, room.verbs)).filter(is_judged=False)
    page, context = "texts/units/texts.html", {"open": unjudged.count()}
    return list_page(request, room, SETS_OF_TEXTS, page=page, context=context)


@screen("GET")
def units_of_set(request: Request, slug: str, set_id: str) -> HttpResponse:
    """Redirect to the units of the set's first reference or, without references, its first summary."""
    room = enter(request, slug, Verb.CHANGE_UNITS, here="unit-texts")
    document_set = found(room.project.document_sets.all(), set_id, "document set")
    first = summaries_in_order(document_set.summaries.all()).first()
    if first is None:
        raise NotFound("This document set has neither references nor summaries.")
    refuse_own_open_set(request.user, first)
    return redirect("units", slug=slug, summary_id=first.public_id)


@screen("GET")
def units(request: Request, slug: str, summary_id: str) -> HttpResponse:
    room, summary = _enter(request, slug, summary_id)
    return _show(request, room, summary)


@screen("POST")
def join(request: Request, slug: str, summary_id: str) -> HttpResponse:
    def act(summary: Summary) -> None:
        unit_id = request.POST.get("unit", "")
        change_units.join_units(summary=summary, by=request.user, unit_id=unit_id, seen=_seen(request))

    return _act(request, slug, summary_id, act, "Joined.")


@screen("POST")
def split(request: Request, slug: str, summary_id: str) -> HttpResponse:
    def act(summary: Summary) -> None:
        change_units.split_unit(
            summary=summary,
            by=request.user,
            unit_id=request.POST.get("unit", ""),
            at=need_whole_number(request.POST.get("at", ""), "Choose where to split the unit.", field="at"),
            seen=_seen(request),
        )

    return _act(request, slug, summary_id, act, "Split.")


def _act(
    request: Request, slug: str, summary_id: str, act: Callable[[Summary], None], said: str
) -> HttpResponse:
    room, summary = _enter(request, slug, summary_id)
    try:
        act(summary)
    except (Conflict, Invalid, NotFound) as refusal:
        return _show(request, room, summary, refusal)
    messages.success(request, said)
    page = reverse("units", kwargs={"slug": slug, "summary_id": summary.public_id})
    return redirect(f"{page}#unit-{whole_number(request.POST.get('number', '')) or 1}")


def _enter(request: Request, slug: str, summary_id: str) -> tuple[Room, Summary]:
    room = enter(request, slug, Verb.CHANGE_UNITS, here="unit-texts")
    return room, summary_to_cut(room.project, request.user, summary_id)


def _show(
    request: Request, room: Room, summary: Summary, refusal: Conflict | Invalid | NotFound | None = None
) -> HttpResponse:
    context = {"room": room, "cut": cut_of(summary, request.user), "refusal": refusal}
    return render(request, "texts/units/page.html", context, status=status_of(refusal) if refusal else 200)


def _seen(request: Request) -> str | None:
    return request.POST.get("seen") or None
