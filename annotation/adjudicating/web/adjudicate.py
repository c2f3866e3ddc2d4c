"""Adjudication: the queue of what differs, and one dispute in view with the answers that differ."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache

from annotation.adjudicating.queries.dispute_view import DisputeView, decision_of, own_decision
from annotation.adjudicating.queries.disputes import DisputeFilter, about, dispute_of, queue
from annotation.adjudicating.services import adjudicate as service
from annotation.adjudicating.services.see_dispute import see_dispute
from annotation.adjudicating.services.take_dispute import take_next
from annotation.adjudicating.web.dots import dot_axis
from annotation.core.permissions import Verb
from annotation.core.refusals import Conflict, Invalid
from annotation.core.words import ANSWERS
from annotation.models import Adjudication, Dispute, ErrorType
from annotation.reviewing.services.review import NOT_LOOKED
from annotation.scoring.score_changes import ScoreChange, score_changes, scores_now
from annotation.scoring.words import in_words
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.numbers import need_whole_number
from annotation.web.refusals import status_of
from annotation.web.rooms import Room, enter
from annotation.web.screen import screen

DISPUTE_ROOM = "#dispute-room"
PERCENTS = (0, 20, 40, 60, 80, 100)
KEYED_VOICES = 6
"""Voices A to F are taken over by their letter; further letters have other meanings."""


@screen("GET")
@never_cache
def adjudicate(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.ADJUDICATE, here="adjudicate")
    filters = _filters(request)
    after = request.GET.get("after", "")
    context = {
        "room": room,
        "filters": filters,
        "query": urlencode(filters.as_query()),
        "page": queue(room.project, request.user, filters, after=after),
        "choices": _choices(filters),
        "last": own_decision(room.project, request.GET.get("last", ""), request.user),
    }
    fragment = "adjudicating/_rows.html" if after else "adjudicating/_queue.html"
    return page_or_fragment(request, page="adjudicating/queue.html", fragment=fragment, context=context)


@screen("GET")
@never_cache
def dispute(request: Request, slug: str, dispute_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.ADJUDICATE, here="adjudicate")
    last = own_decision(room.project, request.GET.get("last", ""), request.user)
    return _show(request, room, dispute_of(room.project, dispute_id), last=last)


@screen("POST")
def next_dispute(request: Request, slug: str) -> HttpResponse:
    """Hand out the next dispute; `after` names the one that is left as it is."""
    room = enter(request, slug, Verb.ADJUDICATE, here="adjudicate")
    return _hand_out(request, room, after=request.POST.get("after", ""))


@screen("POST")
def decide_dispute(request: Request, slug: str, dispute_id: str) -> HttpResponse:
    """An adjudicator's decision; the next dispute is on screen at once, with the way back."""
    room = enter(request, slug, Verb.ADJUDICATE, here="adjudicate")
    row = dispute_of(room.project, dispute_id)
    peer = row.place.peer_id
    before = scores_now(peer)
    typed = _typed(request)
    try:
        decision = service.settle(
            dispute=row,
            by=request.user,
            label=typed["label"],
            percent=_percent(typed["percent"]),
            adopt=typed["adopt"],
            reason=typed["reason"],
            error_type=typed["error_type"],
            is_guideline_gap=typed["is_guideline_gap"] == "1",
            seen=request.POST.get("seen", NOT_LOOKED),
        )
    except (Conflict, Invalid) as refusal:
        return _show(request, room, dispute_of(room.project, dispute_id), refusal=refusal, typed=typed)
    moved = score_changes(before, scores_now(peer))
    return _hand_out(request, room, after=dispute_id, last=decision, moved=moved)


@screen("POST")
def withdraw_decision(request: Request, slug: str, decision_id: str) -> HttpResponse:
    """Undo: the decision is taken back, and what it was about is on screen again."""
    room = enter(request, slug, Verb.ADJUDICATE, here="adjudicate")
    decision = decision_of(room.project, decision_id)
    service.withdraw_decision(decision=decision, by=request.user)
    found = about(decision).values_list("public_id", flat=True).first()
    if found is None:
        messages.success(request, "Decision withdrawn.")
        return _elsewhere(request, _address(room, filters=_filters(request)))
    return _go_to(request, room, found, note="Decision withdrawn. The dispute is open again.")


@screen("POST")
def reopen_dispute(request: Request, slug: str, dispute_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.ADJUDICATE, here="adjudicate")
    row = dispute_of(room.project, dispute_id)
    reason = request.POST.get("reason", "")
    try:
        service.reopen_dispute(
            dispute=row, by=request.user, reason=reason, seen=request.POST.get("seen", NOT_LOOKED)
        )
    except Conflict as refusal:
        return _show(request, room, dispute_of(room.project, dispute_id), refusal=refusal)
    return _go_to(request, room, dispute_id, note="Reopened: decide again.")


def _typed(request: Request) -> dict[str, str]:
    """What was in the form; a percent that was typed counts where its own button sent the form."""
    posted = {
        name: request.POST.get(name, "")
        for name in ("adopt", "label", "percent", "reason", "error_type", "is_guideline_gap")
    }
    own = request.POST.get("own_percent", "").strip()
    return {**posted, "percent": own if "typed" in request.POST else posted["percent"], "own_percent": own}


def _percent(text: str) -> int | None:
    if not text:
        return None
    return need_whole_number(
        text, "A percent must be a whole number from 0 to 100.", field="percent", most=100
    )


