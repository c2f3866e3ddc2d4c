from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin

from annotation.adjudicating.services.adjudicate import may_withdraw, withdraw_decision
from annotation.admin.bulk import LEFT_TO_OTHERS, Bulk, BulkStep, confirm_or_do
from annotation.admin.reach import may_somewhere
from annotation.admin.rows import READ_ANSWERS
from annotation.admin.seen import TellingRows
from annotation.core.permissions import Verb
from annotation.models import Adjudication

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse


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
    actions = ("withdraw",)

    def has_adjudicate_permission(self, request: HttpRequest) -> bool:
        """For the action; the service decides again for each decision."""
        return may_somewhere(request, Verb.ADJUDICATE)

    @admin.action(description="Withdraw the selected decisions", permissions=["adjudicate"])
    def withdraw(self, request: HttpRequest, queryset: QuerySet[Adjudication]) -> HttpResponse | None:
        return confirm_or_do(WITHDRAW, request, queryset.select_related(*PLACES), self)


PLACES = ("check_row__project", "check_row__peer", "comparison__peer__document_set__project", "unit", "claim")


def _standing(decision: Adjudication, by: User) -> BulkStep:
    if decision.withdrawn_at is not None:
        return BulkStep("already withdrawn", is_possible=False)
    if not may_withdraw(decision, by):
        return BulkStep(LEFT_TO_OTHERS, is_possible=False)
    return BulkStep(f"the decision {decision} of {decision.decided_by} is withdrawn")


def _withdraw(decision: Adjudication, by: User, _held: str, _reason: str) -> object:
    return withdraw_decision(decision=decision, by=by)


WITHDRAW = Bulk(name="withdraw", title="Withdraw decisions", done="withdrawn", plan=_standing, act=_withdraw)
