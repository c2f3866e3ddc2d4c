from __future__ import annotations

from django.contrib import admin

from annotation.admin.rows import READ_ANSWERS
from annotation.admin.seen import TellingRows
from annotation.models import Adjudication


@admin.register(Adjudication)
class AdjudicationAdmin(TellingRows):
    """Append-only: a decision is withdrawn, never edited."""

    project_paths = ("check_row__project", "comparison__peer__document_set__project")
    view_verbs = READ_ANSWERS
    list_display = (
        "public_id",
        "check_row",
        "comparison",
        "label",
        "percent",
        "decided_by",
        "created_at",
        "withdrawn_at",
    )
    list_filter = ("label",)
    list_select_related = ("check_row", "comparison", "decided_by")
    search_fields = ("public_id__exact", "check_row__public_id__exact", "decided_by__username__exact")
    sortable_by = ()
