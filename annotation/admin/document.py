from __future__ import annotations

from django.contrib import admin

from annotation.admin.rows import ProjectFilter, Rows
from annotation.models import Document, DocumentSet
from annotation.permissions import Verb


@admin.register(DocumentSet)
class DocumentSetAdmin(Rows):
    project_paths = ("project",)
    view_verbs = (Verb.VIEW_PROJECT,)
    list_display = ("external_id", "project", "group", "language", "created_at")
    list_filter = (ProjectFilter,)
    list_select_related = ("project",)
    search_fields = ("external_id", "group", "public_id__exact")


@admin.register(Document)
class DocumentAdmin(Rows):
    project_paths = ("document_set__project",)
    view_verbs = (Verb.VIEW_PROJECT,)
    list_display = ("public_id", "document_set", "position")
    list_filter = (ProjectFilter,)
    list_select_related = ("document_set",)
    search_fields = ("document_set__external_id", "public_id__exact")
