from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from annotation.analysis.explanation.explanation import Explanation, explain, summary_of
from annotation.analysis.explanation.side_by_side import DOCUMENT_SETS
from annotation.api.access import ApiView
from annotation.api.lists import operation_of, shape_of
from annotation.api.schema import operation
from annotation.core.facts import plain
from annotation.core.permissions import Verb
from annotation.reviewing.services.look_at_check import see_summary
from annotation.scoring.records import score_rules, summary_records
from evaluation.blend import score


class SummaryExplanation(ApiView):
    tag = "scores"

    @operation("explain_scores", responses=Explanation)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show the units, claims and answers behind the scores of a summary.

        If the caller's roles allow reviewing or assessing, the server records that the caller saw the answers. The
        caller's later answers about the summary do not count as blind.
        """
        project = self.enter(Verb.VIEW_SCORES)
        summary = summary_of(project, public_id)
        record = next(summary_records(project, [summary.pk]))
        result = score(record.value, score_rules(project))
        made = explain(project, summary, record.value, result, record.conciseness_terms)
        see_summary(project=project, summary=summary, by=self.person)
        return Response(plain(made))


DocumentSetRow = shape_of(DOCUMENT_SETS, "DocumentSetRow")


class DocumentSets(ApiView):
    tag = "document sets"

    get = operation_of(DOCUMENT_SETS, DocumentSetRow, "List the document sets of a project.")
