from __future__ import annotations

from django.contrib import admin

from annotation.admin.rows import READ_CONTENT, ProjectFilter, Rows
from annotation.models import Comparison, Summary, System, Unit


@admin.register(System)
class SystemAdmin(Rows):
    project_paths = ("project",)
    view_verbs = READ_CONTENT
    list_display = ("name", "project", "kind")
    list_filter = (ProjectFilter, "kind")
    list_select_related = ("project",)
    search_fields = ("name", "public_id__exact")


@admin.register(Summary)
class SummaryAdmin(Rows):
    project_paths = ("document_set__project",)
    view_verbs = READ_CONTENT
    list_display = ("public_id", "document_set", "system", "is_model", "is_peer", "target_words")
    list_filter = (ProjectFilter, "is_model", "is_peer")
    list_select_related = ("document_set", "system")
    search_fields = ("document_set__external_id", "system__name", "public_id__exact")


@admin.register(Unit)
class UnitAdmin(Rows):
    project_paths = ("summary__document_set__project", "document__document_set__project")
    view_verbs = READ_CONTENT
    list_display = ("public_id", "position", "summary", "document", "start", "end", "weight")
    list_filter = (ProjectFilter,)
    list_select_related = ("summary__document_set", "summary__system", "document__document_set")
    search_fields = ("public_id__exact", "summary__public_id__exact", "document__public_id__exact")


@admin.register(Comparison)
class ComparisonAdmin(Rows):
    project_paths = ("peer__document_set__project",)
    view_verbs = READ_CONTENT
    list_display = ("public_id", "peer", "model")
    list_filter = (ProjectFilter,)
    list_select_related = (
        "peer__document_set",
        "peer__system",
        "model__document_set",
        "model__system",
    )
    search_fields = ("public_id__exact", "peer__public_id__exact", "peer__document_set__external_id__exact")
