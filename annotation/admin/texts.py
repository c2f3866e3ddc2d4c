"""Document sets, summaries and who wrote them, their units, and questions about them."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from annotation.admin.rows import NEWEST_ROWS_FIRST, READ_ANSWERS, Rows
from annotation.core.permissions import READ_CONTENT, Verb
from annotation.models import (
    Comparison,
    Document,
    DocumentSet,
    Question,
    QuestionAnswer,
    Rating,
    Summary,
    System,
    Unit,
    UnitChange,
)
from annotation.models.pyramid import own_metadata


@admin.register(DocumentSet)
class DocumentSetAdmin(Rows):
    project_paths = ("project",)
    view_verbs = (Verb.VIEW_PROJECT,)
    list_display = ("external_id", "project", "group", "language", "created_at")
    list_select_related = ("project",)
    search_fields = ("external_id", "group", "public_id__exact")


@admin.register(Document)
class DocumentAdmin(Rows):
    project_paths = ("document_set__project",)
    view_verbs = (Verb.VIEW_PROJECT,)
    list_display = ("public_id", "document_set", "position")
    list_select_related = ("document_set",)
    search_fields = ("document_set__external_id", "public_id__exact")


@admin.register(System)
class SystemAdmin(Rows):
    project_paths = ("project",)
    view_verbs = READ_ANSWERS
    list_display = ("name", "project", "kind")
    list_filter = ("kind",)
    list_select_related = ("project",)
    search_fields = ("name", "public_id__exact")


@admin.register(Summary)
class SummaryAdmin(Rows):
    project_paths = ("document_set__project",)
    view_verbs = READ_ANSWERS
    list_display = ("public_id", "document_set", "system", "is_model", "is_peer", "target_words")
    exclude = ("metadata",)  # what people answered, which whoever reviews the summary must not read here
    computed = ("own_metadata",)
    list_filter = ("is_model", "is_peer")
    list_select_related = ("document_set", "system")
    search_fields = ("document_set__external_id", "system__name", "public_id__exact")
    ordering = NEWEST_ROWS_FIRST

    @admin.display(description="metadata")
    def own_metadata(self, summary: Summary) -> str:
        return json.dumps(own_metadata(summary.metadata), ensure_ascii=False)


@admin.register(Unit)
class UnitAdmin(Rows):
    project_paths = ("summary__document_set__project", "document__document_set__project")
    view_verbs = READ_ANSWERS
    list_display = ("public_id", "position", "summary", "document", "start", "end", "weight", "retired_by")
    list_select_related = (
        "summary__document_set",
        "summary__system",
        "document__document_set",
        "retired_by__summary__document_set",
        "retired_by__summary__system",
    )
    search_fields = ("public_id__exact", "summary__public_id__exact", "document__public_id__exact")
    ordering = NEWEST_ROWS_FIRST
    sortable_by = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Units that were joined or split, too: what was said of them leads here."""
        return self.within_reach(request, Unit.all_units.order_by(*self.get_ordering(request)))


@admin.register(UnitChange)
class UnitChangeAdmin(Rows):
    project_paths = ("summary__document_set__project",)
    view_verbs = READ_ANSWERS
    list_display = ("public_id", "summary", "kind", "by", "created_at", "undone_at")
    list_filter = ("kind",)
    list_select_related = ("summary__document_set", "summary__system", "by")
    search_fields = ("public_id__exact", "summary__public_id__exact", "by__username__exact")


@admin.register(Comparison)
class ComparisonAdmin(Rows):
    project_paths = ("peer__document_set__project",)
    view_verbs = READ_ANSWERS
    list_display = ("public_id", "peer", "model")
    list_select_related = (
        "peer__document_set",
        "peer__system",
        "model__document_set",
        "model__system",
    )
    search_fields = ("public_id__exact", "peer__public_id__exact", "peer__document_set__external_id__exact")
    ordering = NEWEST_ROWS_FIRST
    sortable_by = ()


@admin.register(Question)
class QuestionAdmin(Rows):
    project_paths = ("document_set__project",)
    view_verbs = READ_CONTENT
    list_display = ("text", "document_set", "position", "origin", "origin_name", "retired_at")
    list_filter = ("origin",)
    list_select_related = ("document_set",)
    search_fields = ("public_id__exact", "text", "document_set__external_id__exact")


@admin.register(QuestionAnswer)
class QuestionAnswerAdmin(Rows):
    project_paths = ("question__document_set__project",)
    view_verbs = READ_ANSWERS
    list_display = ("question", "summary", "judge", "label", "reason", "created_at")
    list_filter = ("label",)
    list_select_related = ("question", "summary__system", "summary__document_set", "judge")
    search_fields = ("public_id__exact", "question__public_id__exact", "summary__public_id__exact")


@admin.register(Rating)
class RatingAdmin(Rows):
    project_paths = ("summary__document_set__project",)
    view_verbs = READ_ANSWERS
    list_display = ("summary", "name", "value", "judge", "reason", "created_at")
    list_filter = ("name",)
    list_select_related = ("summary__system", "summary__document_set", "judge")
    search_fields = ("public_id__exact", "summary__public_id__exact")
