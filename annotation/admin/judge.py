"""Judge profiles, and what judges were asked. Superusers change those of all projects."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from annotation.admin.reach import person_of, projects_allowing
from annotation.admin.rows import Rows
from annotation.core.permissions import Verb
from annotation.core.refusals import Refusal
from annotation.judging.services.save_judge import (
    IDENTITY,
    PROFILE,
    SERVER,
    archive_judge,
    as_changed,
    is_used,
    profile_faults,
    restore_judge,
)
from annotation.models import (
    CallClaim,
    Judge,
    JudgeCall,
    JudgeExamples,
)

if TYPE_CHECKING:
    JudgeModelForm = forms.ModelForm[Judge]
else:
    JudgeModelForm = forms.ModelForm


class JudgeForm(JudgeModelForm):
    class Meta:
        model = Judge
        fields = (*PROFILE, "members")

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        told = {name: value for name, value in cleaned.items() if name in PROFILE}
        for fault in profile_faults(as_changed(self.instance, told), list(cleaned.get("members") or ())):
            if fault.field not in self.errors:
                self.add_error(fault.field if fault.field in self.fields else None, fault.message)
        return cleaned


@admin.register(Judge)
class JudgeAdmin(Rows):
    form = JudgeForm
    view_verbs = (Verb.RUN, Verb.CHANGE_PROJECT)
    list_display = (
        "name",
        "project",
        "kind",
        "model",
        "base_url",
        "api_key_env",
        "reply_format",
        "archived_at",
    )
    list_select_related = ("project",)
    list_filter = ("kind",)
    search_fields = ("name", "model")
    autocomplete_fields = ("members",)
    actions = ("archive", "restore")

    def within_reach(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        """Shared judges, and those of projects where the person may look."""
        if person_of(request).is_superuser:
            return rows
        return rows.filter(Q(project=None) | Q(project__in=projects_allowing(request, self.view_verbs)))

    @admin.action(description="Archive the selected judges", permissions=["change"])
    def archive(self, request: HttpRequest, queryset: QuerySet[Judge]) -> None:
        self._each(request, queryset, archive_judge)

    @admin.action(description="Unarchive the selected judges", permissions=["change"])
    def restore(self, request: HttpRequest, queryset: QuerySet[Judge]) -> None:
        self._each(request, queryset, restore_judge)

    def _each(self, request: HttpRequest, queryset: QuerySet[Judge], act: Callable[..., Judge]) -> None:
        for judge in queryset.order_by("name"):
            try:
                act(judge=judge, by=person_of(request))
            except Refusal as refusal:
                self.message_user(request, f"Judge {judge}: {refusal.message}", messages.ERROR)

    def get_readonly_fields(self, request: HttpRequest, obj: Judge | None = None) -> list[str]:
        if obj is None:
            return []
        if not person_of(request).is_superuser:
            return super().get_readonly_fields(request, obj)
        fixed = IDENTITY if is_used(obj) else ()
        return [
            *fixed,
            "project",
            "reply_format",
            "refused_parameters",
            "public_id",
            "created_at",
            "archived_at",
        ]

    def save_model(self, request: HttpRequest, obj: Judge, form: JudgeForm, change: bool) -> None:
        if set(SERVER) & set(form.changed_data):
            # Found of another server, or for another model there.
            obj.reply_format, obj.refused_parameters = "", []
        super().save_model(request, obj, form, change)

    def get_prepopulated_fields(self, request: HttpRequest, obj: Judge | None = None) -> dict[str, Any]:
        return {}

    def has_add_permission(self, request: HttpRequest) -> bool:
        return person_of(request).is_superuser

    def has_change_permission(self, request: HttpRequest, obj: Judge | None = None) -> bool:
        return person_of(request).is_superuser


@admin.register(JudgeExamples)
class JudgeExamplesAdmin(Rows):
    """Chosen on the page Judge. They hold people's answers."""

    project_paths = ("judge__project",)
    view_verbs = (Verb.VIEW_SCORES,)
    list_display = ("judge", "base", "created_at")
    list_select_related = ("judge", "base")
    search_fields = ("judge__name",)


@admin.register(JudgeCall)
class JudgeCallAdmin(Rows):
    """A call may serve several projects, so only superusers see what was asked and replied."""

    list_display = ("public_id", "judge", "step", "prompt_version", "finish_reason", "seconds", "created_at")
    list_filter = ("judge",)
    list_select_related = ("judge",)
    search_fields = ("public_id__exact", "key__exact")


@admin.register(CallClaim)
class CallClaimAdmin(Rows):
    """Questions under way, for superusers. The token stays hidden: it lets its holder end a claim."""

    list_display = ("key", "lease_until")
    search_fields = ("key__exact",)
    exclude = ("token",)
