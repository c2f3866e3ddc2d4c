"""The pages of judges: list, form, connection test, archive, and choice of the deciding judge."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render

from annotation.core.permissions import Verb
from annotation.core.refusals import Conflict, Invalid
from annotation.judging.queries.judges import JUDGES, judges_of, served_models
from annotation.judging.services.check_connection import check_connection
from annotation.judging.services.judges import LEXICAL, judge_by_name
from annotation.judging.services.let_decide import let_decide
from annotation.judging.services.save_judge import (
    IDENTITY,
    LIMITS,
    PRICES,
    PROFILE,
    add_judge,
    archive_judge,
    as_changed,
    change_judge,
    is_used,
    profile_faults,
)
from annotation.judging.services.servers import allowed_urls
from annotation.models import Judge, Project, PromptVersion
from annotation.web.htmx import Request
from annotation.web.lists import list_page
from annotation.web.refusals import status_of
from annotation.web.rooms import Room, enter, found
from annotation.web.screen import screen

if TYPE_CHECKING:
    JudgeModelForm = forms.ModelForm[Judge]
else:
    JudgeModelForm = forms.ModelForm

KINDS = (Judge.Kind.OPENAI, Judge.Kind.PANEL)
"""The kinds of a project's own judges; the lexical judge is built in."""
CHOSEN = ("members", "prompts")
"""The related rows."""
OF_PANEL = ("members", "ask_next_below")
ADVANCED = (*PRICES, *LIMITS, "custom_instruction", "prompts")
"""The advanced fields, which are folded."""
FIELDS: dict[str, set[str]] = {
    Judge.Kind.OPENAI: {"name", "model", "base_url", *ADVANCED},
    Judge.Kind.PANEL: {"name", *OF_PANEL},
    Judge.Kind.LEXICAL: {"name"},
}
"""The fields of each kind besides the key."""
PROVIDERS: dict[str, dict[str, str]] = tomllib.loads(
    files("annotation.judging").joinpath("providers.toml").read_text("utf-8")
)
"""The address, a model and a hint for each provider that can be chosen."""


