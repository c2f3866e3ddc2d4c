"""A reviewer corrects the claims of a text. Every act is a plain form; scripts only save the way to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from annotation.core.permissions import Verb
from annotation.core.readers import CheckReader
from annotation.core.refusals import Conflict, Invalid, NotAllowed
from annotation.models import Claim, ClaimSet
from annotation.texts.queries.claims import (
    ClaimOwner,
    changes_in,
    claim_text,
    claims_in,
    of_owner,
    text_with_claims,
)
from annotation.texts.services import change_claims
from annotation.texts.services.change_claims import Changed
from annotation.texts.words import CLAIMS_LOCKED
from annotation.web.htmx import Request
from annotation.web.listing import listing_of
from annotation.web.numbers import need_whole_number
from annotation.web.refusals import status_of
from annotation.web.rooms import Room, enter, found
from annotation.web.screen import screen

MANY_CLAIMS = 20
"""So many claims of a text are searched rather than looked through."""


@screen("GET")
def claims(request: Request, slug: str, text_id: str) -> HttpResponse:
    room, owner = _enter(request, slug, text_id)
    return _show(request, room, owner)


@screen("POST")
def add(request: Request, slug: str, text_id: str) -> HttpResponse:
    def act(room: Room, owner: ClaimOwner) -> Changed:
        unit = _number(request.POST.get("unit", ""))
        return change_claims.add_claim(owner=owner, unit=unit, **_worded(request))

    return _change(request, slug, text_id, act, "Added.")


@screen("POST")
def reword(request: Request, slug: str, text_id: str) -> HttpResponse:
    def act(room: Room, owner: ClaimOwner) -> Changed:
        return change_claims.reword_claim(claim=_claim(room, owner, request), **_worded(request))

    return _change(request, slug, text_id, act, "Reworded.")


@screen("POST")
def split(request: Request, slug: str, text_id: str) -> HttpResponse:
    def act(room: Room, owner: ClaimOwner) -> Changed:
        texts = _lines(request.POST.get("texts", ""))
        return change_claims.split_claim(
            claim=_claim(room, owner, request), texts=texts, **_reasoned(request)
        )

    return _change(request, slug, text_id, act, "Split.")


@screen("POST")
def join(request: Request, slug: str, text_id: str) -> HttpResponse:
    def act(room: Room, owner: ClaimOwner) -> Changed:
        claims = [_claim_of(room, owner, each) for each in request.POST.getlist("claim")]
        return change_claims.join_claims(claims=claims, **_worded(request))

    return _change(request, slug, text_id, act, "Joined.")


@screen("POST")
def delete(request: Request, slug: str, text_id: str) -> HttpResponse:
    def act(room: Room, owner: ClaimOwner) -> Changed:
        return change_claims.delete_claim(claim=_claim(room, owner, request), **_reasoned(request))

    return _change(request, slug, text_id, act, "Deleted.")


@screen("POST")
def undo(request: Request, slug: str, text_id: str) -> HttpResponse:
    def act(room: Room, owner: ClaimOwner) -> Changed:
        change = found(changes_in(room.project), request.POST.get("change", ""), "change of claims")
        return change_claims.undo_claim_change(change=change, by=request.user)

    return _change(request, slug, text_id, act, "Undone.")


def _change(
    request: Request, slug: str, text_id: str, act: Callable[[Room, ClaimOwner], Changed], said: str
) -> HttpResponse:
    """Do it and go back to the claims; a refusal shows them as they stand, with what was typed."""
    room, owner = _enter(request, slug, text_id)
    try:
        changed = act(room, owner)
    except (Conflict, Invalid, NotAllowed) as refusal:
        return _show(request, room, owner, refusal)
    messages.success(request, f"{said} {_what_follows(room, changed)}".rstrip())
    page = reverse("claims", kwargs={"slug": room.project.slug, "text_id": owner.public_id})
    return redirect(f"{page}#claim-{changed.claims[0].public_id}" if changed.claims else page)


def _enter(request: Request, slug: str, text_id: str) -> tuple[Room, ClaimOwner]:
    room = enter(request, slug, Verb.CHANGE_CLAIMS, here="review")
    return room, text_with_claims(room.project, text_id)


def _claim(room: Room, owner: ClaimOwner, request: Request) -> Claim:
    return _claim_of(room, owner, request.POST.get("claim", ""))


def _claim_of(room: Room, owner: ClaimOwner, public_id: str) -> Claim:
    """The claim of that id in the text, whether or not it still stands: the service says where it does not."""
    lists = ClaimSet.objects.filter(of_owner(owner))
    return found(claims_in(room.project).filter(claim_set__in=lists), public_id, "claim")


def _reasoned(request: Request) -> dict[str, Any]:
    return {"by": request.user, "reason": request.POST.get("reason", "")}


def _worded(request: Request) -> dict[str, Any]:
    return {**_reasoned(request), "text": request.POST.get("text", "")}


def _what_follows(room: Room, changed: Changed) -> str:
    if changed.waits:
        return changed.waits
    if changed.run is None or room.project.deciding_judge is None:
        return ""
    return f"Open checks are sent to {room.project.deciding_judge.name}."


def _show(
    request: Request, room: Room, owner: ClaimOwner, refusal: Conflict | Invalid | NotAllowed | None = None
) -> HttpResponse:
    """The claims as they stand. With a refusal beside it what was wanted, so that nothing typed is lost."""
    yours = refusal.details.get("yours") if refusal else None
    theirs = refusal.details.get("theirs") if refusal else None
    text = claim_text(owner, names_systems=CheckReader.holding(request.user, room.verbs).names_systems)
    # The whole page at each search: the script has a hand on the claims that it was opened with.
    page = reverse("claims", args=[room.project.slug, owner.public_id])
    listing = listing_of(request, address=page, what="the claims of this text", target="")
    context = {
        "room": room,
        "text": text,
        "listing": listing,
        "groups": text.holding(listing.words),
        "is_searched": listing.words or text.count >= MANY_CLAIMS,
        "refusal": refusal,
        "wanted": _wanted(request) if refusal else [],
        "why_locked": CLAIMS_LOCKED,
        "yours": yours,
        "theirs": theirs,
    }
    return render(request, "texts/claims/page.html", context, status=status_of(refusal) if refusal else 200)


def _wanted(request: Request) -> list[str]:
    """The words that were typed."""
    return _lines(request.POST.get("texts", "")) or _lines(request.POST.get("text", ""))


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _number(text: str) -> int | None:
    """The number of a unit; None where none was named."""
    if not text.strip():
        return None
    return need_whole_number(text, f"A unit is named by its number, not by {text!r}.", field="unit")
