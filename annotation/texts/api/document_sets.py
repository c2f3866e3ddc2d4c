from __future__ import annotations

from django.db.models import Count, Prefetch
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView, only
from annotation.api.schema import operation
from annotation.core.permissions import Verb
from annotation.models import Document, DocumentSet, Unit


class UnitRow(serializers.Serializer[Unit]):
    """A numbered unit of a text. Offsets count characters; `end` is exclusive."""

    id = serializers.CharField(source="public_id")
    position = serializers.IntegerField()
    start = serializers.IntegerField()
    end = serializers.IntegerField()
    weight = serializers.FloatField()
    text = serializers.SerializerMethodField()

    def get_text(self, unit: Unit) -> str:
        whole = unit.summary or unit.document
        assert whole is not None, "the database holds a unit to one of the two"
        return whole.text[unit.start : unit.end]


class DocumentRow(serializers.Serializer[Document]):
    """A source text. Units are numbered consecutively over all documents of the set."""

    id = serializers.CharField(source="public_id")
    position = serializers.IntegerField()
    text = serializers.CharField()
    units = UnitRow(many=True)


class DocumentSetDetail(serializers.Serializer[DocumentSet]):
    id = serializers.CharField(source="public_id")
    document_id = serializers.CharField(source="external_id", help_text="Its name in the imported file.")
    group = serializers.CharField(help_text="Cluster that intervals resample; empty: the set itself.")
    language = serializers.CharField()
    documents_count = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    metadata = serializers.DictField()
    documents = DocumentRow(many=True)


class OneDocumentSet(ApiView):
    tag = "document sets"

    @operation("get_document_set", responses=DocumentSetDetail)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show a document set with its documents and their units."""
        project = self.enter(Verb.VIEW_PROJECT)
        texts = Prefetch("documents", Document.objects.order_by("position"))
        units = Prefetch("documents__units", Unit.objects.order_by("position"))
        sets = project.document_sets.annotate(documents_count=Count("documents"))
        found = only(sets.prefetch_related(texts, units), public_id, "document set")
        return Response(DocumentSetDetail(found).data)
