"""Prompts: the words of each step, and saving other ones."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from annotation.core.permissions import Verb
from annotation.core.refusals import Invalid
from annotation.judging.queries.prompts import RUN_STEPS, known_step, name_of_step, prompt_of, versions_of
from annotation.judging.services import save_prompt as service
from annotation.web.htmx import Request
from annotation.web.rooms import Room, enter
from annotation.web.screen import screen
from evaluation.judging.prompts import PROMPTS, Step

PART = "part-"
"""Before the name of a part, in the name of its field."""


@screen("GET")
def prompts(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_RUNS, here="prompts")
    newest = {row.step: row for row in versions_of(room.project).order_by("number")}
    steps = [(step, name_of_step(step), newest.get(step)) for step in RUN_STEPS]
    return render(request, "judging/prompts/list.html", {"room": room, "steps": steps})


@screen("GET")
def prompt(request: Request, slug: str, step: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_RUNS, here="prompts")
    return _show(request, room, known_step(step))


@screen("POST")
def save_prompt(request: Request, slug: str, step: str) -> HttpResponse:
    room = enter(request, slug, Verb.CHANGE_PROJECT, here="prompts")
    known = known_step(step)
    parts = {name: request.POST.get(PART + name, "") for name in PROMPTS[known].part_words}
    typed: dict[str, Any] = {name: request.POST.get(name, "") for name in ("system", "note")} | {
        "parts": parts
    }
    try:
        row = service.save_prompt(project=room.project, step=step, by=request.user, **typed)
    except Invalid as refusal:
        return _show(request, room, known, typed=typed, refusal=refusal)
    messages.success(request, f"Saved as version {row.number}. Choose it for a judge on the Judges page.")
    return redirect("prompt", slug=slug, step=step)


def _show(
    request: Request,
    room: Room,
    step: Step,
    *,
    typed: dict[str, Any] | None = None,
    refusal: Invalid | None = None,
) -> HttpResponse:
    rows = list(versions_of(room.project).filter(step=step).prefetch_related("judges"))
    versions = [(row, prompt_of(row)) for row in rows]
    latest = versions[0][1] if versions else PROMPTS[step]
    words = typed or {"system": latest.system.strip(), "parts": latest.part_words}
    context = {
        "room": room,
        "step": step,
        "name": name_of_step(step),
        "words": words,
        "parts": [(f"{PART}{name}", name, text) for name, text in words["parts"].items()],
        "refusal": refusal,
        "versions": versions,
        "built_in": PROMPTS[step],
    }
    return render(request, "judging/prompts/step.html", context, status=422 if refusal else 200)
