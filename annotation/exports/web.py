"""The page *Export*: request an export, cancel it, download it and its manifest."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse

from annotation.analysis.leaderboard.leaderboard import RANKABLE
from annotation.analysis.slices.split import splits
from annotation.core.permissions import Verb, roles_in
from annotation.core.refusals import Invalid
from annotation.core.tables.answer import file_answer
from annotation.core.tables.formats import FORMAT_NAMES
from annotation.exports.download import sent
from annotation.exports.levels import LEVEL_NAMES
from annotation.exports.pairs import MARGIN, SCORE
from annotation.exports.queries import EXPORTS, exports_of
from annotation.exports.services import cancel_export as cancel
from annotation.exports.services import manifest_of
from annotation.exports.services import request_export as ask
from annotation.exports.write import as_json
from annotation.judging.queries.runs import is_worker_alive
from annotation.models import Role
from annotation.scoring.own_scores import own_names
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.lists import list_page, listed
from annotation.web.rooms import Room, enter, found
from annotation.web.screen import screen

LEVEL_WORDS = {
    "scores": "one row per summary",
    "units": "one row per reference unit compared with a summary",
    "claims": "one row per claim compared with a text, with every label",
    "answers": "one row per answer of a person or judge",
    "systems": "means and intervals per system",
    "nested": "one line per document set, to import elsewhere; JSONL only",
    "pairs": "one row per better and worse summary of the same documents, to train on preferences",
    "bundle": "all tables in one zip",
}

FORM = {"level": "scores", "format": "csv", "named": "", "score": SCORE, "margin": str(MARGIN), "key": ""}


@screen("GET")
def exports(request: Request, slug: str) -> HttpResponseBase:
    room = enter(request, slug, Verb.EXPORT, here="exports")
    return list_page(request, room, EXPORTS, page="exports/page.html", context=_form(request, room, FORM))


@screen("POST")
def request_export(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.EXPORT, here="exports")
    form = {name: request.POST.get(name, text) for name, text in FORM.items()}
    refusal = None
    try:
        given: Any = {name: form[name] for name in ("level", "format", "score", "margin")}
        # The form hides the key for other levels, and sends it nevertheless.
        given["key"] = form["key"] if form["level"] == "systems" else ""
        ask(project=room.project, by=request.user, named_people=form["named"] == "1", **given)
    except Invalid as fault:
        refusal = fault
    if not (refusal or request.htmx):
        return redirect("exports", slug=slug)
    context = {**_form(request, room, form), **_list(request, room), "refusal": refusal}
    templates = {"page": "exports/page.html", "fragment": "exports/_room.html"}
    return page_or_fragment(request, **templates, context=context, status=422 if refusal else 200)


@screen("GET")
def download_export(request: Request, slug: str, export_id: str) -> HttpResponseBase:
    room = enter(request, slug, Verb.EXPORT, here="exports")
    return sent(found(exports_of(room.project), export_id, "export"), by=request.user)


@screen("POST")
def cancel_export(request: Request, slug: str, export_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.EXPORT, here="exports")
    cancel(export=found(exports_of(room.project), export_id, "export"), by=request.user)
    if not request.htmx:
        return redirect("exports", slug=slug)
    return render(request, "_list.html", _list(request, room))


@screen("GET")
def export_manifest(request: Request, slug: str, export_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.EXPORT, here="exports")
    export = found(exports_of(room.project), export_id, "export")
    name = f"{room.project.slug}-{export.level}.manifest.json"
    return file_answer(as_json(manifest_of(export)), content_type="application/json", name=name)


def _list(request: Request, room: Room) -> dict[str, object]:
    return listed(request, room, EXPORTS, address=reverse("exports", args=[room.project.slug]))


def _form(request: Request, room: Room, form: dict[str, str]) -> dict[str, object]:
    return {
        "form": form,
        "is_worker_alive": is_worker_alive(),
        "levels": [(name, name.title(), LEVEL_WORDS[name]) for name in LEVEL_NAMES],
        "formats": FORMAT_NAMES,
        "scores": [*RANKABLE, *own_names(room.project)],
        "keys": list(splits(room.project)),
        "may_name_people": Role.OWNER in roles_in(request.user, room.project),
    }
