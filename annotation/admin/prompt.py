from __future__ import annotations

from django.contrib import admin

from annotation.admin.rows import ProjectFilter, Rows
from annotation.models import PromptVersion
from annotation.permissions import Verb


@admin.register(PromptVersion)
class PromptVersionAdmin(Rows):
    """Words are changed on the project's page of prompts, where what they become can be seen first."""

    project_paths = ("project",)
    view_verbs = (Verb.VIEW_RUNS,)
    list_display = ("project", "step", "number", "is_built_in", "version", "note", "created_by", "created_at")
    list_filter = (ProjectFilter, "step", "is_built_in")
    list_select_related = ("project", "created_by")
    search_fields = ("public_id__exact", "step__exact", "version__exact", "created_by__username__exact")
