"""Judge profiles, and what judges were asked. They belong to no project: superusers change them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest

from annotation.admin.reach import person_of, projects_allowing
from annotation.admin.rows import Rows
from annotation.models import CallClaim, Judge, JudgeCall
from annotation.permissions import Verb
from annotation.refusals import Refusal
from annotation.services.judges import is_allowed_url
from annotation.services.try_judge import CLAIM, Trial, try_judge
from evaluation.judging.openai import DEFAULT_BASE_URL

if TYPE_CHECKING:
    JudgeModelForm = forms.ModelForm[Judge]
else:
    JudgeModelForm = forms.ModelForm

ENVIRONMENT_NAME = re.compile(r"[A-Z][A-Z0-9_]*")
NOT_FOR_JUDGES = ("SECRET_KEY", "DATABASE_URL", "CELERY_BROKER_URL")
"""Secrets of the installation itself: a judge would be sent them as its key."""

MOST_TRIALS = 3
"""Whoever tries judges waits for all of them."""

IDENTITY = ("name", "kind", "model")
"""What a judge's verdicts were given as; fixed once there are any."""

SERVER = ("model", "base_url")
"""What decides which reply format a judge's server takes."""


class JudgeForm(JudgeModelForm):
    class Meta:
        model = Judge
        fields = (
            "name",
            "kind",
            "model",
            "base_url",
            "api_key_env",
            "temperature",
            "seed",
            "concurrency",
            "timeout_seconds",
            "max_tokens",
            "calls_per_minute",
            "tokens_per_minute",
            "context_tokens",
            "prompt_price",
            "completion_price",
            "custom_instruction",
            "members",
        )

    def clean_api_key_env(self) -> str:
        name: str = self.cleaned_data["api_key_env"]
        if name and not ENVIRONMENT_NAME.fullmatch(name):
            raise ValidationError(
                "This is not the name of an environment variable, such as OPENAI_API_KEY. Keys "
                "themselves are never stored here: put the key into the environment of the workers."
            )
        if name in NOT_FOR_JUDGES:
            raise ValidationError(f"{name} is a secret of this installation, not the key of a judge.")
        return name

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        kind = cleaned.get("kind", self.instance.kind)
        if kind == Judge.Kind.OPENAI:
            self._check_address(cleaned)
        elif cleaned.get("base_url") or cleaned.get("api_key_env"):
            self.add_error("base_url", "Only an OpenAI-compatible judge has an address and a key.")
        if kind != Judge.Kind.PANEL and cleaned.get("members"):
            self.add_error("members", "Only a panel has members.")
        return cleaned

    def _check_address(self, cleaned: dict[str, Any]) -> None:
        if not cleaned.get("model", self.instance.model):
            self.add_error("model", "Name the model at the provider.")
        url = cleaned.get("base_url") or DEFAULT_BASE_URL
        if not is_allowed_url(url, settings.COVERDICT_JUDGE_URLS):
            self.add_error(
                "base_url",
                f"Judges may not call {url}. Whoever runs this installation can allow it in "
                "COVERDICT_JUDGE_URLS.",
            )


@admin.register(Judge)
class JudgeAdmin(Rows):
    form = JudgeForm
    view_verbs = (Verb.RUN, Verb.CHANGE_PROJECT)
    list_display = ("name", "kind", "model", "base_url", "api_key_env", "reply_format")
    list_filter = ("kind",)
    search_fields = ("name", "model")
    autocomplete_fields = ("members",)
    actions = ("try_it",)

    def has_run_permission(self, request: HttpRequest) -> bool:
        """For the action; the service decides again."""
        return person_of(request).is_superuser or bool(projects_allowing(request, [Verb.RUN]))

    @admin.action(description="Try the selected judges with one sample claim", permissions=["run"])
    def try_it(self, request: HttpRequest, queryset: QuerySet[Judge]) -> None:
        for judge in queryset[:MOST_TRIALS]:
            try:
                trial = try_judge(judge=judge, by=person_of(request))
            except Refusal as refusal:
                self.message_user(request, f"{judge}: {refusal.message}", messages.ERROR)
            else:
                self.message_user(request, _told(judge, trial), messages.SUCCESS)

    def get_readonly_fields(self, request: HttpRequest, obj: Judge | None = None) -> list[str]:
        if obj is None:
            return []
        if not person_of(request).is_superuser:
            return super().get_readonly_fields(request, obj)
        is_used = obj.runs.exists() or obj.verdicts.exists() or obj.calls.exists()
        return [*(IDENTITY if is_used else ()), "reply_format", "public_id", "created_at"]

    def save_model(self, request: HttpRequest, obj: Judge, form: JudgeForm, change: bool) -> None:
        if set(SERVER) & set(form.changed_data):
            # Found of another server, or for another model there.
            obj.reply_format = ""
        super().save_model(request, obj, form, change)

    def get_prepopulated_fields(self, request: HttpRequest, obj: Judge | None = None) -> dict[str, Any]:
        return {}

    def has_add_permission(self, request: HttpRequest) -> bool:
        return person_of(request).is_superuser

    def has_change_permission(self, request: HttpRequest, obj: Judge | None = None) -> bool:
        return person_of(request).is_superuser


def _told(judge: Judge, trial: Trial) -> str:
    answer = f"{trial.label or 'no usable answer'}: {trial.reason}".removesuffix(": ")
    return (
        f"{judge} answers in {trial.seconds:.2f} s. “{CLAIM}” – {answer} "
        f"({trial.format_in_words}; {trial.prompt_tokens} + {trial.completion_tokens} tokens, "
        f"cost {trial.cost:.6f})"
    )


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

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return [name for name in super().get_readonly_fields(request, obj) if name != "token"]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.get_readonly_fields(request, obj)
