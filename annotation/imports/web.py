"""The page *Import*: upload files, choose the meaning of their columns, check and import them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import PurePath

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse

from annotation.core.permissions import Verb
from annotation.core.refusals import Conflict, Invalid, Refusal
from annotation.core.text_faults import printable
from annotation.imports.containers import Format, Table
from annotation.imports.guess import Guess, guess, look_at_files
from annotation.imports.layout import ENCODINGS, FIELDS, FLAT_FIELDS, Layout, layout_of, pick
from annotation.imports.problems import ImportRefused, way_out
from annotation.imports.row import MAX_NAME_CHARACTERS
from annotation.imports.services import ImportReport
from annotation.imports.work import (
    IMPORTS,
    MOST_FILES,
    choices_of,
    files_of,
    import_kept,
    imports_of,
    is_kept,
    is_large,
    is_open,
    keep_upload,
    refusal_of,
    report_of,
    staged,
    state_of,
)
from annotation.imports.work import cancel_import as cancel
from annotation.judging.queries.runs import is_worker_alive
from annotation.models import Import
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.lists import list_page, listed
from annotation.web.refusals import status_of
from annotation.web.rooms import Room, enter, found
from annotation.web.screen import screen

MOST_MB = 64

_LIMITS = {"most_mb": MOST_MB, "most_files": MOST_FILES}

CELL_CHARACTERS = 100
ROWS_SHOWN = 3

Form = dict[str, str]
"""The second step as it is sent: the field of each column, and further options."""
COLUMN = "column-"
"""The beginning of the names of the menus, which end with the places of the columns."""


@screen("GET")
def imports(request: Request, slug: str) -> HttpResponseBase:
    room = enter(request, slug, Verb.IMPORT, here="import")
    return list_page(request, room, IMPORTS, page="imports/page.html", context=_LIMITS)


@screen("POST")
def import_upload(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.IMPORT, here="import")
    try:
        files = staged(request.FILES.getlist("files"), most_mb=MOST_MB)
        look_at_files(files)
        asked = keep_upload(project=room.project, files=files, by=request.user)
    except (Conflict, Invalid) as refusal:
        past = listed(request, room, IMPORTS, address=reverse("import", args=[slug]))
        context = {**past, **_LIMITS, **_outcome(None, refusal)}
        return render(request, "imports/page.html", context, status=status_of(refusal))
    return redirect(_address(asked))


@screen("GET")
def import_progress(request: Request, slug: str, import_id: str) -> HttpResponse:
    room, asked = _asked(request, slug, import_id)
    return _show(request, room, asked)


@screen("POST")
def import_begin(request: Request, slug: str, import_id: str) -> HttpResponse:
    room, asked = _asked(request, slug, import_id)
    is_import, form = request.POST.get("act") == "import", request.POST.dict()
    try:
        layout = _layout(asked, form) if is_kept(asked) else Layout()
        chosen = {"layout": layout, "skip_invalid": "skip_invalid" in form}
        asked = import_kept(asked=asked, by=request.user, dry_run=not is_import, **chosen)
    except (Conflict, Invalid) as refusal:
        return _show(request, room, asked, form=form, refusal=refusal)
    if is_open(asked) or (is_import and not asked.refusal):
        return _follow(request, asked)
    return _show(request, room, asked, form=form, refusal=refusal_of(asked))


@screen("POST")
def cancel_import(request: Request, slug: str, import_id: str) -> HttpResponse:
    _, asked = _asked(request, slug, import_id)
    return _follow(request, cancel(asked=asked, by=request.user))


def _asked(request: Request, slug: str, import_id: str) -> tuple[Room, Import]:
    room = enter(request, slug, Verb.IMPORT, here="import")
    return room, found(imports_of(room.project, request.user), import_id, "import")


def _address(asked: Import) -> str:
    return reverse("import-progress", args=[asked.project.slug, asked.public_id])


def _follow(request: Request, asked: Import) -> HttpResponse:
    if not request.htmx:
        return redirect(_address(asked))
    return HttpResponse(status=204, headers={"HX-Redirect": _address(asked)})


def _show(
    request: Request, room: Room, asked: Import, *, form: Form | None = None, refusal: Refusal | None = None
) -> HttpResponse:
    """`refusal` is why the posted form has no effect."""
    context = {
        "room": room,
        "asked": asked,
        "state": state_of(asked),
        "is_open": is_open(asked),
        "is_worker_alive": is_worker_alive(),
        **_outcome(None if refusal else report_of(asked), refusal or refusal_of(asked)),
    }
    if asked.requested_by == request.user and is_kept(asked):
        context.update(_second_step(asked, form))
    fragment = "imports/_report.html" if request.method == "POST" else "imports/_progress.html"
    pages = {"page": "imports/progress.html", "fragment": fragment}
    return page_or_fragment(request, context=context, status=status_of(refusal) if refusal else 200, **pages)


def _look(asked: Import, encoding: str) -> tuple[Table, bool]:
    """Open the files. The flag is True if they have columns to choose from."""
    with files_of(asked) as files:
        look = look_at_files(files, encoding if encoding in ENCODINGS else "") or Table(Format.DUC)
    return look, bool(look.columns) and not look.is_nested


def _layout(asked: Import, form: Form) -> Layout:
    look, is_flat = _look(asked, form.get("encoding", ""))
    columns = [(form.get(f"{COLUMN}{place}"), name) for place, name in enumerate(look.columns)]
    pairs = [f"{field}={name}" for field, name in columns if field in FLAT_FIELDS]
    choices = {name: form.get(name, "") for name in ("system", "target", "encoding")}
    return replace(layout_of(pairs, **choices), is_whole=is_flat)


def _second_step(asked: Import, sent: Form | None) -> dict[str, object]:
    stored = choices_of(asked)["layout"]
    look, is_flat = _look(asked, sent.get("encoding", "") if sent else stored.encoding if stored else "")
    guessed = guess(look) if is_flat else Guess(Layout())
    form = sent or _stored(asked, look, stored or guessed.layout)
    records = look.first[:ROWS_SHOWN]
    columns = [(name, form.get(f"{COLUMN}{place}", "")) for place, name in enumerate(look.columns)]
    read = {field for _, field in columns}
    return {
        "is_large": is_large(asked),
        "form": form,
        "guess": guessed,
        "is_flat": is_flat,
        "rows": [[_short(pick(record.values, name)) for name in look.columns] for record in records],
        "columns": columns,
        "fields": [(name, held["title"]) for name, held in FIELDS.items()],
        "encodings": ENCODINGS,
        "lacking": [
            FIELDS[name]["title"] for name in ("document", "summary") if is_flat and name not in read
        ],
    }


def _stored(asked: Import, look: Table, layout: Layout) -> Form:
    """Return the form as it would send the layout."""
    fields = {column: name for name, columns in layout.mapping.items() for column in columns}
    return {
        **{f"{COLUMN}{place}": fields.get(name, "") for place, name in enumerate(look.columns)},
        # Name the system after the first file.
        "system": layout.system or PurePath(asked.files[0]).stem[:MAX_NAME_CHARACTERS],
        "target": str(layout.target or ""),
        "encoding": layout.encoding,
        "skip_invalid": "on" if asked.choices.get("skip_invalid") else "",
    }


def _short(value: object) -> str:
    text = "" if value is None else value
    text = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False, default=str)
    return printable(text if len(text) <= CELL_CHARACTERS else f"{text[:CELL_CHARACTERS]}…")


def _outcome(report: ImportReport | None, refusal: Refusal | None) -> dict[str, object]:
    told = report or (refusal if isinstance(refusal, ImportRefused) else None)
    problems, word = (told.problems, told.word) if told else ((), "line")
    counts = report.counts if report else {}
    return {
        "report": report,
        "counts": [(kind.replace("_", " ").capitalize(), count) for kind, count in counts.items()],
        "place": word.capitalize(),
        "ways": way_out(problems, "Set the meaning of each column above."),
        "refusal": refusal,
        # A single problem may only repeat the message.
        "problems": [each for each in problems if not refusal or each.describe(word) != refusal.message],
        "more_problems": told.problem_count - sum(each.times for each in problems) if told else 0,
    }
