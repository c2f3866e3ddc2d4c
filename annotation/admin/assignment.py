"""Who judges what. Closed to the blind: the key of a comparison can tell who wrote the summary."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from annotation.admin.rows import READ_ANSWERS, ProjectFilter, Rows
from annotation.models import Assignment, Draw, Sitting


@admin.register(Draw)
class DrawAdmin(Rows):
    project_paths = ("project",)
    view_verbs = READ_ANSWERS
    list_display = ("public_id", "project", "method", "seed", "created_at")
    list_filter = (ProjectFilter,)
    list_select_related = ("project",)
    search_fields = ("public_id__exact", "method")


@admin.register(Sitting)
class SittingAdmin(Rows):
    project_paths = ("document_set__project",)
    view_verbs = READ_ANSWERS
    list_display = ("public_id", "assessor", "document_set", "created_at", "closed_at")
    list_filter = (ProjectFilter, ("closed_at", admin.EmptyFieldListFilter))
    list_select_related = ("assessor", "document_set")
    search_fields = ("public_id__exact", "assessor__username", "document_set__external_id")


@admin.register(Assignment)
class AssignmentAdmin(Rows):
    project_paths = ("sitting__document_set__project", "checks__project")
    view_verbs = READ_ANSWERS
    list_display = ("public_id", "sitting", "comparison", "reviewer", "position", "state", "submitted_at")
    list_filter = (ProjectFilter, "state")
    list_select_related = ("sitting__assessor", "sitting__document_set", "comparison", "reviewer")
    search_fields = ("public_id__exact", "sitting__assessor__username", "reviewer__username")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Assignment]:
        # A batch of checks is one row, however many of its checks lie in the project.
        return super().get_queryset(request).distinct()
