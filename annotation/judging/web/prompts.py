"""Prompts: in which words judges are told what to do, and putting a step into other ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from annotation.core.permissions import Verb
from annotation.core.refusals import Conflict, Invalid
from annotation.judging.queries.prompts import (
    SAMPLE_INSTRUCTION,
    Difference,
    StepPrompt,
    differences,
    history_of,
    known_step,
    preview,
    step_of,
    steps_of,
)
from annotation.judging.services import change_prompt as service
from annotation.judging.words import STEP_WORDS, placeholders_of
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.numbers import whole_number
from annotation.web.refusals import status_of
from annotation.web.rooms import Room, enter
from annotation.web.screen import screen
from evaluation.judging.prompts import PROMPTS, Prompt

PROMPT = "#prompt"
"""The part of the page that every answer to the forms replaces."""

PART = "part-"
"""Before the name of a part, in the name of its field."""


@dataclass(frozen=True, slots=True)
class PromptForm:
    """What stands in the form: the words in force, or what somebody typed."""

    system: str
    parts: Mapping[str, str]
    note: str = ""
    sample: str = SAMPLE_INSTRUCTION

    @classmethod
    def of(cls, prompt: Prompt) -> PromptForm:
        # A browser drops a text's first line end, so none is sent.
        parts = {name: words.strip() for name, words in prompt.part_words.items()}
        return cls(prompt.system.strip(), parts)

    @classmethod
    def typed(cls, request: Request, now: StepPrompt) -> PromptForm:
        parts = {name: request.POST.get(PART + name, "") for name in now.prompt.part_words}
        texts = (request.POST.get(name, "") for name in ("system", "note", "sample"))
        system, note, sample = texts
        return cls(system, parts, note, sample)


@dataclass(frozen=True, slots=True)
class Field:
    """One text of the form, with what is wrong with it."""

    name: str
    label: str
    words: str
    purpose: str = ""
    fault: str = ""

    @property
    def rows(self) -> int:
        """Lines of a box that shows all of it, more or less."""
        return 1 + sum(1 + len(line) // 90 for line in self.words.splitlines())


@screen("GET")
def prompts(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_RUNS, here="prompts")
    steps = [(STEP_WORDS[step.step], step) for step in steps_of(room.project)]
    return render(request, "judging/prompts/list.html", {"room": room, "steps": steps})


@screen("GET")
def prompt(request: Request, slug: str, step: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_RUNS, here="prompts")
    return _show(request, room, step_of(room.project, known_step(step)))


@screen("POST")
def preview_prompt(request: Request, slug: str, step: str) -> HttpResponse:
    """What a judge would be told in the words that stand in the form; nothing is kept."""
    room = enter(request, slug, Verb.CHANGE_PROJECT, here="prompts")
    now = step_of(room.project, known_step(step))
    words = PromptForm.typed(request, now)
    try:
        shown = service.reworded(now.prompt, system=words.system, parts=words.parts)
    except Invalid as refusal:
        return _show(request, room, now, words=words, refusal=refusal)
    return _show(request, room, now, words=words, previewed=shown)


@screen("POST")
def reword_prompt(request: Request, slug: str, step: str) -> HttpResponse:
    room = enter(request, slug, Verb.CHANGE_PROJECT, here="prompts")
    now = step_of(room.project, known_step(step))
    words = PromptForm.typed(request, now)
    try:
        row = service.reword_prompt(
            project=room.project,
            step=now.step,
            by=request.user,
            system=words.system,
            parts=words.parts,
            note=words.note,
            seen=_seen(request),
        )
    except (Invalid, Conflict) as refusal:
        return _show(request, room, step_of(room.project, now.step), words=words, refusal=refusal)
    is_new = row is not None and row.number > now.number
    told = (
        f"Saved as version {row.number}."
        if row and is_new
        else "No changes: this is already the current prompt."
    )
    return _done(request, room, now, told)


@screen("POST")
def restore_prompt(request: Request, slug: str, step: str) -> HttpResponse:
    room = enter(request, slug, Verb.CHANGE_PROJECT, here="prompts")
    now = step_of(room.project, known_step(step))
    try:
        service.restore_prompt(
            project=room.project,
            step=now.step,
            by=request.user,
            note=request.POST.get("note", ""),
            seen=_seen(request),
        )
    except (Invalid, Conflict) as refusal:
        return _show(request, room, step_of(room.project, now.step), refusal=refusal)
    return _done(request, room, now, "Built-in prompt restored.")


def _seen(request: Request) -> int | None:
    """The version that the form was made from. None, so that nothing is compared, where it names none."""
    return whole_number(request.POST.get("seen", ""))


def _done(request: Request, room: Room, before: StepPrompt, told: str) -> HttpResponse:
    messages.success(request, told)
    if not request.htmx:
        return redirect("prompt", slug=room.project.slug, step=before.step)
    return _show(request, room, step_of(room.project, before.step))


def _show(
    request: Request,
    room: Room,
    now: StepPrompt,
    *,
    words: PromptForm | None = None,
    refusal: Invalid | Conflict | None = None,
    previewed: Prompt | None = None,
) -> HttpResponse:
    """The step as it stands now, with what was typed and what is wrong with it."""
    shown = words or PromptForm.of(now.prompt)
    system, parts = _fields(now, shown, refusal)
    context = {
        "room": room,
        "now": now,
        "about": STEP_WORDS[now.step],
        "placeholders": placeholders_of(now.prompt),
        "words": shown,
        "system": system,
        "parts": parts,
        "refusal": refusal,
        "theirs": _theirs(now, shown) if isinstance(refusal, Conflict) else [],
        "preview": preview(previewed or now.prompt, shown.sample),
        "is_previewed": previewed is not None,
        "history": history_of(room.project, now.step),
        "built_in": PROMPTS[now.step],
    }
    response = page_or_fragment(
        request,
        page="judging/prompts/step.html",
        fragment="judging/prompts/_step.html",
        context=context,
        status=status_of(refusal) if refusal else 200,
    )
    if refusal:
        # Errors are put where the page keeps its notices, unless the answer says otherwise.
        response["HX-Retarget"] = PROMPT
    return response


def _fields(
    now: StepPrompt, words: PromptForm, refusal: Invalid | Conflict | None
) -> tuple[Field, list[Field]]:
    wrong = refusal.field if isinstance(refusal, Invalid) else None

    def fault(name: str) -> str:
        return refusal.message if refusal and wrong == name else ""

    system = Field("system", "Prompt", words.system, fault=fault("system"))
    parts = [
        Field(PART + name, name, text, STEP_WORDS[now.step].parts.get(name, ""), fault(f"parts.{name}"))
        for name, text in words.parts.items()
    ]
    return system, parts


def _theirs(now: StepPrompt, words: PromptForm) -> list[Difference]:
    """How what was typed differs from what somebody else saved meanwhile."""
    return differences(now.prompt, service.reworded(now.prompt, system=words.system, parts=words.parts))
