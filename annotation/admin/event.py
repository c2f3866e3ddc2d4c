from __future__ import annotations

from django.contrib import admin

from annotation.admin.rows import ProjectFilter, Rows
from annotation.models import Event
from annotation.permissions import Verb
from annotation.queries.event_words import in_words


@admin.register(Event)
class EventAdmin(Rows):
    """The log: rows are only ever added, by the services."""

    project_paths = ("project",)
    view_verbs = (Verb.VIEW_EVENTS,)
    list_display = ("created_at", "project", "actor", "what", "target_kind", "target_id")
    list_filter = (ProjectFilter,)
    list_select_related = ("project", "actor")
    search_fields = ("public_id__exact", "target_id__exact", "actor__username__exact", "verb__exact")

    @admin.display(description="what was done")
    def what(self, row: Event) -> str:
        return in_words(row.verb)
