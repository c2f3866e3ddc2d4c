"""Comments on a claim, as a page or as a part of a page."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect

from annotation.core.lists import Viewer
from annotation.core.permissions import Verb
from annotation.core.refusals import Invalid
from annotation.models import Check, Claim, Comment
from annotation.reviewing.queries.comments import claim_of, thread_of
from annotation.reviewing.queries.known_checks import answered
from annotation.reviewing.services import comment as service
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.rooms import Room, enter, found
from annotation.web.screen import screen

THREAD = "#thread"
"""The part of a page that the responses to its forms replace."""


@screen("GET")
def claim_comments(request: Request, slug: str, claim_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.COMMENT, here="")
    return _show(request, room, claim_of(room.project, claim_id))


@screen("POST")
def comment_claim(request: Request, slug: str, claim_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.COMMENT, here="")
    claim = claim_of(room.project, claim_id)
    text = request.POST.get("text", "")
    try:
        service.comment_on_claim(project=room.project, claim=claim, by=request.user, text=text)
    except Invalid as refusal:
        return _show(request, room, claim, typed=text, refusal=refusal)
    messages.success(request, "Posted.")
    return _show(request, room, claim) if request.htmx else redirect("claim-comments", slug, claim_id)


@screen("POST")
def withdraw_comment(request: Request, slug: str, comment_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.COMMENT, here="")
    own = Comment.objects.filter(project=room.project, author=request.user)
    comment = found(own.select_related("project", "claim"), comment_id, "comment of yours")
    service.withdraw_comment(comment=comment, by=request.user)
    messages.success(request, "Comment deleted.")
    claim_id = comment.claim.public_id
    if not request.htmx:
        return redirect("claim-comments", slug, claim_id)
    return _show(request, room, claim_of(room.project, claim_id))


def _show(
    request: Request, room: Room, claim: Claim, *, typed: str = "", refusal: Invalid | None = None
) -> HttpResponse:
    context = {
        "room": room,
        "thread": thread_of(Viewer(request.user, room.project, room.verbs), claim),
        "typed": typed,
        "refusal": refusal,
        "check_id": _to_review(request, claim) if Verb.REVIEW in room.verbs else "",
    }
    response = page_or_fragment(
        request,
        page="reviewing/comments/page.html",
        fragment="reviewing/comments/_thread.html",
        context=context,
        status=422 if refusal else 200,
    )
    if refusal:
        # Replace the thread, whichever target the request had, so that the form shows its error.
        response["HX-Retarget"] = THREAD
    return response


def _to_review(request: Request, claim: Claim) -> str:
    checks = Check.objects.filter(claim=claim, is_current=True).order_by("pk")
    check = checks.filter(~answered(request.user)).first() or checks.first()
    return check.public_id if check else ""