class ProfileForm(JudgeModelForm):
    """The form of a judge, with the fields of its kind. The service checks the values."""

    api_key = forms.CharField(
        label="API key",
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    remove_key = forms.BooleanField(label="Remove the stored key", required=False)
    field_order = ("name", "model", "base_url", "api_key", "remove_key")

    class Meta:
        model = Judge
        fields = ("name", "model", "base_url", *ADVANCED, *OF_PANEL)
        help_texts = {"base_url": "Empty: OpenAI."}
        labels = {"ask_next_below": "Ask the next only if those before are less sure than"}
        widgets = {
            "base_url": forms.TextInput(attrs={"list": "base-urls", "spellcheck": "false"}),
            "custom_instruction": forms.Textarea(attrs={"rows": 3}),
            **dict.fromkeys(CHOSEN, forms.CheckboxSelectMultiple),
        }

    def __init__(self, *args: Any, may_set_keys: bool, is_administrator: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        judge = self.instance
        shown = FIELDS[judge.kind].copy()
        if may_set_keys and judge.project is not None and judge.kind == Judge.Kind.OPENAI:
            shown |= {"api_key", "remove_key"} if judge.sealed_key else {"api_key"}
        for name in self.fields.keys() - shown:
            del self.fields[name]
        chosen: dict[str, Any] = self.fields
        if "members" in chosen:
            usable = judges_of(judge.project).filter(archived_at=None)
            chosen["members"].queryset = usable.exclude(kind=Judge.Kind.PANEL)
        if "prompts" in chosen:
            chosen["prompts"].queryset = PromptVersion.objects.filter(project=judge.project)
        if "api_key" in chosen:
            chosen["api_key"].help_text = (
                "A key is stored. Leave this empty to keep it."
                if judge.sealed_key
                else "Stored encrypted, and sent to this server only. Nobody can read it here again."
            )
        fixed = set(IDENTITY) if is_used(judge) else set()
        if judge.kind == Judge.Kind.LEXICAL or (judge.project is None and not is_administrator):
            fixed = shown
        for name in self.fields.keys() & fixed:
            self.fields[name].disabled = True

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        self.profile = {name: value for name, value in cleaned.items() if name in PROFILE}
        self.chosen = {name: list(cleaned.get(name) or ()) for name in CHOSEN}
        # An empty key removes the stored one, None keeps it.
        self.key = cleaned.get("api_key") or ("" if cleaned.get("remove_key") else None)
        try:
            self.changed = as_changed(self.instance, self.profile, self.key)
            faults = profile_faults(self.changed, **self.chosen)
        except Invalid as refusal:
            faults = [refusal]
        for fault in faults:
            if fault.field not in self.errors:
                self.add_error(fault.field if fault.field in self.fields else None, fault.message)
        return cleaned

    def _post_clean(self) -> None:
        """Skip the checks of the model, because the service has checked everything already."""


@screen("GET")
def judges(request: Request, slug: str) -> HttpResponseBase:
    room = enter(request, slug, Verb.VIEW_RUNS, here="judges")
    context = {"has_judge": room.project.deciding_judge_id is not None}
    return list_page(request, room, JUDGES, page="judging/judges/list.html", context=context)


@screen("GET", "POST")
def add(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.CHANGE_PROJECT, here="judges")
    kind = request.GET.get("kind", Judge.Kind.OPENAI)
    if kind not in KINDS:
        raise Invalid(f"A judge to add is one of {', '.join(KINDS)}.", field="kind")
    if kind == Judge.Kind.PANEL:
        judge_by_name(LEXICAL)  # Create it, so that it can be a member.
    judge = Judge(project=room.project, kind=kind)
    if kind == Judge.Kind.OPENAI:
        judge.base_url, judge.model = _provider(request)["base_url"], _provider(request)["model"]
    return _form(request, room, judge)


@screen("GET", "POST")
def judge(request: Request, slug: str, judge_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.CHANGE_PROJECT, here="judges")
    return _form(request, room, _judge(room, judge_id))


@screen("POST")
def archive(request: Request, slug: str, judge_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.CHANGE_PROJECT, here="judges")
    archive_judge(judge=_judge(room, judge_id), by=request.user, restore="restore" in request.POST)
    return redirect("judges", slug=slug)


@screen("POST")
def decide(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.CHANGE_PROJECT, here="judges")
    row = judge_by_name(request.POST.get("judge", ""), room.project)
    let_decide(project=room.project, judge=row, by=request.user)
    messages.success(request, f"{row.name} is now the project's judge.")
    return _onwards(room.project)


def _onwards(project: Project) -> HttpResponse:
    """Redirect to the start of the first run, or to the judges."""
    is_ready = project.document_sets.exists() and not project.runs.exists()
    return redirect("runs" if is_ready else "judges", slug=project.slug)


def _form(request: Request, room: Room, row: Judge) -> HttpResponse:
    form = ProfileForm(
        request.POST or None,
        instance=row,
        may_set_keys=Verb.SET_KEYS in room.verbs,
        is_administrator=request.user.is_superuser,
    )
    context: dict[str, object] = {
        "room": room,
        "judge": row,
        "form": form,
        "allowed": allowed_urls(),
        "providers": PROVIDERS,
        "provider": request.GET.get("provider", "OpenAI"),
        "hint": _provider(request).get("hint", ""),
        "is_used": is_used(row),
        "advanced": ADVANCED,
        "may_save": any(not field.field.disabled for field in form),
        "served_models": [] if row._state.adding else served_models(row),
    }
    is_test = request.POST.get("act") == "test"
    status = 200 if form.is_valid() or not form.is_bound else 422
    if form.is_valid():
        try:
            if not is_test:
                _save(request, room, row, form)
                return _onwards(room.project)
            context["connection"] = check_connection(
                project=room.project, judge=form.changed, by=request.user
            )
        except (Invalid, Conflict) as refusal:
            form.add_error(None, refusal.message)
            status = status_of(refusal)
    page = "_connection" if request.htmx and is_test else "judge"
    return render(request, f"judging/judges/{page}.html", {**context, "is_test": is_test}, status=status)


def _provider(request: Request) -> dict[str, str]:
    return PROVIDERS.get(request.GET.get("provider", ""), PROVIDERS["OpenAI"])


def _save(request: Request, room: Room, row: Judge, form: ProfileForm) -> None:
    given: dict[str, Any] = {**form.profile, **form.chosen, "api_key": form.key}
    if row._state.adding:
        made = add_judge(project=room.project, by=request.user, kind=row.kind, **given)
        if room.project.deciding_judge_id is None:
            let_decide(project=room.project, judge=made, by=request.user)
    else:
        changed = change_judge(judge=row, by=request.user, **given)
        if row.sealed_key and not changed.sealed_key and not form.cleaned_data.get("remove_key"):
            messages.warning(
                request, "The stored key was deleted, because it was for another server. Enter its key."
            )
    messages.success(request, f"Judge {form.cleaned_data['name']} is saved.")


def _judge(room: Room, public_id: str) -> Judge:
    return found(judges_of(room.project).select_related("project"), public_id, "judge")
