"""The page with the claims of a text."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from annotation.core.lists import searched_for
from annotation.core.permissions import Verb
from annotation.core.refusals import Conflict, Invalid, NotAllowed
from annotation.models import Claim, ClaimSet
from annotation.texts.queries.claims import (
    ClaimOwner,
    claim_text,
    claims_in,
    of_owner,
    text_with_claims,
)
from annotation.texts.services import change_claims
from annotation.web.htmx import Request
from annotation.web.numbers import need_whole_number
from annotation.web.refusals import status_of
from annotation.web.rooms import Room, enter, found
from annotation.web.screen import screen

MANY_CLAIMS = 20
"""With this number of claims or more, the page has a search field."""


@screen("GET")
def claims(request: Request, slug: str, text_id: str) -> HttpResponse:
    room, owner = _enter(request, slug, text_id)
    return _show(request, room, owner)


@screen("POST")
def add(request: Request, slug: str, text_id: str) -> HttpResponse:
    def act(room: Room, owner: ClaimOwner) -> Claim:
        unit = _number(request.POST.get("unit", ""))
        return change_claims.add_claim(owner=owner, unit=unit, by=request.user, text=_text(request))

    return _change(request, slug, text_id, act, "Added.")


@screen("POST")
def reword(request: Request, slug: str, text_id: str) -> HttpResponse:
    def act(room: Room, owner: ClaimOwner) -> Claim:
        claim = _claim(room, owner, request)
        return change_claims.reword_claim(claim=claim, by=request.user, text=_text(request))

    return _change(request, slug, text_id, act, "Reworded.")


@screen("POST")
def remove(request: Request, slug: str, text_id: str) -> HttpResponse:
    def act(room: Room, owner: ClaimOwner) -> None:
        change_claims.remove_claim(claim=_claim(room, owner, request), by=request.user)

    return _change(request, slug, text_id, act, "Removed.")


def _change(
    request: Request, slug: str, text_id: str, act: Callable[[Room, ClaimOwner], Claim | None], said: str
) -> HttpResponse:
    room, owner = _enter(request, slug, text_id)
    try:
        made = act(room, owner)
    except (Conflict, Invalid, NotAllowed) as refusal:
        return _show(request, room, owner, refusal)
    messages.success(request, said)
    page = reverse("claims", kwargs={"slug": room.project.slug, "text_id": owner.public_id})
    return redirect(f"{page}#claim-{made.public_id}" if made else page)


def _enter(request: Request, slug: str, text_id: str) -> tuple[Room, ClaimOwner]:
    room = enter(request, slug, Verb.CHANGE_CLAIMS, here="review")
    return room, text_with_claims(room.project, text_id)


def _claim(room: Room, owner: ClaimOwner, request: Request) -> Claim:
    lists = ClaimSet.objects.filter(of_owner(owner))
    claims = claims_in(room.project).filter(claim_set__in=lists)
    return found(claims, request.POST.get("claim", ""), "claim")


def _text(request: Request) -> str:
    return request.POST.get("text", "")


def _show(
    request: Request, room: Room, owner: ClaimOwner, refusal: Conflict | Invalid | NotAllowed | None = None
) -> HttpResponse:
    text = claim_text(owner, names_systems=Verb.VIEW_SCORES in room.verbs)
    words = searched_for(request.GET.get("q", ""))
    context = {
        "room": room,
        "text": text,
        "page": reverse("claims", args=[room.project.slug, owner.public_id]),
        "words": words,
        "groups": text.holding(words),
        "is_searched": words or text.count >= MANY_CLAIMS,
        "refusal": refusal,
        "wanted": _text(request) if refusal else "",
        "theirs": refusal.details.get("theirs") if refusal else None,
        "why_locked": change_claims.CLAIMS_LOCKED,
    }
    return render(request, "texts/claims/page.html", context, status=status_of(refusal) if refusal else 200)


def _number(text: str) -> int | None:
    if not text.strip():
        return None
    return need_whole_number(text, f"A unit is named by its number, not by {text!r}.", field="unit")
