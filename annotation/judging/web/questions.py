"""The page of a document set's questions: show, add and retire."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect

from annotation.core.permissions import Verb
from annotation.core.refusals import Conflict, Invalid
from annotation.judging.services.ask_questions import ask_questions as give
from annotation.judging.services.ask_questions import retire_question as take_out
from annotation.judging.services.running.questions import questions_about
from annotation.models import Claim, ClaimOrigin, DocumentSet
from annotation.models.claim import QUESTIONS
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.rooms import Room, enter, found
from annotation.web.screen import screen


@screen("GET")
def questions(request: Request, slug: str, set_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_SCORES, here="document-sets")
    return _show(request, room, _document_set(room, set_id))


@screen("POST")
def ask_questions(request: Request, slug: str, set_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.CHANGE_PROJECT, here="document-sets")
    document_set = _document_set(room, set_id)
    texts = [line for line in request.POST.get("questions", "").splitlines() if line.strip()]
    try:
        asked = give(
            document_set=document_set,
            texts=texts,
            retire_made_up="retire_made_up" in request.POST,
            by=request.user,
        )
    except (Conflict, Invalid) as refusal:
        return _show(request, room, document_set, refusal=refusal)
    number = "One question" if len(asked) == 1 else f"{len(asked)} questions"
    messages.success(request, f"{number} will be asked in the next run.")
    return _after(request, room, document_set)


@screen("POST")
def retire_question(request: Request, slug: str, question_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.CHANGE_PROJECT, here="document-sets")
    rows = Claim.all_claims.filter(QUESTIONS, claim_set__document_set__project=room.project)
    question = take_out(question=found(rows, question_id, "question"), by=request.user)
    messages.success(request, "Retired. Its answers are kept, but scores no longer use it.")
    return _after(request, room, room.project.document_sets.get(claim_sets=question.claim_set_id))


def _document_set(room: Room, public_id: str) -> DocumentSet:
    return found(room.project.document_sets.select_related("project"), public_id, "document set")


def _after(request: Request, room: Room, document_set: DocumentSet) -> HttpResponse:
    if request.htmx:
        return _show(request, room, document_set)
    return redirect("questions", slug=room.project.slug, set_id=document_set.public_id)


def _show(
    request: Request, room: Room, document_set: DocumentSet, *, refusal: Conflict | Invalid | None = None
) -> HttpResponse:
    # People who are blind may add and retire questions, but must not see any.
    may_see = Verb.VIEW_SCORES in room.verbs
    asked = list(questions_about(document_set.pk))
    standing = [question for question in asked if question.removed_at is None]
    context = {
        "room": room,
        "document_set": document_set,
        "may_see": may_see,
        "questions": asked if may_see else (),
        "standing": len(standing),
        "retired": len(asked) - len(standing),
        "made_up": sum(question.origin == ClaimOrigin.JUDGE for question in standing),
        "refusal": refusal,
        "typed": request.POST.get("questions", "") if refusal else "",
        "retire_made_up": refusal is None or "retire_made_up" in request.POST,
    }
    return page_or_fragment(
        request,
        page="judging/questions/page.html",
        fragment="judging/questions/_room.html",
        context=context,
        status=422 if refusal else 200,
    )
