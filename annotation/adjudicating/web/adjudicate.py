"""The page with the queue of disputes, and the page for deciding a dispute."""

from __future__ import annotations

from collections.abc import Mapping

from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache

from annotation.adjudicating.queries.disputes import (
    DISPUTES,
    about,
    decision_of,
    dispute_of,
    open_disputes,
)
from annotation.adjudicating.services import adjudicate as service
from annotation.adjudicating.services.see_dispute import see_dispute
from annotation.adjudicating.services.take_dispute import take_next
from annotation.core.permissions import Verb
from annotation.core.refusals import Conflict, Invalid
from annotation.models import Dispute, ErrorType
from annotation.reviewing.services.review import NOT_LOOKED, withdraw_answer
from annotation.scoring.score_changes import in_words, score_changes, scores_now
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.lists import list_page
from annotation.web.numbers import need_whole_number
from annotation.web.refusals import status_of
from annotation.web.rooms import Room, enter
from annotation.web.screen import screen

HERE = "adjudicate"
PERCENTS = tuple((percent, str(percent)) for percent in range(0, 101, 20))


@screen("GET")
@never_cache
def adjudicate(request: Request, slug: str) -> HttpResponseBase:
    room = enter(request, slug, Verb.ADJUDICATE, here=HERE)
    context = {"count": open_disputes(room.project).count()}
    return list_page(request, room, DISPUTES, page="adjudicating/queue.html", context=context)


@screen("GET")
@never_cache
def dispute(request: Request, slug: str, dispute_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.ADJUDICATE, here=HERE)
    return _show(request, room, dispute_of(room.project, dispute_id))


@screen("POST")
def next_dispute(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.ADJUDICATE, here=HERE)
    return _hand_out(request, room, after=request.POST.get("after", ""), note="")


@screen("POST")
def decide_dispute(request: Request, slug: str, dispute_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.ADJUDICATE, here=HERE)
    row = dispute_of(room.project, dispute_id)
    before = scores_now(row.place)
    try:
        decision = service.settle(
            dispute=row,
            by=request.user,
            label=request.POST.get("label", ""),
            **{"percent" if row.criterion_id is None else "rating": _number(request)},
            reason=request.POST.get("reason", ""),
            error_type=request.POST.get("error_type", ""),
            seen=request.POST.get("seen", NOT_LOOKED),
        )
    except (Conflict, Invalid) as refusal:
        return _show(request, room, dispute_of(room.project, dispute_id), refusal=refusal, typed=request.POST)
    moved = [change for change in score_changes(before, scores_now(row.place)) if change.is_moved]
    return _hand_out(request, room, after=dispute_id, note=f"Resolved: {decision}. {in_words(moved)}")


@screen("POST")
def withdraw_decision(request: Request, slug: str, decision_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.ADJUDICATE, here=HERE)
    decision = decision_of(room.project, decision_id)
    withdraw_answer(answer=decision, by=request.user)
    messages.success(request, "Decision withdrawn.")
    found = about(decision).values_list("public_id", flat=True).first()
    return redirect("dispute", slug, found) if found else redirect("adjudicate", slug)


def _number(request: Request) -> int | None:
    text = request.POST.get("own_percent" if "typed" in request.POST else "percent", "").strip()
    if not text:
        return None
    return need_whole_number(
        text, "A percent must be a whole number from 0 to 100.", field="percent", most=100
    )


def _hand_out(request: Request, room: Room, *, after: str, note: str) -> HttpResponse:
    taken = take_next(project=room.project, by=request.user, after=after)
    if taken is not None and request.htmx:
        response = _show(request, room, dispute_of(room.project, taken.public_id), note=note)
        response["HX-Push-Url"] = reverse("dispute", args=[room.project.slug, taken.public_id])
        return response
    if note or taken is None:
        messages.success(request, note or "No disputes to resolve.")
    if taken is not None:
        return redirect("dispute", room.project.slug, taken.public_id)
    if not request.htmx:
        return redirect("adjudicate", room.project.slug)
    response = HttpResponse()
    response["HX-Redirect"] = reverse("adjudicate", args=[room.project.slug])
    return response


def _show(
    request: Request,
    room: Room,
    row: Dispute,
    *,
    refusal: Conflict | Invalid | None = None,
    typed: Mapping[str, str] | None = None,
    note: str = "",
) -> HttpResponse:
    claim = row.check_row.claim if row.check_row else None
    view = see_dispute(dispute=row, by=request.user)
    context = {
        "room": room,
        "view": view,
        "claim_id": claim.public_id if claim else "",
        "comments": claim.comments.filter(withdrawn_at=None).count() if claim else 0,
        "left": open_disputes(room.project).count(),
        "numbers": view.choices or PERCENTS,
        "error_types": ErrorType.choices,
        "refusal": refusal,
        "typed": typed or {},
        "note": note,
    }
    response = page_or_fragment(
        request,
        page="adjudicating/dispute.html",
        fragment="adjudicating/_dispute.html",
        context=context,
        status=status_of(refusal) if refusal else 200,
    )
    if refusal:
        # Show the error on the dispute. Without this header the browser shows it in the page's notices.
        response["HX-Retarget"] = "#dispute-room"
    return response
