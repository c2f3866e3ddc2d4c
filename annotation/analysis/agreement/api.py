from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from annotation.analysis.agreement.agreement import AgreementFigures
from annotation.analysis.make_analysis import current_statistics
from annotation.api.access import ApiView
from annotation.api.schema import operation
from annotation.core.facts import plain
from annotation.core.permissions import Verb
from annotation.models import Analysis


class AgreementView(ApiView):
    tag = "scores"

    @operation("get_agreement", responses=AgreementFigures, refusals=("503",))
    def get(self, request: Request, slug: str) -> Response:
        """Show the agreement between people, and between people and the deciding judge.

        `scales` use only blind answers of people.
        """
        project = self.enter(Verb.VIEW_SCORES)
        made = current_statistics(project=project, kind=Analysis.Kind.AGREEMENT, wait=True)
        return Response(plain(made.facts(AgreementFigures)))
