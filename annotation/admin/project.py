from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from annotation.admin.reach import is_allowed, person_of, projects_allowing
from annotation.admin.rows import Rows
from annotation.models import Project
from annotation.permissions import Verb
from annotation.refusals import Refusal
from annotation.services.change_project import RULES, change_project, create_project

if TYPE_CHECKING:
    ProjectModelForm = forms.ModelForm[Project]
else:
    ProjectModelForm = forms.ModelForm


class ProjectForm(ProjectModelForm):
    class Meta:
        model = Project
        fields = ("slug", *RULES)


@admin.register(Project)
class ProjectAdmin(Rows):
    """Rules change through the service: it logs old and new values, and the scores follow."""

    form = ProjectForm
    project_paths = ("pk",)
    view_verbs = (Verb.VIEW_PROJECT,)
    list_display = ("name", "slug", "blend", "deciding_judge", "reveal", "created_at")
    list_filter = ("blend", "reveal")
    list_select_related = ("deciding_judge",)
    search_fields = ("name", "slug", "public_id__exact")
    autocomplete_fields = ("deciding_judge",)

    def get_readonly_fields(self, request: HttpRequest, obj: Project | None = None) -> list[str]:
        if obj is None:
            return []
        if not self.has_change_permission(request, obj):
            hidden = self.get_exclude(request, obj)
            return [name for name in super().get_readonly_fields(request, obj) if name not in hidden]
        return ["slug", "public_id", "created_at"]

    def get_exclude(self, request: HttpRequest, obj: Project | None = None) -> tuple[str, ...]:
        """Assessors are not told that anything comes twice."""
        return () if self.has_change_permission(request, obj) else ("repeat_share",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return person_of(request).is_superuser

    def has_change_permission(self, request: HttpRequest, obj: Project | None = None) -> bool:
        if obj is None:
            return person_of(request).is_superuser or bool(projects_allowing(request, [Verb.CHANGE_PROJECT]))
        return is_allowed(request, obj, Verb.CHANGE_PROJECT)

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        try:
            if request.method != "POST":
                return super().changeform_view(request, object_id, form_url, extra_context)
            # Past Django's one transaction around a form: rescoring a large project commits in batches.
            view: Any = self._changeform_view  # type: ignore[attr-defined]  # not in the stubs
            answer: HttpResponse = view(request, object_id, form_url, extra_context)
            return answer
        except Refusal as refusal:
            self.message_user(request, refusal.message, messages.ERROR)
            return HttpResponseRedirect(request.get_full_path())

    def save_model(self, request: HttpRequest, obj: Project, form: Any, change: bool) -> None:
        rules = {name: form.cleaned_data[name] for name in form.changed_data if name in RULES}
        if change:
            change_project(project=obj, by=person_of(request), **rules)
            return
        made = create_project(slug=obj.slug, by=person_of(request), **rules)
        obj.pk, obj.public_id = made.pk, made.public_id
