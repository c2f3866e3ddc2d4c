"""Who judges what. Closed to the blind: the key of a comparison can tell who wrote the summary."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from annotation.admin.rows import NEWEST_FIRST, READ_ANSWERS, ProjectFilter, Rows
from annotation.models import Assignment, Draw, DrawnCheck, Sitting


@admin.register(Draw)
class DrawAdmin(Rows):
    project_paths = ("project",)
    view_verbs = READ_ANSWERS
    list_display = ("public_id", "project", "method", "seed", "created_at")
    list_filter = (ProjectFilter,)
    list_select_related = ("project",)
    search_fields = ("public_id__exact", "method")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Without the frames, which may name a million checks."""
        return super().get_queryset(request).defer("frame")

    def get_readonly_fields(self, request: HttpRequest, obj: Draw | None = None) -> list[str]:
        fields = super().get_readonly_fields(request, obj)
        return [*(field for field in fields if field != "frame"), "frame_size"]

    def get_fields(self, request: HttpRequest, obj: Draw | None = None) -> Any:
        return self.get_readonly_fields(request, obj)

    @admin.display(description="items in the frame")
    def frame_size(self, draw: Draw) -> int:
        return len(draw.frame)


@admin.register(DrawnCheck)
class DrawnCheckAdmin(Rows):
    project_paths = ("draw__project",)
    view_verbs = READ_ANSWERS
    list_display = ("public_id", "draw", "check_row", "inclusion_probability", "verdict")
    list_filter = (ProjectFilter, ("verdict", admin.EmptyFieldListFilter))
    list_select_related = ("draw", "check_row", "verdict")
    search_fields = ("public_id__exact", "draw__public_id__exact", "check_row__public_id__exact")
    ordering = NEWEST_FIRST
    sortable_by = ()


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
