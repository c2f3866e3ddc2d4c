"""Summaries: model summaries, peer summaries under test, and which is compared with which."""

from __future__ import annotations

from typing import Any

from django.db.models import Prefetch
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import READ_CONTENT, ApiView, PageQuery, only
from annotation.api.fields import MOST_WORDS, WordChoice
from annotation.api.schema import operation
from annotation.core.readers import CheckReader
from annotation.models import Comparison, Summary, Unit
from annotation.texts.api.document_sets import UnitRow

SUMMARY_ROLES = ("model", "peer")
_UNNAMED: dict[str, Any] = {"system": None, "metadata": {}}
"""What stands in these places for whoever may not know who wrote a summary."""


class SummaryRow(serializers.Serializer[Summary]):
    id = serializers.CharField(source="public_id")
    document_set = serializers.CharField(source="document_set.public_id")
    document_id = serializers.CharField(source="document_set.external_id")
    system = serializers.CharField(
        source="system.name",
        allow_null=True,
        default=None,
        help_text="Who wrote it; null where unknown, and to callers who may not view the scores.",
    )
    roles = serializers.SerializerMethodField(help_text="model: measured against. peer: under test.")
    reference_id = serializers.CharField(source="external_id", help_text="Name of a model summary, or empty.")
    target_words = serializers.IntegerField(
        allow_null=True, help_text="Target length in the project's length unit."
    )
    created_at = serializers.DateTimeField()

    def get_roles(self, summary: Summary) -> list[str]:
        held = zip(SUMMARY_ROLES, (summary.is_model, summary.is_peer), strict=True)
        return [role for role, is_held in held if is_held]

    def to_representation(self, summary: Summary) -> dict[str, Any]:
        shown = super().to_representation(summary)
        reader: CheckReader = self.context["reader"]
        # What a file said of a summary may name its system as well.
        return (
            shown
            if reader.names_systems
            else shown | {name: _UNNAMED[name] for name in _UNNAMED if name in shown}
        )


class ComparisonRow(serializers.Serializer[Comparison]):
    """The summary as a peer, compared with one model summary."""

    id = serializers.CharField(source="public_id")
    model = serializers.CharField(source="model.public_id", help_text="Id of the model summary.")


class SummaryDetail(SummaryRow):
    text = serializers.CharField()
    metadata = serializers.DictField(
        help_text="As its file gave them; empty to callers who may not view the scores."
    )
    units = UnitRow(many=True)
    comparisons = ComparisonRow(many=True, source="comparisons_as_peer")


class SummaryQuery(serializers.Serializer[Any]):
    system = serializers.CharField(
        required=False, help_text="Summaries by the system of that name; needs the verb view scores."
    )
    document_set = serializers.CharField(required=False, help_text="Summaries of the set of that id.")
    role = WordChoice(choices=SUMMARY_ROLES, required=False, help_text="Model or peer summaries alone.")
    target_words = serializers.IntegerField(
        required=False, min_value=1, max_value=MOST_WORDS, help_text="Summaries of that target length."
    )


class Summaries(ApiView):
    tag = "summaries"

    @operation("list_summaries", parameters=[SummaryQuery, PageQuery], responses=SummaryRow(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the summaries of a project.

        Without their texts, which the single summary has.
        """
        project = self.enter(*READ_CONTENT)
        query = self.query(SummaryQuery, PageQuery)
        reader = self.reader(project)
        if "system" in query:
            reader.need_all("system")
        scope = Summary.objects.filter(document_set__project=project)
        columns = {
            "system": "system__name",
            "document_set": "document_set__public_id",
            "target_words": "target_words",
        }
        wanted: dict[str, Any] = {column: query[name] for name, column in columns.items() if name in query}
        if "role" in query:
            wanted[f"is_{query['role']}"] = True
        rows = scope.filter(**wanted).select_related("system", "document_set").defer("text", "metadata")
        return self.page(rows, SummaryRow, query=query, scope=scope, context={"reader": reader})


class OneSummary(ApiView):
    tag = "summaries"

    @operation("get_summary", responses=SummaryDetail)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show a summary with its text, its units and its comparisons."""
        project = self.enter(*READ_CONTENT)
        summaries = (
            Summary.objects.filter(document_set__project=project)
            .select_related("system", "document_set")
            .prefetch_related(
                Prefetch("units", Unit.objects.order_by("position")),
                Prefetch("comparisons_as_peer", Comparison.objects.select_related("model").order_by("pk")),
            )
        )
        summary = only(summaries, public_id, "summary")
        return Response(SummaryDetail(summary, context={"reader": self.reader(project)}).data)
