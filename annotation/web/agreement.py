"""The agreement page: how far people agree, and where not."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse

from annotation.exports.agreement import AGREEMENT_TABLES
from annotation.models import Analysis
from annotation.permissions import Verb
from annotation.refusals import NotFound
from annotation.services.make_analysis import made
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.rooms import enter
from annotation.web.screen import screen
from annotation.web.table_files import analysis_file


@screen("GET")
def agreement(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_SCORES, here="scores")
    stored = made(project=room.project, kind=Analysis.Kind.AGREEMENT)
    found = stored.payload or {"scales": [], "repeats": []}
    context = {
        "room": room,
        "made": stored,
        "found": found,
        "scale": _chosen(found["scales"], request.GET.get("scale", "")),
        "address": request.get_full_path(),
        "tables": list(AGREEMENT_TABLES),
    }
    return page_or_fragment(
        request, page="agreement/page.html", fragment="agreement/_room.html", context=context
    )


@screen("GET")
def agreement_file(request: Request, slug: str, table: str) -> HttpResponse:
    """One of the tables as CSV or JSON."""
    room = enter(request, slug, Verb.VIEW_SCORES, here="scores")
    return analysis_file(request, room.project, Analysis.Kind.AGREEMENT, AGREEMENT_TABLES, table)


def _chosen(scales: list[dict[str, Any]], key: str) -> dict[str, Any] | None:
    """The scale that the address names, else the one of which most can be said. Raises NotFound."""
    if not key:
        return max(scales, key=lambda scale: scale["items"], default=None)
    named = next((scale for scale in scales if scale["key"] == key), None)
    if named is None:
        raise NotFound(f"Nobody has answered on a scale {key!r}.")
    return named
