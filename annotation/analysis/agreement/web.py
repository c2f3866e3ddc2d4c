from __future__ import annotations

from collections.abc import Sequence

from django.http import HttpResponse

from annotation.adjudicating.queries.disputes import JOINED_WITH, WORST_FIRST, summary_of, text_of
from annotation.analysis.agreement.agreement import AgreementFigures, ScaleFigures
from annotation.analysis.make_analysis import current_statistics
from annotation.analysis.web import figures_page
from annotation.core.permissions import Verb
from annotation.core.refusals import NotFound
from annotation.models import Analysis, Dispute
from annotation.web.htmx import Request
from annotation.web.rooms import enter
from annotation.web.screen import screen

DIFFERING_SHOWN = 3


@screen("GET")
def agreement(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_SCORES, here="agreement")
    stored = current_statistics(project=room.project, kind=Analysis.Kind.AGREEMENT)
    found = stored.facts(AgreementFigures)
    disputes = Dispute.objects.filter(project=room.project).exclude(state=Dispute.State.AGREED)
    differing = disputes.select_related(*JOINED_WITH).order_by(*WORST_FIRST)[:DIFFERING_SHOWN]
    context = {
        "scale": _chosen(found.scales if found else (), request.GET.get("scale", "")),
        "differing": [(row, text_of(row), summary_of(row)) for row in differing],
        "differ": disputes.count(),
    }
    return figures_page(request, room, "agreement", stored, found, context)


def _chosen(scales: Sequence[ScaleFigures], key: str) -> ScaleFigures | None:
    if not key:
        return max(scales, key=lambda scale: scale.items, default=None)
    named = next((scale for scale in scales if scale.key == key), None)
    if named is None:
        raise NotFound(f"Nobody has answered on a scale {key!r}.")
    return named
