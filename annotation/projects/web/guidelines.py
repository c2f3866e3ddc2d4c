from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from annotation.core.guidelines import current, rendered
from annotation.core.permissions import Verb
from annotation.core.refusals import Conflict, Invalid, NotFound
from annotation.projects.services.write_guidelines import LONGEST_NOTE, LONGEST_TEXT
from annotation.projects.services.write_guidelines import write_guidelines as write
from annotation.trials.report import answered_versions, trials
from annotation.trials.services import FEWEST
from annotation.web.htmx import Request
from annotation.web.numbers import whole_number
from annotation.web.refusals import status_of
from annotation.web.rooms import Room, enter
from annotation.web.screen import screen

HERE = "guidelines"
PROPOSED = """\
- A text expresses a claim if it says the same in any wording. What follows only with outside knowledge does not count.
- Every part of a claim counts: a wrong number, name or date makes it a no.
- If a text says less exactly what a claim says exactly, such as “some” for “seven”, the answer is no.
- Judge what the text says, not whether it is true or well written.
- Answer unsure only if two careful readers could disagree, and give a reason.
"""


@screen("GET")
def guidelines(request: Request, slug: str) -> HttpResponse:
    return _show(request, enter(request, slug, Verb.VIEW_PROJECT, here=HERE))


@screen("GET")
def guideline(request: Request, slug: str, version: int) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_PROJECT, here=HERE)
    row = room.project.guidelines.filter(version=version).select_related("by").first()
    if row is None:
        raise NotFound(f"There is no version {version} of these guidelines.")
    context = {"room": room, "row": row, "html": rendered(row.text), "now": current(room.project)}
    return render(request, "projects/guidelines/version.html", context)


@screen("POST")
def write_guidelines(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.CHANGE_PROJECT, here=HERE)
    text, note = request.POST.get("text", ""), request.POST.get("note", "")
    seen = whole_number(request.POST.get("seen", ""))
    try:
        row = write(project=room.project, text=text, note=note, by=request.user, seen=seen)
    except (Invalid, Conflict) as refusal:
        return _show(request, room, text=text, note=note, refusal=refusal)
    messages.success(request, f"Saved as version {row.version}.")
    return redirect("guidelines", slug=slug)


def _show(
    request: Request,
    room: Room,
    *,
    text: str | None = None,
    note: str = "",
    refusal: Invalid | Conflict | None = None,
) -> HttpResponse:
    now = current(room.project)
    context = {
        "room": room,
        "now": now,
        "html": rendered(now.text) if now else "",
        "text": (now.text if now else PROPOSED) if text is None else text,
        "is_open": text is not None,
        "note": note,
        "refusal": refusal,
        "wrong": (refusal.field or "") if isinstance(refusal, Invalid) else "",
        "versions": room.project.guidelines.select_related("by").order_by("-version"),
        "longest_text": LONGEST_TEXT,
        "longest_note": LONGEST_NOTE,
        "trials": trials(room.project) if Verb.VIEW_SCORES in room.verbs else (),
        "answered": answered_versions(room.project, now.version) if now and Verb.ASSIGN in room.verbs else (),
        "fewest": FEWEST,
    }
    return render(
        request, "projects/guidelines/page.html", context, status=status_of(refusal) if refusal else 200
    )
