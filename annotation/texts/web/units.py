"""A manager reviews how summaries are cut into units. Every act is a plain form; scripts only save the way to it."""

from __future__ import annotations

import re
from collections.abc import Callable

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from annotation.core.permissions import Verb
from annotation.core.refusals import Conflict, Invalid, NotFound
from annotation.models import Summary
from annotation.texts.queries.unit_texts import cut_of, text_page, text_to_cut
from annotation.texts.services import change_units
from annotation.texts.services.reopen_units import reopen_units as reopen
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.listing import listing_of
from annotation.web.numbers import need_whole_number, whole_number
from annotation.web.refusals import status_of
from annotation.web.rooms import Room, enter
from annotation.web.screen import screen


@screen("GET")
def texts(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.CHANGE_UNITS, here="unit-texts")
    listing = listing_of(request, what="document sets and summaries", target="#texts")
    page = text_page(room.project, request.user, wanted=listing.words, after=listing.after)
    return render(request, "texts/units/texts.html", {"room": room, "page": page, "listing": listing})


@screen("GET")
def units(request: Request, slug: str, summary_id: str) -> HttpResponse:
    room, summary = _enter(request, slug, summary_id)
    return _show(request, room, summary)


@screen("POST")
def join(request: Request, slug: str, summary_id: str) -> HttpResponse:
    def act(summary: Summary) -> ActDone:
        unit_id = request.POST.get("unit", "")
        change_units.join_units(summary=summary, by=request.user, unit_id=unit_id, seen=_seen(request))
        hand = _hand(request)
        return hand, f"Joined: unit {hand}."

    return _act(request, slug, summary_id, act)


@screen("POST")
def split(request: Request, slug: str, summary_id: str) -> HttpResponse:
    def act(summary: Summary) -> ActDone:
        change_units.split_unit(
            summary=summary,
            by=request.user,
            unit_id=request.POST.get("unit", ""),
            at=_place(request.POST.get("at", "")),
            seen=_seen(request),
        )
        hand = _hand(request)
        return hand, f"Split into units {hand} and {hand + 1}."

    return _act(request, slug, summary_id, act)


@screen("POST")
def undo(request: Request, slug: str, summary_id: str) -> HttpResponse:
    def act(summary: Summary) -> ActDone:
        change_units.undo_unit_change(summary=summary, by=request.user, seen=_seen(request))
        return _hand(request), "Undone."

    return _act(request, slug, summary_id, act)


@screen("POST")
def weigh(request: Request, slug: str, summary_id: str) -> HttpResponse:
    def act(summary: Summary) -> ActDone:
        seen = request.POST.get("was", "")
        unit = change_units.weigh_unit(
            summary=summary,
            by=request.user,
            unit_id=request.POST.get("unit", ""),
            weight=_weight(request.POST.get("weight", "")),
            seen=_weight(seen) if seen else None,
        )
        return unit.position, f"Unit {unit.position} has the weight {unit.weight:g}."

    return _act(request, slug, summary_id, act)


@screen("POST")
def reopen_units(request: Request, slug: str, summary_id: str) -> HttpResponse:
    def act(summary: Summary) -> ActDone:
        reopen(summary=summary, by=request.user, expected=_judgments(request.POST.get("expected", "")))
        return 1, "Units unlocked."

    return _act(request, slug, summary_id, act, verb=Verb.REOPEN_UNITS)


_THOUSANDS = re.compile(r",\d{3}(?!\d)")
"""Some write decimals so, others thousands."""

ActDone = tuple[int, str]
"""The unit that the hand is on after an act, and what was done."""


def _act(
    request: Request,
    slug: str,
    summary_id: str,
    act: Callable[[Summary], ActDone],
    *,
    verb: Verb = Verb.CHANGE_UNITS,
) -> HttpResponse:
    """Do it and show the text; a refusal shows it as it stands, with what was wanted."""
    room, summary = _enter(request, slug, summary_id, verb)
    try:
        hand, said = act(summary)
    except (Conflict, Invalid, NotFound) as refusal:
        return _show(request, room, summary, refusal=refusal)
    if request.htmx:
        return _show(request, room, summary, hand=hand, said=said)
    messages.success(request, said)
    page = reverse("units", kwargs={"slug": slug, "summary_id": summary.public_id})
    return redirect(f"{page}#unit-{hand}")


def _enter(
    request: Request, slug: str, summary_id: str, verb: Verb = Verb.CHANGE_UNITS
) -> tuple[Room, Summary]:
    room = enter(request, slug, verb, here="unit-texts")
    return room, text_to_cut(room.project, request.user, summary_id)


def _show(
    request: Request,
    room: Room,
    summary: Summary,
    *,
    hand: int = 1,
    said: str = "",
    refusal: Conflict | Invalid | NotFound | None = None,
) -> HttpResponse:
    """The text as it stands. With a refusal beside it what was wanted, so that nobody has to remember it."""
    cut = cut_of(summary, request.user)
    context = {
        "room": room,
        "cut": cut,
        "hand": min(_hand(request) if refusal else hand, len(cut.units)),
        "said": said,
        "refusal": refusal,
        "wanted": _wanted(refusal),
    }
    response = page_or_fragment(
        request,
        page="texts/units/page.html",
        fragment="texts/units/_text.html",
        context=context,
        status=status_of(refusal) if refusal else 200,
    )
    if request.htmx and refusal:
        # Named, so that it takes the text's place although it is a refusal.
        response["HX-Retarget"], response["HX-Reswap"] = "#units", "outerHTML"
    return response


def _wanted(refusal: Conflict | Invalid | NotFound | None) -> str:
    """The words that a refused act was about, where the cut that it was meant for has changed."""
    if refusal is None or refusal.code != "newer_cut":
        return ""
    yours = refusal.details.get("yours")
    if not isinstance(yours, dict):
        return ""
    match yours.get("act"), yours.get("text"):
        case "join", str(text):
            return f"Your change: join “{text}” with the next unit."
        case "split", str(text):
            return f"Your change: split “{text}”."
        case "undo", _:
            return "Your change: undo."
    return ""


def _seen(request: Request) -> str | None:
    return request.POST.get("seen") or None


def _hand(request: Request) -> int:
    """The number of the unit that the hand was on; 1 where the form does not say."""
    return whole_number(request.POST.get("hand", "")) or 1


def _place(text: str) -> int:
    return need_whole_number(text, "Choose where to split the unit.", field="at")


def _judgments(text: str) -> int:
    message = "Type the number of judgments that will no longer count."
    return need_whole_number(text, message, field="expected")


def _weight(text: str) -> float:
    if _THOUSANDS.search(text):
        raise Invalid(f"Write the weight {text!r} without a comma, such as 1000 or 0.125.", field="weight")
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        raise Invalid(f"The weight must be a number, not {text!r}.", field="weight") from None
