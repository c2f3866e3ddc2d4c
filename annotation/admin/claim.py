from __future__ import annotations

from django.contrib import admin

from annotation.admin.rows import READ_ANSWERS, READ_CONTENT, ProjectFilter, Rows
from annotation.models import Check, Claim, ClaimSet, Verdict


@admin.register(ClaimSet)
class ClaimSetAdmin(Rows):
    project_paths = ("summary__document_set__project", "document_set__project")
    view_verbs = READ_CONTENT
    list_display = ("public_id", "summary", "document_set", "origin", "origin_name", "version", "is_active")
    list_filter = (ProjectFilter, "origin", "is_active")
    list_select_related = ("summary__document_set", "summary__system", "document_set")
    search_fields = ("public_id__exact", "summary__public_id__exact", "document_set__external_id__exact")


@admin.register(Claim)
class ClaimAdmin(Rows):
    project_paths = ("claim_set__summary__document_set__project", "claim_set__document_set__project")
    view_verbs = READ_CONTENT
    list_display = ("public_id", "position", "text", "unit", "weight", "origin")
    list_filter = (ProjectFilter, "origin")
    list_select_related = ("unit",)
    search_fields = ("public_id__exact", "claim_set__public_id__exact", "text")


@admin.register(Check)
class CheckAdmin(Rows):
    """Checks are derived from claims, and most of their columns from verdicts: nothing to edit."""

    project_paths = ("project",)
    view_verbs = READ_ANSWERS
    list_display = (
        "public_id",
        "claim",
        "peer",
        "side",
        "judge_label",
        "human_label",
        "final_label",
        "final_source",
        "is_disputed",
    )
    list_filter = (ProjectFilter, "side", "final_label", "final_source", "is_disputed")
    list_select_related = ("claim", "peer__document_set", "peer__system")
    search_fields = ("public_id__exact", "claim__public_id__exact", "peer__public_id__exact")


@admin.register(Verdict)
class VerdictAdmin(Rows):
    """Append-only: a change of mind is another verdict, given where the claim is seen in its text."""

    project_paths = ("check_row__project",)
    view_verbs = READ_ANSWERS
    list_display = (
        "public_id",
        "check_row",
        "source",
        "judge",
        "person",
        "label",
        "created_at",
        "withdrawn_at",
    )
    list_filter = (ProjectFilter, "source", "label", "shown")
    list_select_related = ("check_row", "judge", "person")
    search_fields = ("public_id__exact", "check_row__public_id__exact", "person__username__exact")
