"""Questions, what judges answered to them, and ratings: append-only."""

from __future__ import annotations

from django.contrib import admin

from annotation.admin.rows import READ_ANSWERS, READ_CONTENT, ProjectFilter, Rows
from annotation.models import Question, QuestionAnswer, Rating


@admin.register(Question)
class QuestionAdmin(Rows):
    project_paths = ("document_set__project",)
    view_verbs = READ_CONTENT
    list_display = ("text", "document_set", "position", "origin", "origin_name", "retired_at")
    list_filter = (ProjectFilter, "origin")
    list_select_related = ("document_set",)
    search_fields = ("public_id__exact", "text", "document_set__external_id__exact")


@admin.register(QuestionAnswer)
class QuestionAnswerAdmin(Rows):
    project_paths = ("question__document_set__project",)
    view_verbs = READ_ANSWERS
    list_display = ("question", "summary", "judge", "label", "reason", "created_at")
    list_filter = (ProjectFilter, "label")
    list_select_related = ("question", "summary__system", "summary__document_set", "judge")
    search_fields = ("public_id__exact", "question__public_id__exact", "summary__public_id__exact")


@admin.register(Rating)
class RatingAdmin(Rows):
    project_paths = ("summary__document_set__project",)
    view_verbs = READ_ANSWERS
    list_display = ("summary", "name", "value", "judge", "reason", "created_at")
    list_filter = (ProjectFilter, "name")
    list_select_related = ("summary__system", "summary__document_set", "judge")
    search_fields = ("public_id__exact", "summary__public_id__exact")
