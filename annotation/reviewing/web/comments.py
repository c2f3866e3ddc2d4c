"""Comments on a claim or a unit: the thread as a page, or as the part of a page that holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect

from annotation.core.known_checks import knows
from annotation.core.permissions import Verb
from annotation.core.refusals import Invalid
from annotation.core.words import listed
from annotation.models import Check, Claim, Comment, Unit
from annotation.reviewing.queries.comments import (
    Thread,
    claim_in_sight,
    thread_of_claim,
    thread_of_unit,
    unit_in_sight,
)
from annotation.reviewing.services import comment as service
from annotation.reviewing.services.comment import Commented
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.rooms import Room, enter, found
from annotation.web.screen import screen

if TYPE_CHECKING:
    from django.contrib.auth.models import User

THREAD = "#thread"
"""The part of a page that every answer to its forms replaces."""


@screen("GET")
def claim_comments(request: Request, slug: str, claim_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.COMMENT, here="")
    return _show_claim(request, room, claim_in_sight(room.project, request.user, claim_id))


@screen("GET")
def unit_comments(request: Request, slug: str, unit_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.COMMENT, here="")
    return _show_unit(request, room, unit_in_sight(room.project, request.user, unit_id))


@screen("POST")
def comment_claim(request: Request, slug: str, claim_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.COMMENT, here="")
    claim = claim_in_sight(room.project, request.user, claim_id)
    text = request.POST.get("text", "")
    try:
        made = service.comment_on_claim(project=room.project, claim=claim, by=request.user, text=text)
    except Invalid as refusal:
        return _show_claim(request, room, claim, typed=text, refusal=refusal)
    _tell(request, made)
    return _show_claim(request, room, claim) if request.htmx else redirect("claim-comments", slug, claim_id)


@screen("POST")
def comment_unit(request: Request, slug: str, unit_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.COMMENT, here="")
    unit = unit_in_sight(room.project, request.user, unit_id)
    text = request.POST.get("text", "")
    try:
        made = service.comment_on_unit(project=room.project, unit=unit, by=request.user, text=text)
    except Invalid as refusal:
        return _show_unit(request, room, unit, typed=text, refusal=refusal)
    _tell(request, made)
    return _show_unit(request, room, unit) if request.htmx else redirect("unit-comments", slug, unit_id)


@screen("POST")
def withdraw_comment(request: Request, slug: str, comment_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.COMMENT, here="")
    own = Comment.objects.filter(project=room.project, author=request.user)
    comment = found(own.select_related("project", "claim", "unit"), comment_id, "comment of yours")
    service.withdraw_comment(comment=comment, by=request.user)
    messages.success(request, "Comment deleted.")
    if comment.claim is not None:
        if not request.htmx:
            return redirect("claim-comments", slug, comment.claim.public_id)
        return _show_claim(request, room, claim_in_sight(room.project, request.user, comment.claim.public_id))
    assert comment.unit is not None, "a comment is on a claim or a unit"
    if not request.htmx:
        return redirect("unit-comments", slug, comment.unit.public_id)
    return _show_unit(request, room, unit_in_sight(room.project, request.user, comment.unit.public_id))


def _tell(request: Request, made: Commented) -> None:
    if made.told:
        messages.success(request, f"Posted. Notified: {listed(made.told, most=None)}.")
    else:
        messages.success(request, "Posted.")
    if made.not_told:
        messages.warning(
            request, f"{listed(made.not_told, most=None)} cannot read this and was not notified."
        )
    if made.unknown:
        names = listed([f"@{name}" for name in made.unknown], most=None)
        messages.warning(
            request, f"Nobody here is called {names}: only members of the project can be notified."
        )


def _show_claim(
    request: Request, room: Room, claim: Claim, *, typed: str = "", refusal: Invalid | None = None
) -> HttpResponse:
    thread = thread_of_claim(room.project, claim, request.user)
    check_id = _to_review(room, claim, request.user) if Verb.REVIEW in room.verbs else ""
    return _show(request, room, thread, typed=typed, refusal=refusal, check_id=check_id)


def _to_review(room: Room, claim: Claim, person: User) -> str:
    """A check of the claim that the person has not answered yet, or else any."""
    checks = Check.objects.filter(project=room.project, claim=claim, is_current=True).order_by("pk")
    check = checks.filter(~knows(person)).first() or checks.first()
    return check.public_id if check else ""


def _show_unit(
    request: Request, room: Room, unit: Unit, *, typed: str = "", refusal: Invalid | None = None
) -> HttpResponse:
    thread = thread_of_unit(room.project, unit, request.user)
    return _show(request, room, thread, typed=typed, refusal=refusal)


def _show(
    request: Request,
    room: Room,
    thread: Thread,
    *,
    typed: str,
    refusal: Invalid | None,
    check_id: str = "",
) -> HttpResponse:
    context = {
        "room": room,
        "thread": thread,
        "typed": typed,
        "refusal": refusal,
        "check_id": check_id,
    }
    response = page_or_fragment(
        request,
        page="reviewing/comments/page.html",
        fragment="reviewing/comments/_thread.html",
        context=context,
        status=422 if refusal else 200,
    )
    if refusal:
        # Errors are put where the page keeps its notices, unless the answer says otherwise.
        response["HX-Retarget"] = THREAD
    return response
