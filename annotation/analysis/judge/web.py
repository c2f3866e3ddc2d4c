"""The judge page: how far each judge can be trusted, where it errs, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse

from annotation.analysis.figures import EMPTY, figures
from annotation.analysis.judge.table import JUDGE_TABLES
from annotation.analysis.judge.words import MOVES_AT_MOST, RIGHT_AT_LEAST
from annotation.analysis.pictures.charts import FEWEST_FOR_CURVE
from annotation.analysis.pictures.drawings import draw_calibration, draw_judge_scatter
from annotation.analysis.web import figures_page, file_view
from annotation.core.permissions import Verb
from annotation.core.refusals import NotFound
from annotation.models import Analysis
from annotation.web.htmx import Request
from annotation.web.rooms import enter
from annotation.web.screen import screen
from evaluation.judging import LABELS
from evaluation.statistics import FEW_DOCUMENTS


@screen("GET")
def judge(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_SCORES, here="judge")
    stored = figures(room.project, Analysis.Kind.JUDGE)
    version = chosen_version((stored.payload or EMPTY)["versions"], request.GET.get("judge", ""))
    context = {
        "version": version,
        "people_said": LABELS,
        "confusion": _confusion(version["report"]["confusion"]) if version else (),
        "scatter": draw_judge_scatter(version) if version else None,
        "curve_drawn": draw_calibration(version) if version else None,
        "fewest_for_curve": FEWEST_FOR_CURVE,
        "right_at_least": RIGHT_AT_LEAST,
        "moves_at_most": 100 * MOVES_AT_MOST,
        "few_documents": FEW_DOCUMENTS,
    }
    return figures_page(request, room, "judge", stored, JUDGE_TABLES, context)


def _confusion(counted: Mapping[str, Mapping[str, int]]) -> list[tuple[str, list[int]]]:
    """What the judge says, and how many people said each label of it; the database keeps no order of names."""
    return [(said, [counts.get(label, 0) for label in LABELS]) for said, counts in counted.items()]


judge_file = file_view(Analysis.Kind.JUDGE, JUDGE_TABLES)


def chosen_version(versions: list[dict[str, Any]], name: str) -> dict[str, Any] | None:
    """The version that the address names, else the first. Raises NotFound."""
    if not name:
        return next(iter(versions), None)
    named = next((version for version in versions if version["id"] == name), None)
    if named is None:
        raise NotFound(f"No judge {name!r} has answered what people answered.")
    return named
