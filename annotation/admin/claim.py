"""Claims, the checks made of them, and what judges and people said of these."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from annotation.admin.filters import OfDocumentSet, OfJudge, OfSystem
from annotation.admin.rows import NEWEST_ROWS_FIRST, READ_ANSWERS, Rows
from annotation.admin.seen import TellingRows
from annotation.models import Check, Claim, ClaimSet, Verdict


class CheckSet(OfDocumentSet):
    path = "peer__document_set"


class CheckSystem(OfSystem):
    path = "peer__system"


class VerdictSet(OfDocumentSet):
    path = "check_row__peer__document_set"


class VerdictJudge(OfJudge):
    path = "judge"


@admin.register(ClaimSet)
class ClaimSetAdmin(Rows):
    project_paths = ("summary__document_set__project", "document_set__project")
    view_verbs = READ_ANSWERS
    list_display = ("public_id", "summary", "document_set", "origin", "origin_name", "version", "is_active")
    list_filter = ("origin", "is_active")
    list_select_related = ("summary__document_set", "summary__system", "document_set")
    search_fields = ("public_id__exact", "summary__public_id__exact", "document_set__external_id__exact")


@admin.register(Claim)
class ClaimAdmin(Rows):
    project_paths = ("claim_set__summary__document_set__project", "claim_set__document_set__project")
    view_verbs = READ_ANSWERS
    list_display = ("public_id", "position", "text", "unit", "weight", "origin", "removed_at")
    list_filter = ("origin",)
    list_select_related = ("unit",)
    search_fields = ("public_id__exact", "claim_set__public_id__exact", "text")
    ordering = NEWEST_ROWS_FIRST
    sortable_by = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Removed claims, too: what was said of them leads here."""
        return self.within_reach(request, Claim.all_claims.order_by(*self.get_ordering(request)))


@admin.register(Check)
class CheckAdmin(TellingRows):
    """Checks are derived from claims, and most of their columns from verdicts: nothing to edit."""

    key_of_check = "pk"
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
    list_filter = (
        CheckSet,
        CheckSystem,
        "side",
        "final_label",
        "final_source",
        "is_disputed",
        "is_current",
    )
    list_select_related = ("claim", "peer__document_set", "peer__system")
    search_fields = ("public_id__exact", "claim__public_id__exact", "peer__public_id__exact")
    sortable_by = ()


@admin.register(Verdict)
class VerdictAdmin(TellingRows):
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
    list_filter = (VerdictSet, VerdictJudge, "source", "label", "had_seen")
    list_select_related = ("check_row", "judge", "person")
    search_fields = ("public_id__exact", "check_row__public_id__exact", "person__username__exact")
    ordering = NEWEST_ROWS_FIRST
    sortable_by = ()
