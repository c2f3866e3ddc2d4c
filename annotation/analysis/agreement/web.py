from __future__ import annotations

from collections.abc import Sequence

from django.http import HttpResponse

from annotation.analysis.agreement.agreement import AgreementFigures, ScaleFigures
from annotation.analysis.agreement.table import AGREEMENT_TABLES
from annotation.analysis.make_analysis import current_statistics
from annotation.analysis.web import figures_page, file_view
from annotation.core.permissions import Verb
from annotation.core.refusals import NotFound
from annotation.models import Analysis
from annotation.web.htmx import Request
from annotation.web.rooms import enter
from annotation.web.screen import screen


@screen("GET")
def agreement(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_SCORES, here="agreement")
    stored = current_statistics(project=room.project, kind=Analysis.Kind.AGREEMENT)
    found = stored.facts(AgreementFigures)
    context = {"scale": _chosen(found.scales if found else (), request.GET.get("scale", ""))}
    return figures_page(request, room, "agreement", stored, found, AGREEMENT_TABLES, context)


agreement_file = file_view(Analysis.Kind.AGREEMENT, AgreementFigures, AGREEMENT_TABLES)


def _chosen(scales: Sequence[ScaleFigures], key: str) -> ScaleFigures | None:
    if not key:
        return max(scales, key=lambda scale: scale.items, default=None)
    named = next((scale for scale in scales if scale.key == key), None)
    if named is None:
        raise NotFound(f"Nobody has answered on a scale {key!r}.")
    return named
