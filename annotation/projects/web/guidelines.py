"""Guidelines: what people go by, its versions, and writing a new one."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from annotation.core.guidelines import current, rendered
from annotation.core.permissions import Verb
from annotation.core.readers import CheckReader
from annotation.core.refusals import Conflict, Invalid
from annotation.models import Guideline
from annotation.projects.queries.guideline_gaps import Gaps, gaps_of, may_see_gaps
from annotation.projects.queries.guidelines import Pieces, differences, history_of, version_of
from annotation.projects.services.write_guidelines import LONGEST_NOTE, LONGEST_TEXT, checked_text
from annotation.projects.services.write_guidelines import write_guidelines as write
from annotation.web.htmx import Request
from annotation.web.numbers import need_whole_number, whole_number
from annotation.web.refusals import status_of
from annotation.web.rooms import Room, enter
from annotation.web.screen import screen

HERE = "guidelines"


@screen("GET")
def guidelines(request: Request, slug: str) -> HttpResponse:
    """The version in force, or two compared: `?from=1&to=3`."""
    room = enter(request, slug, Verb.VIEW_PROJECT, here=HERE)
    compared = _compared(room, request.GET.get("from", ""), request.GET.get("to", ""))
    return _show(request, room, compared=compared)


@screen("GET")
def guideline(request: Request, slug: str, version: int) -> HttpResponse:
    """One version as it read, such as the one that somebody judged by."""
    room = enter(request, slug, Verb.VIEW_PROJECT, here=HERE)
    row = version_of(room.project, version)
    context = {"room": room, "row": row, "html": rendered(row.text), "now": current(room.project)}
    return render(request, "projects/guidelines/version.html", context)


@screen("POST")
def preview_guidelines(request: Request, slug: str) -> HttpResponse:
    """How the typed text would read; nothing is kept."""
    room = enter(request, slug, Verb.CHANGE_PROJECT, here=HERE)
    text, note = _typed(request)
    try:
        checked = checked_text(text)
    except Invalid as refusal:
        return _show(request, room, text=text, note=note, refusal=refusal)
    return _show(request, room, text=checked, note=note, preview=checked)


@screen("POST")
def write_guidelines(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.CHANGE_PROJECT, here=HERE)
    text, note = _typed(request)
    before = current(room.project)
    try:
        row = write(project=room.project, text=text, note=note, by=request.user, seen=_seen(request))
    except (Invalid, Conflict) as refusal:
        return _show(request, room, text=text, note=note, refusal=refusal)
    is_new = before is None or row.version > before.version
    told = f"Saved as version {row.version}." if is_new else "No changes: this is already the current text."
    messages.success(request, told)
    return redirect("guidelines", slug=slug)


def _typed(request: Request) -> tuple[str, str]:
    return request.POST.get("text", ""), request.POST.get("note", "")


def _seen(request: Request) -> int | None:
    """The version that the form was made from. None, so that nothing is compared, where it names none."""
    return whole_number(request.POST.get("seen", ""))


def _compared(room: Room, first: str, last: str) -> tuple[Guideline, Guideline, Pieces] | None:
    if not (first or last):
        return None
    old, new = (version_of(room.project, _version(text)) for text in (first, last))
    return old, new, differences(old.text, new.text)


def _version(text: str) -> int:
    return need_whole_number(text, "Give two version numbers, such as ?from=1&to=2.", field="from")


def _gaps(request: Request, room: Room) -> tuple[Gaps | None, Gaps | None]:
    """What is open and what is settled; None for those who must not see it now, or have no use for it."""
    if not may_see_gaps(room.verbs):
        return None, None
    reader = CheckReader.holding(request.user, room.verbs)
    return gaps_of(room.project, reader), gaps_of(room.project, reader, is_settled=True)


def _show(
    request: Request,
    room: Room,
    *,
    text: str | None = None,
    note: str = "",
    preview: str | None = None,
    refusal: Invalid | Conflict | None = None,
    compared: tuple[Guideline, Guideline, Pieces] | None = None,
) -> HttpResponse:
    now = current(room.project)
    history = history_of(room.project)
    gaps, settled = _gaps(request, room)
    standing = now.text if now else room.project.description
    shown = standing if text is None else text
    context = {
        "room": room,
        "now": now,
        "html": rendered(now.text) if now else "",
        "text": shown,
        "is_open": text is not None,
        "note": note,
        "rows": min(30, 6 + sum(1 + len(line) // 90 for line in shown.splitlines())),
        "preview": rendered(preview) if preview is not None else "",
        "refusal": refusal,
        "wrong": (refusal.field or "") if isinstance(refusal, Invalid) else "",
        "theirs": differences(now.text, shown) if now and isinstance(refusal, Conflict) else [],
        "history": history,
        "gaps": gaps,
        "settled": settled,
        "compared": compared,
        "longest_text": LONGEST_TEXT,
        "longest_note": LONGEST_NOTE,
    }
    return render(
        request, "projects/guidelines/page.html", context, status=status_of(refusal) if refusal else 200
    )
