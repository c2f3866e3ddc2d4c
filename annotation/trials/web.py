"""The pages of guideline trials."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache

from annotation.core.guidelines import rendered
from annotation.core.permissions import Verb
from annotation.core.refusals import Conflict, Invalid
from annotation.models import GuidelineTrial
from annotation.reviewing.queries.again import next_again, waiting_again
from annotation.reviewing.queries.check_view import ON_SCREEN, view_without_answers
from annotation.trials import services
from annotation.trials.report import trials
from annotation.web.htmx import Request
from annotation.web.numbers import need_whole_number, whole_number
from annotation.web.rooms import Room, enter, found
from annotation.web.screen import screen


@screen("POST")
def start_trial(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.ASSIGN, here="guidelines")
    version, _, score = request.POST.get("of", "").partition(" ")
    try:
        trial = services.start_trial(
            project=room.project,
            by=request.user,
            old_version=whole_number(version) or 0,
            score=score,
            size=need_whole_number(request.POST.get("size", ""), "Enter a number of claims.", field="size"),
            by_others=request.POST.get("who") == "others",
        )
    except (Invalid, Conflict) as refusal:
        messages.error(request, refusal.message)
        return redirect("guidelines", slug=slug)
    messages.success(request, "Trial started. Reviewers find its claims on the page Review.")
    if Verb.VIEW_SCORES not in room.verbs:
        return redirect("guidelines", slug=slug)
    return redirect("trial", slug=slug, trial_id=trial.public_id)


@screen("GET")
def trial(request: Request, slug: str, trial_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_SCORES, here="guidelines")
    _row(room, trial_id)
    (shown,) = trials(room.project, only=trial_id)
    return render(request, "trials/page.html", {"room": room, "trial": shown})


@screen("POST")
def decide_trial(request: Request, slug: str, trial_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.CHANGE_PROJECT, here="guidelines")
    row = _row(room, trial_id)
    try:
        services.decide_trial(trial=row, by=request.user, decision=request.POST.get("decision", ""))
    except (Invalid, Conflict) as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, "Decision saved.")
    return redirect("trial", slug=slug, trial_id=trial_id)


@screen("GET")
@never_cache
def again(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.REVIEW, here="review")
    row = next_again(room.project, request.user)
    context: dict[str, object] = {"room": room, "row": row}
    if row is not None:
        guideline = row.trial.old if row.is_control else row.trial.new
        check = ON_SCREEN.get(pk=row.check_row_id)
        check.project = room.project
        context |= {
            "guideline": guideline,
            "html": rendered(guideline.text),
            "view": view_without_answers(check),
            "left": waiting_again(room.project, request.user).count(),
        }
    return render(request, "trials/desk.html", context)


@screen("POST")
def answer_again(request: Request, slug: str, answer_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.REVIEW, here="review")
    label = request.POST.get("label", "")
    try:
        services.answer_again(project=room.project, answer_id=answer_id, by=request.user, label=label)
    except (Invalid, Conflict) as refusal:
        messages.error(request, refusal.message)
    return redirect("again", slug=slug)


def _row(room: Room, trial_id: str) -> GuidelineTrial:
    return found(
        GuidelineTrial.objects.filter(project=room.project).select_related("project"), trial_id, "trial"
    )