def _hand_out(
    request: Request,
    room: Room,
    *,
    after: str,
    last: Adjudication | None = None,
    moved: Sequence[ScoreChange] = (),
) -> HttpResponse:
    """The next dispute of the queue in hand and on screen; the queue itself where nothing is left."""
    filters = _filters(request)
    # A list of settled ones hands nothing out: from there the open ones come.
    waiting = DisputeFilter(kind=filters.kind, why=filters.why)
    taken = take_next(project=room.project, by=request.user, filters=waiting, after=after)
    if taken is None:
        told = _in_words(last, moved) if last else "No disputes to resolve."
        messages.success(request, told)
        return _elsewhere(request, _address(room, filters=waiting, last=last))
    if not request.htmx:
        return redirect(_address(room, taken.public_id, filters=waiting, last=last))
    row = dispute_of(room.project, taken.public_id)
    response = _show(request, room, row, last=last, moved=moved)
    response["HX-Push-Url"] = _address(room, taken.public_id, filters=waiting, last=last)
    return response


def _go_to(request: Request, room: Room, dispute_id: str, *, note: str) -> HttpResponse:
    address = _address(room, dispute_id, filters=_filters(request))
    if not request.htmx:
        messages.success(request, note)
        return redirect(address)
    response = _show(request, room, dispute_of(room.project, dispute_id), note=note)
    response["HX-Push-Url"] = address
    return response


def _elsewhere(request: Request, address: str) -> HttpResponse:
    if not request.htmx:
        return redirect(address)
    response = HttpResponse()
    response["HX-Redirect"] = address
    return response


def _show(
    request: Request,
    room: Room,
    row: Dispute,
    *,
    refusal: Conflict | Invalid | None = None,
    typed: dict[str, str] | None = None,
    last: Adjudication | None = None,
    moved: Sequence[ScoreChange] = (),
    note: str = "",
) -> HttpResponse:
    """The dispute as it stands now, with what was just done, or what could not be."""
    filters = _filters(request)
    is_whole = "1" in (request.GET.get("whole"), request.POST.get("whole"))
    view = see_dispute(dispute=row, by=request.user, filters=filters, whole_text=is_whole)
    claim = row.check_row.claim if row.check_row else None
    context = {
        "room": room,
        "view": view,
        "filters": filters,
        "query": urlencode(filters.as_query()),
        "claim_id": claim.public_id if claim else "",
        "comments": claim.comments.filter(withdrawn_at=None).count() if claim else 0,
        "axis": dot_axis(view.voices),
        "answers": _answers(view),
        "percents": _percents(view),
        "adoptable": [
            (voice, voice.letter.lower() if place < KEYED_VOICES else "")
            for place, voice in enumerate(view.voices)
        ],
        "said_percents": " ".join(str(voice.percent) for voice in view.voices if voice.percent is not None),
        "error_types": ErrorType.choices,
        "refusal": refusal,
        "typed": typed or {},
        "last": last,
        "last_in_words": _in_words(last, moved) if last else "",
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
        # Errors are put where the page keeps its notices, unless the answer says otherwise.
        response["HX-Retarget"] = DISPUTE_ROOM
    return response


def _answers(view: DisputeView) -> list[tuple[str, str, str, bool]]:
    """The answers to a check: label, word, keys, and whether nobody gave it. `p` is the only one that nobody gave."""
    lonely = view.nobody_said
    return [
        (label, word, f"{key} p" if lonely == (label,) else key, label in lonely)
        for label, word, key in ANSWERS
    ]


def _percents(view: DisputeView) -> list[tuple[int, str, bool]]:
    """The percents to choose from: the percent, its keys as in the SEE form, and whether nobody gave it."""
    said = {voice.percent for voice in view.voices}
    return [
        (percent, f"{key} 0" if percent == 0 else str(key), percent not in said)
        for key, percent in enumerate(PERCENTS, start=1)
    ]


def _in_words(decision: Adjudication, moved: Sequence[ScoreChange]) -> str:
    """What a decision did, such as "Resolved: yes. Coverage 0.500 → 0.750."."""
    told = f"Resolved: {decision.label or f'{decision.percent} %'}."
    return f"{told} {in_words([change for change in moved if change.is_moved])}"


def _filters(request: Request) -> DisputeFilter:
    return DisputeFilter.read(*(request.GET.get(name, "") for name in ("kind", "why", "state")))


def _address(
    room: Room, dispute_id: str = "", *, filters: DisputeFilter, last: Adjudication | None = None
) -> str:
    slug = room.project.slug
    page = (
        reverse("dispute", kwargs={"slug": slug, "dispute_id": dispute_id})
        if dispute_id
        else reverse("adjudicate", kwargs={"slug": slug})
    )
    query = urlencode({**filters.as_query(), **({"last": last.public_id} if last else {})})
    return f"{page}?{query}" if query else page


def _choices(filters: DisputeFilter) -> list[tuple[str, list[tuple[str, str, bool]]]]:
    """The queue's switches: name, and per choice its words, its query and whether it is on."""
    plain = {"kind": "", "why": "", "state": "open"}
    now = {**plain, **filters.as_query()}

    def switch(name: str, options: list[tuple[str, str]]) -> list[tuple[str, str, bool]]:
        return [
            (
                words,
                urlencode({key: word for key, word in {**now, name: value}.items() if word != plain[key]}),
                now[name] == value,
            )
            for words, value in options
        ]

    return [
        ("Show", switch("state", [("Open", "open"), ("Resolved", "settled"), ("Agreed since", "agreed")])),
        ("Kind", switch("kind", [("Both", ""), ("Claims", "check"), ("Units", "unit")])),
        ("Reason", switch("why", [("Both", ""), ("Answers differ", "differs"), ("Audit", "audit")])),
    ]
