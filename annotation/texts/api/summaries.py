from __future__ import annotations

from typing import Any

from django.db.models import Prefetch
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import READ_CONTENT, ApiView, only
from annotation.api.lists import operation_of, shape_of
from annotation.api.schema import operation
from annotation.core.lists import sees_scores
from annotation.models import Comparison, Summary, Unit
from annotation.texts.api.document_sets import UnitRow
from annotation.texts.queries.summaries import SUMMARIES, summaries_of

SummaryRow = shape_of(SUMMARIES, "SummaryRow")


class ComparisonRow(serializers.Serializer[Comparison]):
    """A comparison of the summary with one reference."""

    id = serializers.CharField(source="public_id")
    reference = serializers.CharField(source="reference.public_id", help_text="Id of the reference.")


class SummaryDetail(SummaryRow):  # type: ignore[valid-type, misc]
    text = serializers.CharField()
    metadata = serializers.SerializerMethodField(
        help_text="As its file gave them; empty to callers who may not view the scores."
    )
    units = UnitRow(many=True)
    comparisons = ComparisonRow(many=True, source="comparisons_as_summary")

    def get_metadata(self, summary: Summary) -> dict[str, Any]:
        # Imported metadata may name the system, so hide it from people who may not see scores.
        return summary.metadata if sees_scores(self.context["viewer"]) else {}


class Summaries(ApiView):
    tag = "summaries"

    get = operation_of(
        SUMMARIES,
        SummaryRow,
        """List the summaries of a project.

        The rows have no texts; the operation for one summary returns its text.
        """,
    )


class OneSummary(ApiView):
    tag = "summaries"

    @operation("get_summary", responses=SummaryDetail)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show a summary with its text, its units and its comparisons."""
        viewer = self.viewer(*READ_CONTENT)
        summaries = summaries_of(viewer).prefetch_related(
            Prefetch("units", Unit.objects.order_by("position")),
            Prefetch("comparisons_as_summary", Comparison.objects.select_related("reference").order_by("pk")),
        )
        summary = only(summaries, public_id, "summary")
        return Response(SummaryDetail(summary, context={"viewer": viewer}).data)
