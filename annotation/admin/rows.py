"""Rows for superusers.

Answers, scores and judge calls are not among them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from allauth.account import admin as _email_addresses
from allauth.account.models import EmailAddress
from allauth.mfa import admin as _second_factors
from allauth.mfa.models import Authenticator
from allauth.socialaccount import admin as _identities
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from allauth.usersessions import admin as _sessions
from allauth.usersessions.models import UserSession
from django import forms
from django.contrib import admin

from annotation.judging.services.save_judge import PROFILE, add_judge, profile_faults
from annotation.models import (
    Assignment,
    Claim,
    Comparison,
    Document,
    DocumentSet,
    Export,
    Guideline,
    Import,
    Invitation,
    Job,
    Judge,
    Membership,
    Project,
    PromptVersion,
    Run,
    Sample,
    SetupLink,
    Summary,
    System,
    Unit,
    Watch,
    WatchPeriod,
    Worker,
)

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import Model
    from django.http import HttpRequest

    ModelAdmin = admin.ModelAdmin[Any]
    JudgeModelForm = forms.ModelForm[Judge]
else:
    ModelAdmin = admin.ModelAdmin
    JudgeModelForm = forms.ModelForm

# The imported modules register their models in the admin. Remove these models again. The assertions keep the imports.
assert _email_addresses
assert _second_factors
assert _identities
assert _sessions
admin.site.unregister((Authenticator, EmailAddress, SocialAccount, SocialApp, SocialToken, UserSession))


class Rows(ModelAdmin):
    """Read-only rows for superusers."""

    ordering: ClassVar[tuple[str, ...]] = ("-pk",)
    list_select_related: ClassVar[bool | tuple[str, ...]] = True
    show_full_result_count = False

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.is_superuser)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


COLUMNS: dict[type[Model], tuple[str, ...]] = {
    Claim: ("public_id", "text"),
    Comparison: ("public_id", "summary", "reference"),
    Document: ("public_id", "document_set", "position"),
    DocumentSet: ("external_id", "project", "created_at"),
    Sample: ("public_id", "project", "created_at"),
    Export: ("public_id", "project", "level", "format"),
    Guideline: ("public_id", "project", "version", "created_at"),
    Import: ("public_id", "project", "created_at"),
    Invitation: ("public_id", "project", "created_at", "expires_at", "revoked_at"),
    Job: ("public_id", "kind", "state", "attempt", "error"),
    Membership: ("user", "project", "roles"),
    PromptVersion: ("public_id", "project", "step", "number"),
    Project: ("name", "slug", "created_at"),
    Run: ("public_id", "project", "judge", "state", "created_at"),
    SetupLink: ("public_id", "created_at", "expires_at"),
    Assignment: ("public_id", "assessor", "document_set", "closed_at"),
    Summary: ("public_id", "document_set", "system"),
    System: ("name", "project", "kind"),
    Unit: ("public_id", "summary", "document", "position"),
    Watch: ("name", "project", "length", "archived_at"),
    WatchPeriod: ("public_id", "watch", "start", "state"),
    Worker: ("name", "version", "seen_at"),
}
SEARCHED: dict[type[Model], tuple[str, ...]] = {
    DocumentSet: ("external_id",),
    Membership: ("user__username__exact",),
    Project: ("name", "slug"),
    System: ("name",),
    Worker: ("name",),
}
HIDDEN: dict[type[Model], tuple[str, ...]] = {
    Sample: ("frame",),
    Invitation: ("secret_hash",),
    Job: ("token",),
    SetupLink: ("secret_hash",),
    Summary: ("metadata",),
    Watch: ("anchors", "latest"),
    WatchPeriod: ("values", "asked"),
}
"""Columns that are not shown."""

for _model, _columns in COLUMNS.items():
    admin.site.register(
        _model,
        Rows,
        list_display=_columns,
        list_filter=("state",) if "state" in _columns else (),
        search_fields=SEARCHED.get(_model, ("public_id__exact",)),
        exclude=HIDDEN.get(_model),
    )


class JudgeForm(JudgeModelForm):
    class Meta:
        model = Judge
        fields = (*PROFILE, "members")

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        profile = {name: value for name, value in cleaned.items() if name in PROFILE}
        for fault in profile_faults(Judge(**profile), list(cleaned.get("members") or ())):
            if fault.field not in self.errors:
                self.add_error(fault.field if fault.field in self.fields else None, fault.message)
        return cleaned


@admin.register(Judge)
class JudgeAdmin(Rows):
    """Lists judges, and adds shared ones."""

    form = JudgeForm
    list_display = ("name", "project", "kind", "model", "base_url", "archived_at")
    search_fields = ("name", "model")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def save_model(self, request: HttpRequest, obj: Judge, form: JudgeForm, change: bool) -> None:
        made = add_judge(project=None, by=cast("User", request.user), **form.cleaned_data)
        obj.pk, obj.public_id = made.pk, made.public_id
