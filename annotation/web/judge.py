"""The judge page: how far each judge can be trusted, where it errs, and what it costs."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse

from annotation.exports.judge_quality import JUDGE_TABLES
from annotation.models import Analysis
from annotation.permissions import Verb
from annotation.queries.judge_words import MOVES_AT_MOST, RIGHT_AT_LEAST
from annotation.refusals import NotFound
from annotation.services.make_analysis import made
from annotation.web.drawings import draw_calibration, draw_judge_scatter
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.rooms import enter
from annotation.web.screen import screen
from annotation.web.table_files import analysis_file
from evaluation import FEW_DOCUMENTS


@screen("GET")
def judge(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_SCORES, here="scores")
    stored = made(project=room.project, kind=Analysis.Kind.JUDGE)
    found = stored.payload or {"versions": [], "pairs": []}
    version = chosen_version(found["versions"], request.GET.get("judge", ""))
    context = {
        "room": room,
        "made": stored,
        "found": found,
        "version": version,
        "scatter": draw_judge_scatter(version) if version else None,
        "curve_drawn": draw_calibration(version) if version else None,
        "address": request.get_full_path(),
        "tables": list(JUDGE_TABLES),
        "right_at_least": RIGHT_AT_LEAST,
        "moves_at_most": 100 * MOVES_AT_MOST,
        "few_documents": FEW_DOCUMENTS,
    }
    return page_or_fragment(request, page="judge/page.html", fragment="judge/_room.html", context=context)


@screen("GET")
def judge_file(request: Request, slug: str, table: str) -> HttpResponse:
    """One of the tables as CSV or JSON."""
    room = enter(request, slug, Verb.VIEW_SCORES, here="scores")
    return analysis_file(request, room.project, Analysis.Kind.JUDGE, JUDGE_TABLES, table)


def chosen_version(versions: list[dict[str, Any]], name: str) -> dict[str, Any] | None:
    """The version that the address names, else the first. Raises NotFound."""
    if not name:
        return next(iter(versions), None)
    named = next((version for version in versions if version["id"] == name), None)
    if named is None:
        raise NotFound(f"No judge {name!r} has answered what people answered.")
    return named
