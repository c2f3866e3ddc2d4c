"""What assessors said: append-only, and closed to the blind."""

from __future__ import annotations

from django.contrib import admin

from annotation.admin.rows import READ_ANSWERS, ProjectFilter, Rows
from annotation.models import SummaryJudgment, UnitJudgment


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
    list_filter = (ProjectFilter, "is_current")
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
        "is_repeat",
        "quality_answers",
        "unmarked_percent",
        "is_current",
        "created_at",
    )
    list_filter = (ProjectFilter, "is_current", "is_repeat")
    list_select_related = (
        "sitting__assessor",
        "sitting__document_set",
        "peer__document_set",
        "peer__system",
    )
    search_fields = ("public_id__exact", "sitting__assessor__username__exact")
