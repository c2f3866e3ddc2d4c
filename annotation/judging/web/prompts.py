"""The page of prompts: each step's built-in prompt and the project's versions."""

from __future__ import annotations

from collections.abc import Mapping

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from annotation.core.permissions import Verb
from annotation.core.refusals import Invalid
from annotation.judging.services.save_prompt import save_prompt as save
from annotation.models import PromptVersion
from annotation.web.htmx import Request
from annotation.web.rooms import Room, enter
from annotation.web.screen import screen
from evaluation.judging.prompts import PROMPTS

STEP_WORDS = {
    "read_document": ("Reading the documents and the reference", "once per document set"),
    "align_summary": ("Checking a summary against its source", "once per summary, for alignment"),
    "check_supported": ("Checking claims that are there already", "for imported and reworded claims"),
    "cover_summary": ("Looking for the reference's claims in a summary", "once per summary, for coverage"),
}
"""The title of each step and the time when it is asked."""


@screen("GET")
def prompts(request: Request, slug: str) -> HttpResponse:
    return _show(request, enter(request, slug, Verb.VIEW_RUNS, here="judges"))


@screen("POST")
def save_prompt(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.CHANGE_PROJECT, here="judges")
    typed = {name: request.POST.get(name, "") for name in ("step", "text")}
    try:
        row = save(project=room.project, by=request.user, **typed)
    except Invalid as refusal:
        return _show(request, room, typed, refusal)
    messages.success(request, f"Saved as version {row.number}. Choose it on the form of a judge.")
    return redirect("prompts", slug=slug)


def _show(
    request: Request, room: Room, typed: Mapping[str, str] | None = None, refusal: Invalid | None = None
) -> HttpResponse:
    versions = (
        PromptVersion.objects.filter(project=room.project)
        .select_related("created_by")
        .prefetch_related("judges")
    )
    steps = []
    for step, built_in in PROMPTS.items():
        own = [row for row in versions if row.step == step]
        is_typed = typed is not None and typed["step"] == step
        words = typed["text"] if typed is not None and is_typed else own[0].text if own else built_in.text
        steps.append((step, *STEP_WORDS[step], built_in, own, words, refusal if is_typed else None))
    status = 422 if refusal else 200
    return render(request, "judging/prompts.html", {"room": room, "steps": steps}, status=status)
