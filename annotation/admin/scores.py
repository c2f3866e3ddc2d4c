"""Scores and statistics, which are derived."""

from __future__ import annotations

from django.contrib import admin

from annotation.admin.rows import READ_ANSWERS, Rows
from annotation.models import Analysis, Score


@admin.register(Score)
class ScoreAdmin(Rows):
    """Derived: thrown away and rebuilt at any time."""

    project_paths = ("project",)
    view_verbs = READ_ANSWERS
    list_display = (
        "summary",
        "coverage",
        "coverage_judge",
        "coverage_human",
        "human_share",
        "alignment",
        "brevity",
        "composite_2_3",
        "claims_unscored",
    )
    list_select_related = ("summary__document_set", "summary__system")
    search_fields = (
        "summary__public_id__exact",
        "summary__document_set__external_id__exact",
        "summary__system__name__exact",
    )


@admin.register(Analysis)
class AnalysisAdmin(Rows):
    """Statistics, made again as soon as their inputs have changed."""

    project_paths = ("project",)
    view_verbs = READ_ANSWERS
    list_display = ("public_id", "project", "kind", "key", "seed", "seconds", "made_at")
    list_filter = ("kind",)
    list_select_related = ("project",)
    search_fields = ("public_id__exact", "key")
