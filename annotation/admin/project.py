"""Projects and who belongs to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.forms.models import model_to_dict
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from annotation.admin.reach import is_allowed, may_somewhere, person_of, projects_allowing
from annotation.admin.rows import Rows
from annotation.core.permissions import Verb
from annotation.core.refusals import Refusal
from annotation.models import Membership, Project, Role
from annotation.projects.question_lines import HELP, QuestionLines, as_lines
from annotation.projects.services.change_members import (
    change_roles,
    is_last_owner,
    remove_member,
    set_roles,
)
from annotation.projects.services.change_project import RULES, change_project, create_project
from annotation.projects.shown_rules import carry_shown, refuse_overtaken, shown

if TYPE_CHECKING:
    ProjectModelForm = forms.ModelForm[Project]
else:
    ProjectModelForm = forms.ModelForm


class ProjectForm(ProjectModelForm):
    class Meta:
        model = Project
        fields = ("slug", *RULES)

    own_questions = QuestionLines(required=False, help_text=HELP)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        carry_shown(self)


class ToldRefusals(Rows):
    """What a service refuses is told above the form."""

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


@admin.register(Project)
class ProjectAdmin(ToldRefusals):
    """Rules change through the service: it logs old and new values, and the scores follow."""

    computed = ("quality_questions",)

    form = ProjectForm
    project_paths = ("pk",)
    view_verbs = (Verb.VIEW_PROJECT,)
    list_display = ("name", "slug", "blend", "reveal", "created_at")
    list_filter = ("blend", "reveal")
    search_fields = ("name", "slug", "public_id__exact")
    autocomplete_fields = ("deciding_judge",)

    def get_readonly_fields(self, request: HttpRequest, obj: Project | None = None) -> list[str]:
        if obj is None:
            return []
        if not self.has_change_permission(request, obj):
            return super().get_readonly_fields(request, obj)
        return ["slug", "public_id", "created_at"]

    def get_exclude(self, request: HttpRequest, obj: Project | None = None) -> tuple[str, ...]:
        """Assessors are not told that anything comes twice, nor the blind which judge decides."""
        hidden = ("deciding_judge",) if obj and not is_allowed(request, obj, Verb.VIEW_SCORES) else ()
        return hidden if self.has_change_permission(request, obj) else (*hidden, "own_questions")

    @admin.display(description="the project's own questions")
    def quality_questions(self, project: Project) -> str:
        return as_lines(project.own_questions)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return person_of(request).is_superuser

    def has_change_permission(self, request: HttpRequest, obj: Project | None = None) -> bool:
        if obj is None:
            return may_somewhere(request, Verb.CHANGE_PROJECT)
        return is_allowed(request, obj, Verb.CHANGE_PROJECT)

    def save_model(self, request: HttpRequest, obj: Project, form: Any, change: bool) -> None:
        rules = {name: form.cleaned_data[name] for name in form.changed_data if name in RULES}
        if change:

            def expect(project: Project) -> None:
                refuse_overtaken(form, model_to_dict(project, RULES), project)

            change_project(project=obj, by=person_of(request), expect=expect, **rules)
            return
        made = create_project(slug=obj.slug, by=person_of(request), **rules)
        obj.pk, obj.public_id = made.pk, made.public_id


if TYPE_CHECKING:
    MembershipModelForm = forms.ModelForm[Membership]
else:
    MembershipModelForm = forms.ModelForm


class MembershipForm(MembershipModelForm):
    """A person is named by their username: no list of all people is shown to anybody."""

    username = forms.CharField(max_length=150, required=False)
    roles = forms.MultipleChoiceField(choices=Role.choices, widget=forms.CheckboxSelectMultiple)

    class Meta:
        model = Membership
        fields = ("project", "roles")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        carry_shown(self)

    def clean_username(self) -> str:
        name: str = self.cleaned_data["username"]
        if not self.instance._state.adding:
            return name
        person = User.objects.filter(username=name, is_active=True).first()
        if person is None:
            raise ValidationError("There is no user with that username.")
        self.instance.user = person
        return name

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        project, username = cleaned.get("project"), cleaned.get("username")
        if project and username and project.memberships.filter(user__username=username).exists():
            self.add_error("username", f"{username} is a member of {project.name} already.")
        gives_up_owner = self.instance.pk and "roles" in cleaned and Role.OWNER not in cleaned["roles"]
        if gives_up_owner and is_last_owner(self.instance):
            self.add_error("roles", "A project needs an owner. Make someone else an owner first.")
        return cleaned


@admin.register(Membership)
class MembershipAdmin(ToldRefusals):
    form = MembershipForm
    project_paths = ("project",)
    view_verbs = (Verb.MANAGE_MEMBERS, Verb.ASSIGN)
    list_display = ("user", "project", "role_names", "created_at")
    list_select_related = ("user", "project")
    search_fields = ("user__username", "project__name", "public_id__exact")

    @admin.display(description="roles")
    def role_names(self, membership: Membership) -> str:
        return ", ".join(sorted(role.label for role in membership.role_set))

    def get_fields(self, request: HttpRequest, obj: Membership | None = None) -> tuple[str, ...]:
        return ("project", "user", "roles") if obj else ("project", "username", "roles")

    def get_readonly_fields(self, request: HttpRequest, obj: Membership | None = None) -> list[str]:
        if obj is None:
            return []
        if not self.has_change_permission(request, obj):
            return super().get_readonly_fields(request, obj)
        return ["project", "user"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return may_somewhere(request, Verb.MANAGE_MEMBERS)

    def has_change_permission(self, request: HttpRequest, obj: Membership | None = None) -> bool:
        if obj is None:
            return self.has_add_permission(request)
        return is_allowed(request, obj.project, Verb.MANAGE_MEMBERS)

    def has_delete_permission(self, request: HttpRequest, obj: Membership | None = None) -> bool:
        if obj is None:
            return False  # one at a time, so that the last owner cannot slip through a bulk action
        return self.has_change_permission(request, obj) and not is_last_owner(obj)

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "project" and not person_of(request).is_superuser:
            allowed = projects_allowing(request, [Verb.MANAGE_MEMBERS])
            kwargs["queryset"] = Project.objects.filter(pk__in=allowed)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: Membership, form: Any, change: bool) -> None:
        roles, by = form.cleaned_data["roles"], person_of(request)
        if change:
            if "roles" in form.changed_data:
                change_roles(membership=obj, roles=roles, by=by, seen=shown(form, "roles"))
            return
        saved = set_roles(project=obj.project, person=obj.user, roles=roles, by=by)
        obj.pk, obj.public_id = saved.pk, saved.public_id

    def delete_model(self, request: HttpRequest, obj: Membership) -> None:
        remove_member(membership=obj, by=person_of(request))
