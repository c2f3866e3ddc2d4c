from __future__ import annotations

from django.contrib import admin

from annotation.admin.rows import READ_ANSWERS, ProjectFilter, Rows
from annotation.models import PublishedPercent, PublishedScore


@admin.register(PublishedScore)
class PublishedScoreAdmin(Rows):
    project_paths = ("project",)
    view_verbs = READ_ANSWERS
    list_display = (
        "public_id",
        "table",
        "origin_name",
        "line",
        "set_name",
        "document",
        "target_words",
        "system",
        "assessor",
        "mean",
    )
    list_filter = (ProjectFilter, "table")
    list_select_related = ("project",)
    search_fields = ("public_id__exact", "set_name__exact", "document__exact", "system__exact")


@admin.register(PublishedPercent)
class PublishedPercentAdmin(Rows):
    project_paths = ("score__project",)
    view_verbs = READ_ANSWERS
    list_display = ("public_id", "score", "comparison", "unit", "percent")
    list_filter = (ProjectFilter,)
    list_select_related = ("score", "comparison", "unit")
    search_fields = ("public_id__exact", "score__public_id__exact", "unit__public_id__exact")
