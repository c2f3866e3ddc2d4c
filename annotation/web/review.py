"""Review: the queue of checks, and one check in view with its answer."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache

from annotation.models import Check, Verdict
from annotation.permissions import Verb
from annotation.queries.check_view import (
    Change,
    changes,
    check_of,
    check_view,
    is_judge_visible,
    own_verdict,
    scores_now,
)
from annotation.queries.review_queue import Filter, Only, queue
from annotation.refusals import Conflict, Invalid
from annotation.services import review as service
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.refusals import status_of
from annotation.web.rooms import Room, enter
from annotation.web.screen import screen

CLAIM_ROOM = "#claim-room"
NAMES = {
    "coverage": "coverage",
    "claim_coverage": "claim coverage",
    "alignment": "alignment",
    "composite_2_3": "composite ⅔",
}


@screen("GET")
@never_cache
def review(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.REVIEW, here="review")
    filters = _filters(request)
    after = request.GET.get("after", "")
    context = {
        "room": room,
        "filters": filters,
        "query": urlencode(filters.as_query()),
        "page": queue(room.project, filters, after=after),
        "is_continued": bool(after),
        "sides": Check.Side.choices,
        "choices": _choices(filters),
    }
    fragment = "review/_rows.html" if after else "review/_queue.html"
    return page_or_fragment(request, page="review/queue.html", fragment=fragment, context=context)


@screen("GET")
@never_cache
def check(request: Request, slug: str, check_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.REVIEW, here="review")
    return _show(request, room, check_of(room.project, check_id))


@screen("POST")
def override(request: Request, slug: str, check_id: str) -> HttpResponse:
    """A reviewer's answer. The scores before and after are told; a newer answer of somebody else is a conflict."""
    room = enter(request, slug, Verb.REVIEW, here="review")
    row = check_of(room.project, check_id)
    before = scores_now(row)
    asked = request.POST.get("asked") == "1"
    typed = {"label": request.POST.get("label", ""), "reason": request.POST.get("reason", "")}
    try:
        verdict = service.override(
            check=row,
            by=request.user,
            label=typed["label"],
            reason=typed["reason"],
            evidence=_evidence(request),
            shown=_shown(row, request, asked=asked),
            seen=request.POST.get("seen", service.NOT_LOOKED),
        )
    except (Conflict, Invalid) as refusal:
        return _show(request, room, row, refusal=refusal, typed=typed)
    moved = changes(before, scores_now(row))
    if not request.htmx:
        messages.success(request, f"Saved: {verdict.label}. {_in_words(moved)}")
        return redirect(_address(slug, check_id, _filters(request)))
    return _show(request, room, check_of(room.project, check_id), saved=verdict, moved=moved)


@screen("POST")
def withdraw_verdict(request: Request, slug: str, check_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.REVIEW, here="review")
    row = check_of(room.project, check_id)
    before = scores_now(row)
    verdict = own_verdict(row, request.user, request.POST.get("verdict", ""))
    service.withdraw_verdict(verdict=verdict, by=request.user)
    moved = changes(before, scores_now(row))
    if not request.htmx:
        messages.success(request, f"Your answer is taken back. {_in_words(moved)}")
        return redirect(_address(slug, check_id, _filters(request)))
    return _show(request, room, check_of(room.project, check_id), withdrawn=verdict, moved=moved)


def _show(
    request: Request,
    room: Room,
    row: Check,
    *,
    refusal: Conflict | Invalid | None = None,
    typed: dict[str, str] | None = None,
    saved: Verdict | None = None,
    withdrawn: Verdict | None = None,
    moved: list[Change] | None = None,
) -> HttpResponse:
    """The check as it stands now, with what was just done to it or what could not be."""
    filters = _filters(request)
    asked = "1" in (request.GET.get("judge"), request.POST.get("asked"))
    is_whole = "1" in (request.GET.get("whole"), request.POST.get("whole"))
    view = check_view(row, request.user, filters, asked=asked, whole_text=is_whole)
    context = {
        "room": room,
        "view": view,
        "filters": filters,
        "query": urlencode(filters.as_query()),
        "asked": asked,
        "refusal": refusal,
        "typed": typed or {"reason": view.own.reason if view.own else ""},
        "saved": saved,
        "withdrawn": withdrawn,
        "moved": moved or [],
        "moved_in_words": _in_words(moved or []),
        "answers": (("yes", "Yes", "1"), ("no", "No", "2"), ("unsure", "Unsure", "3")),
    }
    response = page_or_fragment(
        request,
        page="review/check.html",
        fragment="review/_check.html",
        context=context,
        status=status_of(refusal) if refusal else 200,
    )
    if refusal:
        # Errors are put where the page keeps its notices, unless the answer says otherwise.
        response["HX-Retarget"] = CLAIM_ROOM
    return response


def _shown(row: Check, request: Request, *, asked: bool) -> str:
    visible = is_judge_visible(row, request.user, asked=asked)
    return Verdict.Shown.JUDGE if visible else Verdict.Shown.NOTHING


def _evidence(request: Request) -> list[int]:
    numbers = request.POST.getlist("evidence")
    wrong = next((number for number in numbers if not number.isdecimal()), None)
    if wrong is not None:
        raise Invalid(f"Evidence holds unit numbers, not {wrong!r}.", field="evidence")
    return [int(number) for number in numbers]


def _filters(request: Request) -> Filter:
    return Filter.read(*(request.GET.get(name, "") for name in ("order", "only", "side", "label")))


def _address(slug: str, check_id: str, filters: Filter) -> str:
    page = reverse("check", kwargs={"slug": slug, "check_id": check_id})
    query = urlencode(filters.as_query())
    return f"{page}?{query}" if query else page


def _in_words(moved: list[Change]) -> str:
    """What an answer did, such as "Coverage 0.500 → 0.750, alignment unchanged."."""
    if not any(change.is_moved for change in moved):
        return "No score moves."
    words = ", ".join(
        f"{NAMES[change.name]} {_number(change.before)} → {_number(change.after)}"
        if change.is_moved
        else f"{NAMES[change.name]} unchanged"
        for change in moved
    )
    return f"{words[0].upper()}{words[1:]}."


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _choices(filters: Filter) -> list[tuple[str, list[tuple[str, str, bool]]]]:
    """The queue's switches: name, and per choice its words, its query and whether it is on."""
    plain = {"order": "doubt", "only": "waiting", "side": "", "label": ""}
    now = {**plain, **filters.as_query()}

    def query_with(name: str, value: str) -> str:
        changed = {**now, name: value}
        if changed["only"] == Only.WAITING:
            changed["label"] = ""
        return urlencode({word: choice for word, choice in changed.items() if choice != plain[word]})

    def switch(name: str, options: list[tuple[str, str]]) -> list[tuple[str, str, bool]]:
        return [(words, query_with(name, value), now[name] == value) for value, words in options]

    switches = [
        ("Order", switch("order", [("doubt", "Most doubtful"), ("effect", "Largest effect")])),
        (
            "Show",
            switch(
                "only",
                [
                    ("waiting", "Unanswered"),
                    ("disputed", "Disputed"),
                    ("answered", "Answered"),
                    ("all", "All"),
                ],
            ),
        ),
        ("Side", switch("side", [("", "Both"), ("reference", "Reference"), ("peer", "Peer")])),
    ]
    if filters.only != Only.WAITING:
        labels = [("", "Anything"), ("yes", "Yes"), ("no", "No"), ("unsure", "Unsure")]
        switches.append(("People said", switch("label", labels)))
    return switches
