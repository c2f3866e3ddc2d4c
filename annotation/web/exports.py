"""Exports: ask for one, see how it stands, take the file and its manifest away."""

from __future__ import annotations

import json

from django.http import FileResponse, HttpResponse
from django.shortcuts import redirect

from annotation.exports.formats import FORMAT_NAMES
from annotation.exports.levels import DUC_FORMATS, LEVEL_NAMES
from annotation.models import Export, Job, Role
from annotation.permissions import Verb, roles_in
from annotation.queries.runs import is_worker_alive
from annotation.refusals import Conflict, Invalid
from annotation.services.export_dataset import open_export
from annotation.services.export_dataset import request_export as ask
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.rooms import Room, enter, found
from annotation.web.screen import screen

EXPORTS_SHOWN = 30

LEVELS = {
    "scores": "one row per peer summary",
    "units": "one row per model unit held against a summary",
    "claims": "one row per claim held against a text, with every label",
    "judgments": "one row per judgment of a person or judge",
    "systems": "means and intervals per system",
    "bundle": "all of these in one zip",
    "see": "model and peer summaries as SEE HTML files, in a zip",
    "nist2002": "assessors' results as a table in the layout of DUC 2002",
    "pyramid": "pyramids and annotated peers as DUCView files, in a zip",
}

TITLES = {"see": "SEE HTML", "nist2002": "NIST table", "pyramid": "DUCView"}
"""Of those that are not called by their own names."""


@screen("GET")
def exports(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.EXPORT, here="exports")
    return _show(request, room, form={"level": "scores", "format": "csv"})


@screen("POST")
def request_export(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.EXPORT, here="exports")
    form = {name: request.POST.get(name, "") for name in ("level", "format", "named")}
    try:
        ask(
            project=room.project,
            level=form["level"],
            # The page offers what and as what beside each other; these have a format of their own.
            format="" if form["level"] in DUC_FORMATS else form["format"],
            by=request.user,
            named_people=form["named"] == "1",
        )
    except Invalid as refusal:
        return _show(request, room, form=form, refusal=refusal)
    return _show(request, room, form=form) if request.htmx else redirect("exports", slug=slug)


@screen("GET")
def download_export(request: Request, slug: str, export_id: str) -> HttpResponse | FileResponse:
    room = enter(request, slug, Verb.EXPORT, here="exports")
    opened = open_export(_export(room, export_id), by=request.user)
    response = FileResponse(
        opened.stream, as_attachment=True, filename=opened.name, content_type=opened.content_type
    )
    response["X-Content-Type-Options"] = "nosniff"
    return response


@screen("GET")
def export_manifest(request: Request, slug: str, export_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.EXPORT, here="exports")
    export = _export(room, export_id)
    if export.finished_at is None:
        raise Conflict("This export is still being written. Come back in a moment.", code="unfinished")
    text = json.dumps(export.manifest, indent=2, ensure_ascii=False)
    response = HttpResponse(text, content_type="application/json")
    name = f"{room.project.slug}-{export.level}.manifest.json"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _export(room: Room, public_id: str) -> Export:
    return found(Export.objects.filter(project=room.project).select_related("project"), public_id, "export")


def _show(
    request: Request, room: Room, *, form: dict[str, str], refusal: Invalid | None = None
) -> HttpResponse:
    rows = list(
        Export.objects.filter(project=room.project)
        .select_related("requested_by")
        .prefetch_related("jobs")[:EXPORTS_SHOWN]
    )
    context = {
        "room": room,
        "form": form,
        "refusal": refusal,
        "exports": [(export, _state(export)) for export in rows],
        "is_waiting": any(_state(export) in (Job.State.WAITING, Job.State.WORKING) for export in rows),
        "is_worker_alive": is_worker_alive(),
        "levels": [(name, TITLES.get(name, name.title()), LEVELS[name]) for name in LEVEL_NAMES],
        "formats": FORMAT_NAMES,
        "may_name_people": Role.OWNER in roles_in(request.user, room.project),
    }
    is_poll = request.method == "GET" and request.htmx
    return page_or_fragment(
        request,
        page="exports/page.html",
        fragment="exports/_list.html" if is_poll else "exports/_room.html",
        context=context,
        status=422 if refusal else 200,
    )


def _state(export: Export) -> str:
    """The state of the export's one job; done where the row says so."""
    if export.finished_at is not None:
        return Job.State.DONE
    return next((job.state for job in export.jobs.all()), Job.State.FAILED)
