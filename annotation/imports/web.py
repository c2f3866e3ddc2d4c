"""A manager brings files into the project: checked first, told what they come to, and then imported.

The checked files are sent again with the import, and their digest with them, so that what is imported is what was
checked; nothing of theirs is kept in between. Large ones are kept, and a worker checks and imports them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from annotation.core.jobs import OPEN
from annotation.core.permissions import Verb
from annotation.core.refusals import Conflict, Invalid
from annotation.imports.background import cancel_import as cancel
from annotation.imports.background import (
    error_of,
    imports_of,
    is_for_a_worker,
    refusal_of,
    report_of,
    request_import,
    state_of,
    time_left,
)
from annotation.imports.background import import_checked as begin_import
from annotation.imports.dataset import Side
from annotation.imports.fields import mapping_of
from annotation.imports.problems import ImportRefused, Remedy, ways_out
from annotation.imports.services import ImportReport, import_files
from annotation.imports.uploads import MOST_FILES, Upload, staged
from annotation.judging.queries.runs import is_worker_alive
from annotation.models import Import
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.refusals import status_of
from annotation.web.rooms import Room, enter, found
from annotation.web.screen import screen

MOST_BYTES = 64 * 1024 * 1024
INSTEAD = "Import a part at a time, or ask whoever runs this server to import them at the machine itself."

REMEDY_WORDS = {
    Remedy.MAP: "Under “Columns and claims”, type which column a field has, such as summary=output.",
    Remedy.CLAIMS_SIDE: "Under “Columns and claims”, say whose the claims are.",
    Remedy.SKIP_INVALID: "Or tick “Leave bad rows out, and name them”, and check again.",
}

KINDS = {
    "document_sets": "Document sets",
    "documents": "Documents",
    "systems": "Systems",
    "model_summaries": "Model summaries",
    "peer_summaries": "Peer summaries",
    "comparisons": "Comparisons",
    "questions": "Questions",
    "claims": "Claims",
    "checks": "Checks",
    "verdicts": "Verdicts",
    "published_scores": "Published lines",
    "published_percents": "Published unit scores",
}

TOO_OTHER = "These are not the files, or not the choices, that were checked. This is what these come to."


@dataclass(frozen=True, slots=True)
class Form:
    """What the page asks for, as it was typed."""

    skip_invalid: bool = False
    mapping: str = ""
    side: str = ""

    @classmethod
    def of(cls, request: Request) -> Form:
        sent = request.POST
        return cls("skip_invalid" in sent, sent.get("mapping", ""), sent.get("side", ""))

    @property
    def claims_side(self) -> Side | None:
        """Raises Invalid."""
        for side in get_args(Side):
            if self.side == side:
                return "reference" if side == "reference" else "peer"
        if self.side:
            raise Invalid("The claims are the model summaries' or the peers'.", field="side")
        return None

    def seal(self, digest: str) -> str:
        """What stands for these files, imported in this way."""
        return "|".join((digest, f"{self.skip_invalid:d}", self.side, *self.pairs))

    @property
    def pairs(self) -> list[str]:
        """One a line, for the name of a column may hold spaces."""
        return [line.strip() for line in self.mapping.splitlines() if line.strip()]


@screen("GET")
def imports(request: Request, slug: str) -> HttpResponse:
    return _show(request, enter(request, slug, Verb.IMPORT, here="import"))


@screen("POST")
def import_upload(request: Request, slug: str) -> HttpResponse:
    """Check the files, or import those that were checked. Without a check before it nothing is written."""
    room = enter(request, slug, Verb.IMPORT, here="import")
    form = Form.of(request)
    try:
        with staged(_uploads(request), most_bytes=MOST_BYTES, instead=INSTEAD) as sent:
            seal = form.seal(sent.digest)
            is_asked = request.POST.get("act") == "import"
            is_import = is_asked and request.POST.get("checked") == seal
            choices: dict[str, Any] = {
                "project": room.project,
                "files": sent.files,
                "by": request.user,
                "mapping": mapping_of(form.pairs),
                "claims_side": form.claims_side,
                "skip_invalid": form.skip_invalid,
                "dry_run": not is_import,
            }
            if is_for_a_worker(sent.files):
                return _follow(request, request_import(**choices))
            report = import_files(**choices)
    except (Conflict, Invalid) as refusal:
        return _show(request, room, form=form, refusal=refusal)
    note = TOO_OTHER if is_asked and not is_import else ""
    return _show(request, room, form=form, report=report, seal=seal, note=note)


@screen("GET")
def import_progress(request: Request, slug: str, import_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.IMPORT, here="import")
    return _show_progress(request, room, found(imports_of(room.project), import_id, "import"))


@screen("POST")
def import_checked(request: Request, slug: str, import_id: str) -> HttpResponse:
    """Bring in files that a worker has checked, and still has."""
    room = enter(request, slug, Verb.IMPORT, here="import")
    asked = found(imports_of(room.project), import_id, "import")
    return _follow(request, begin_import(asked=asked, by=request.user))


@screen("POST")
def cancel_import(request: Request, slug: str, import_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.IMPORT, here="import")
    asked = found(imports_of(room.project), import_id, "import")
    return _follow(request, cancel(asked=asked, by=request.user))


def _follow(request: Request, asked: Import) -> HttpResponse:
    """To the page that shows how far the import is."""
    address = reverse("import-progress", args=[asked.project.slug, asked.public_id])
    if not request.htmx:
        return redirect(address)
    following = HttpResponse(status=204)
    following["HX-Redirect"] = address
    return following


def _show_progress(request: Request, room: Room, asked: Import) -> HttpResponse:
    state, report, refusal = state_of(asked), report_of(asked), refusal_of(asked)
    context = {
        "room": room,
        "asked": asked,
        "state": state,
        "is_open": state in OPEN,
        "is_worker_alive": is_worker_alive(),
        "time_left": time_left(asked),
        "error": error_of(asked),
        **_outcome(report, refusal),
    }
    return page_or_fragment(
        request, page="imports/progress.html", fragment="imports/_progress.html", context=context
    )


def _uploads(request: Request) -> list[Upload]:
    """Raises Invalid."""
    files = request.FILES.getlist("files")
    if not files:
        raise Invalid("Choose the files to import.", field="files")
    if len(files) > MOST_FILES:
        raise Invalid(f"Choose at most {MOST_FILES} files, or put them into one zip.", field="files")
    return [Upload(one.name or "", one.size or 0, one.chunks()) for one in files]


def _show(
    request: Request,
    room: Room,
    *,
    form: Form | None = None,
    report: ImportReport | None = None,
    seal: str = "",
    note: str = "",
    refusal: Conflict | Invalid | None = None,
) -> HttpResponse:
    context = {
        "room": room,
        "form": form or Form(),
        **_outcome(report, refusal),
        "seal": seal,
        "note": note,
        "under_way": imports_of(room.project).filter(finished_at=None, jobs__state__in=OPEN).distinct(),
        "most_mb": MOST_BYTES // 1024**2,
        "most_files": MOST_FILES,
    }
    return page_or_fragment(
        request,
        page="imports/page.html",
        fragment="imports/_report.html",
        context=context,
        status=422 if isinstance(refusal, Invalid) else status_of(refusal) if refusal else 200,
    )


def _outcome(report: ImportReport | None, refusal: Conflict | Invalid | None) -> dict[str, object]:
    """What a report, or a refusal, is shown by."""
    return {
        "report": report,
        "counts": _counts(report) if report else [],
        "has_removed": report is not None and any(count.removed for count in report.counts.by_kind.values()),
        "place": report.place.capitalize() if report else "",
        "ways": ways_out(report.remedies, REMEDY_WORDS) if report else _ways(refusal),
        "refusal": refusal,
        "problems": _problems(refusal),
        "more_problems": _more(refusal),
    }


def _counts(report: ImportReport) -> list[tuple[str, object]]:
    return [(KINDS[kind], count) for kind, count in report.counts.told().items()]


def _ways(refusal: Conflict | Invalid | None) -> list[str]:
    return ways_out(refusal.remedies, REMEDY_WORDS) if isinstance(refusal, ImportRefused) else []


def _problems(refusal: Conflict | Invalid | None) -> list[str]:
    """The problems, one a line; none where the refusal's message is the only one."""
    if not isinstance(refusal, ImportRefused):
        return []
    told = [problem.describe(refusal.word) for problem in refusal.problems]
    return [] if told == [refusal.message] else told


def _more(refusal: Conflict | Invalid | None) -> int:
    """How many problems are not listed."""
    return refusal.problem_count - len(refusal.problems) if isinstance(refusal, ImportRefused) else 0
