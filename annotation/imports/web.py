"""The page *Import*: upload files, choose the meaning of their columns, check and import them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

from annotation.core.permissions import Verb
from annotation.core.refusals import Conflict, Invalid
from annotation.core.text_faults import printable
from annotation.imports.containers import Table
from annotation.imports.guess import guess, look_at_files
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
from annotation.models import Import, Project
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.lists import list_page, listed
from annotation.web.refusals import status_of
from annotation.web.rooms import Room, enter, found
from annotation.web.screen import screen

MOST_BYTES = 64 * 1024 * 1024

_LIMITS = {"most_mb": MOST_BYTES // 1024**2, "most_files": MOST_FILES}

CELL_CHARACTERS = 100
ROWS_SHOWN = 3

Refused = Conflict | Invalid
Form = dict[str, Any]
"""The choices of the second step: `columns`, the field of each column, and further options."""


@screen("GET")
def imports(request: Request, slug: str) -> HttpResponseBase:
    room = enter(request, slug, Verb.IMPORT, here="import")
    return list_page(request, room, IMPORTS, page="imports/page.html", context=_LIMITS)


@screen("POST")
def import_upload(request: Request, slug: str) -> HttpResponse:
    room, uploads = enter(request, slug, Verb.IMPORT, here="import"), request.FILES.getlist("files")
    try:
        if not 0 < len(uploads) <= MOST_FILES:
            told = f"Choose at most {MOST_FILES} files." if uploads else "Choose the files to import."
            raise Invalid(told, field="files")
        files = staged(uploads, most_bytes=MOST_BYTES)
        look_at_files(files)
        asked = keep_upload(project=room.project, files=files, by=request.user)
    except (Conflict, Invalid) as refusal:
        past = listed(request, room, IMPORTS, address=reverse("import", args=[slug]))
        context = {**past, **_LIMITS, **_outcome(None, refusal)}
        pages = {"page": "imports/page.html", "fragment": "imports/_report.html"}
        return page_or_fragment(request, context=context, status=status_of(refusal), **pages)
    return redirect(_address(asked))


@screen("GET")
def import_progress(request: Request, slug: str, import_id: str) -> HttpResponse:
    room, asked = _asked(request, slug, import_id)
    return _show(request, room, asked)


@screen("POST")
def import_begin(request: Request, slug: str, import_id: str) -> HttpResponse:
    room, asked = _asked(request, slug, import_id)
    is_import, form = request.POST.get("act") == "import", {}
    try:
        look = _look(asked, request.POST.get("encoding", "")) if is_kept(asked) else None
        form = _sent(request, look)
        if is_import and _lacks_reference(asked.project, look, form) and not form["no_reference"]:
            told = "Choose the “Reference summary” column, or confirm that the file has none."
            raise Invalid(told, field="no_reference")
        chosen = {"layout": _layout(form, look), "skip_invalid": form["skip_invalid"]}
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
    request: Request, room: Room, asked: Import, *, form: Form | None = None, refusal: Refused | None = None
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
    fragment = "imports/_preview.html" if request.method == "POST" else "imports/_progress.html"
    pages = {"page": "imports/progress.html", "fragment": fragment}
    return page_or_fragment(request, context=context, status=status_of(refusal) if refusal else 200, **pages)


def _look(asked: Import, encoding: str) -> Table | None:
    with files_of(asked) as files:
        return look_at_files(files, encoding if encoding in ENCODINGS else "")


def _sent(request: Request, look: Table | None) -> Form:
    sent = request.POST
    return {
        "columns": {column: sent.get(f"column-{place}", "") for place, column in enumerate(_columns(look))},
        **{name: sent.get(name, "") for name in ("system", "target", "encoding")},
        **{name: name in sent for name in ("skip_invalid", "no_reference")},
    }


def _kept(asked: Import, look: Table | None) -> Form:
    chosen = choices_of(asked)
    layout: Layout = chosen.get("layout") or (guess(look).layout if look else Layout())
    return {
        "columns": {column: name for name in FLAT_FIELDS for column in layout.of(name)},
        # Name the system after the first file.
        "system": layout.system or PurePath(asked.files[0]).stem[:MAX_NAME_CHARACTERS],
        "target": str(layout.target or ""),
        "encoding": layout.encoding,
        "skip_invalid": chosen.get("skip_invalid", False),
    }


def _layout(form: Form, look: Table | None) -> Layout:
    pairs = [f"{name}={column}" for column, name in form["columns"].items() if name in FLAT_FIELDS]
    choices = {name: form[name] for name in ("system", "target", "encoding")}
    return replace(layout_of(pairs, **choices), is_whole=_is_flat(look))


def _is_flat(look: Table | None) -> bool:
    return look is not None and not look.is_nested


def _columns(look: Table | None) -> Sequence[str]:
    return look.columns if look else ()


def _second_step(asked: Import, form: Form | None) -> dict[str, object]:
    look = _look(asked, form["encoding"] if form else "")
    form, columns, is_flat = form or _kept(asked, look), _columns(look), _is_flat(look)
    chosen = {*form["columns"].values()}
    records = look.first[:ROWS_SHOWN] if look else ()
    return {
        "is_kept": True,
        "is_large": is_large(asked),
        "look": look,
        "form": form,
        "guess": guess(look) if look and is_flat else None,
        "is_flat": is_flat,
        "rows": [[_short(pick(record.values, column)) for column in columns] for record in records],
        "columns": [(place, name, form["columns"].get(name, "")) for place, name in enumerate(columns)],
        "fields": [(name, held["title"]) for name, held in FIELDS.items()],
        "encodings": ENCODINGS,
        "lacks_reference": _lacks_reference(asked.project, look, form),
        "lacking": [
            FIELDS[name]["title"] for name in ("document", "summary") if is_flat and name not in chosen
        ],
    }


def _lacks_reference(project: Project, look: Table | None, form: Form) -> bool:
    is_compared = project.compares == Project.Compares.REFERENCE
    return _is_flat(look) and is_compared and "reference" not in form["columns"].values()


def _short(value: object) -> str:
    text = "" if value is None else value
    text = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False, default=str)
    return printable(text if len(text) <= CELL_CHARACTERS else f"{text[:CELL_CHARACTERS]}…")


def _outcome(report: ImportReport | None, refusal: Refused | None) -> dict[str, object]:
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
