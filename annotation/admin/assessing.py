"""Who judges what, and what they said: append-only. Closed to the blind, whom keys and names would tell too much."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from annotation.admin.rows import NEWEST_ROWS_FIRST, READ_ANSWERS, Rows
from annotation.models import Assignment, Draw, DrawnCheck, Sitting, SummaryJudgment, UnitJudgment


@admin.register(Draw)
class DrawAdmin(Rows):
    project_paths = ("project",)
    view_verbs = READ_ANSWERS
    list_display = ("public_id", "project", "method", "seed", "created_at")
    exclude = ("frame",)
    computed = ("frame_size",)
    list_select_related = ("project",)
    search_fields = ("public_id__exact", "method")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Without the frames, which may name a million checks."""
        return super().get_queryset(request).defer("frame")

    @admin.display(description="items in the frame")
    def frame_size(self, draw: Draw) -> int:
        return len(draw.frame)


@admin.register(DrawnCheck)
class DrawnCheckAdmin(Rows):
    project_paths = ("draw__project",)
    view_verbs = READ_ANSWERS
    list_display = ("public_id", "draw", "check_row", "inclusion_probability", "verdict")
    list_filter = (("verdict", admin.EmptyFieldListFilter),)
    list_select_related = ("draw", "check_row", "verdict")
    search_fields = ("public_id__exact", "draw__public_id__exact", "check_row__public_id__exact")
    ordering = NEWEST_ROWS_FIRST
    sortable_by = ()


@admin.register(Sitting)
class SittingAdmin(Rows):
    project_paths = ("document_set__project",)
    view_verbs = READ_ANSWERS
    list_display = ("public_id", "assessor", "document_set", "created_at", "closed_at")
    list_filter = (("closed_at", admin.EmptyFieldListFilter),)
    list_select_related = ("assessor", "document_set")
    search_fields = ("public_id__exact", "assessor__username", "document_set__external_id")


@admin.register(Assignment)
class AssignmentAdmin(Rows):
    project_paths = ("sitting__document_set__project",)
    view_verbs = READ_ANSWERS
    list_display = ("public_id", "sitting", "comparison", "position", "state", "submitted_at")
    list_filter = ("state",)
    list_select_related = ("sitting__assessor", "sitting__document_set", "comparison")
    search_fields = ("public_id__exact", "sitting__assessor__username")


@admin.register(UnitJudgment)
class UnitJudgmentAdmin(Rows):
    project_paths = ("assignment__sitting__document_set__project",)
    view_verbs = READ_ANSWERS
    list_display = (
        "public_id",
        "assignment",
        "unit",
        "claim",
        "percent",
        "active_ms",
        "is_current",
        "created_at",
    )
    list_filter = ("is_current",)
    list_select_related = ("assignment", "unit", "claim")
    search_fields = (
        "public_id__exact",
        "assignment__public_id__exact",
        "assignment__sitting__assessor__username__exact",
    )


@admin.register(SummaryJudgment)
class SummaryJudgmentAdmin(Rows):
    project_paths = ("sitting__document_set__project",)
    view_verbs = READ_ANSWERS
    list_display = (
        "public_id",
        "sitting",
        "peer",
        "quality_answers",
        "unmarked_percent",
        "is_current",
        "created_at",
    )
    list_filter = ("is_current",)
    list_select_related = (
        "sitting__assessor",
        "sitting__document_set",
        "peer__document_set",
        "peer__system",
    )
    search_fields = ("public_id__exact", "sitting__assessor__username__exact")
