"""Document sets, summaries and who wrote them, their units, and questions about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from annotation.admin.reach import is_allowed, person_of
from annotation.admin.rows import NEWEST_ROWS_FIRST, READ_ANSWERS, Rows
from annotation.assessing.services.name_author import name_author
from annotation.core.permissions import READ_CONTENT, Verb
from annotation.models import (
    Comparison,
    Document,
    DocumentSet,
    Question,
    QuestionAnswer,
    Rating,
    Summary,
    System,
    Unit,
)


@admin.register(DocumentSet)
class DocumentSetAdmin(Rows):
    project_paths = ("project",)
    view_verbs = (Verb.VIEW_PROJECT,)
    list_display = ("external_id", "project", "group", "language", "created_at")
    list_select_related = ("project",)
    search_fields = ("external_id", "group", "public_id__exact")


@admin.register(Document)
class DocumentAdmin(Rows):
    project_paths = ("document_set__project",)
    view_verbs = (Verb.VIEW_PROJECT,)
    list_display = ("public_id", "document_set", "position")
    list_select_related = ("document_set",)
    search_fields = ("document_set__external_id", "public_id__exact")


if TYPE_CHECKING:
    SystemModelForm = forms.ModelForm[System]
else:
    SystemModelForm = forms.ModelForm


class SystemForm(SystemModelForm):
    """Who wrote the summaries is named by username: no list of all people is shown to anybody."""

    written_by = forms.CharField(
        max_length=150, required=False, help_text="Username of the member who wrote it; empty for none."
    )

    class Meta:
        model = System
        fields = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        person = self.instance.person
        self.fields["written_by"].initial = person.username if person else ""

    def clean_written_by(self) -> User | None:
        name: str = self.cleaned_data["written_by"]
        if not name:
            return None
        member = User.objects.filter(username=name, memberships__project=self.instance.project).first()
        if member is None:
            raise ValidationError(f"{name} is not a member of {self.instance.project.name}.")
        return member


@admin.register(System)
class SystemAdmin(Rows):
    form = SystemForm
    project_paths = ("project",)
    view_verbs = READ_ANSWERS
    list_display = ("name", "project", "kind", "person")
    list_filter = ("kind",)
    list_select_related = ("project", "person")
    search_fields = ("name", "public_id__exact")

    def get_fields(self, request: HttpRequest, obj: System | None = None) -> tuple[str, ...]:
        if obj is not None and self.has_change_permission(request, obj):
            return ("public_id", "project", "name", "kind", "written_by")
        return ("public_id", "project", "name", "kind", "person")

    def get_readonly_fields(self, request: HttpRequest, obj: System | None = None) -> list[str]:
        return ["public_id", "project", "name", "kind", "person"]

    def has_change_permission(self, request: HttpRequest, obj: System | None = None) -> bool:
        return obj is not None and is_allowed(request, obj.project, Verb.NAME_AUTHORS)

    def save_model(self, request: HttpRequest, obj: System, form: Any, change: bool) -> None:
        name_author(system=obj, person=form.cleaned_data["written_by"], by=person_of(request))


@admin.register(Summary)
class SummaryAdmin(Rows):
    project_paths = ("document_set__project",)
    view_verbs = READ_ANSWERS
    list_display = ("public_id", "document_set", "system", "is_model", "is_peer", "target_words")
    list_filter = ("is_model", "is_peer")
    list_select_related = ("document_set", "system")
    search_fields = ("document_set__external_id", "system__name", "public_id__exact")
    ordering = NEWEST_ROWS_FIRST


@admin.register(Unit)
class UnitAdmin(Rows):
    project_paths = ("summary__document_set__project", "document__document_set__project")
    view_verbs = READ_ANSWERS
    list_display = ("public_id", "position", "summary", "document", "start", "end", "weight")
    list_select_related = (
        "summary__document_set",
        "summary__system",
        "document__document_set",
    )
    search_fields = ("public_id__exact", "summary__public_id__exact", "document__public_id__exact")
    ordering = NEWEST_ROWS_FIRST
    sortable_by = ()


@admin.register(Comparison)
class ComparisonAdmin(Rows):
    project_paths = ("peer__document_set__project",)
    view_verbs = READ_ANSWERS
    list_display = ("public_id", "peer", "model")
    list_select_related = (
        "peer__document_set",
        "peer__system",
        "model__document_set",
        "model__system",
    )
    search_fields = ("public_id__exact", "peer__public_id__exact", "peer__document_set__external_id__exact")
    ordering = NEWEST_ROWS_FIRST
    sortable_by = ()


@admin.register(Question)
class QuestionAdmin(Rows):
    project_paths = ("document_set__project",)
    view_verbs = READ_CONTENT
    list_display = ("text", "document_set", "position", "origin", "origin_name", "retired_at")
    list_filter = ("origin",)
    list_select_related = ("document_set",)
    search_fields = ("public_id__exact", "text", "document_set__external_id__exact")


@admin.register(QuestionAnswer)
class QuestionAnswerAdmin(Rows):
    project_paths = ("question__document_set__project",)
    view_verbs = READ_ANSWERS
    list_display = ("question", "summary", "judge", "label", "reason", "created_at")
    list_filter = ("label",)
    list_select_related = ("question", "summary__system", "summary__document_set", "judge")
    search_fields = ("public_id__exact", "question__public_id__exact", "summary__public_id__exact")


@admin.register(Rating)
class RatingAdmin(Rows):
    project_paths = ("summary__document_set__project",)
    view_verbs = READ_ANSWERS
    list_display = ("summary", "name", "value", "judge", "reason", "created_at")
    list_filter = ("name",)
    list_select_related = ("summary__system", "summary__document_set", "judge")
    search_fields = ("public_id__exact", "summary__public_id__exact")
