"""Judge profiles, and what judges were asked. They belong to no project: superusers change them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest

from annotation.admin.reach import may_somewhere, person_of
from annotation.admin.rows import Rows
from annotation.core.permissions import Verb
from annotation.core.refusals import Refusal
from annotation.judging.services.judges import is_allowed_url
from annotation.judging.services.try_judge import TRIAL_CLAIM, Trial, try_judge
from annotation.judging.words import format_in_words
from annotation.models import CallClaim, CallStart, Judge, JudgeCall, JudgeShare
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

NUMBER_BOUNDS: dict[str, tuple[Callable[[float], bool], str]] = {
    "temperature": (lambda value: 0 <= value <= 2, "A temperature lies between 0 and 2."),
    "concurrency": (lambda value: value >= 1, "A judge is asked at least one question at once."),
    "timeout_seconds": (lambda value: value > 0, "Name more than 0 seconds to wait for a reply."),
    "max_tokens": (lambda value: value >= 1, "A reply needs at least one token."),
    "calls_per_minute": (lambda value: value >= 1, "Name at least 1, or leave it empty for no limit."),
    "tokens_per_minute": (lambda value: value >= 1, "Name at least 1, or leave it empty for no limit."),
    "prompt_price": (lambda value: value >= 0, "A price is 0 or more."),
    "completion_price": (lambda value: value >= 0, "A price is 0 or more."),
}
"""What the numbers of a profile may be, as the database holds them to it, and that in words."""

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
        self._check_members(kind, cleaned)
        self._check_numbers(cleaned)
        return cleaned

    def _check_members(self, kind: str, cleaned: dict[str, Any]) -> None:
        members = cleaned.get("members") or ()
        if kind != Judge.Kind.PANEL:
            if members:
                self.add_error("members", "Only a panel has members.")
            return
        if not members:
            self.add_error("members", "Name the judges that the panel asks.")
        nested = [member.name for member in members if member.kind == Judge.Kind.PANEL]
        if nested:
            self.add_error("members", f"A panel cannot ask panels: {', '.join(nested)}. Name judges.")

    def _check_numbers(self, cleaned: dict[str, Any]) -> None:
        for name, (is_within, words) in NUMBER_BOUNDS.items():
            value = cleaned.get(name)
            if value is not None and not is_within(value):
                self.add_error(name, words)
        context, reply = cleaned.get("context_tokens"), cleaned.get("max_tokens")
        if context is not None and reply is not None and context <= reply:
            self.add_error(
                "context_tokens",
                f"The context holds question and reply, so it must be larger than a reply's {reply} tokens.",
            )
        self._check_prices(cleaned.get("prompt_price"), cleaned.get("completion_price"))

    def _check_prices(self, prompt: float | None, completion: float | None) -> None:
        """A cap would not hold what seems to be free."""
        if prompt and prompt > 0 and completion == 0:
            self.add_error(
                "completion_price",
                "Without it replies would count as free under a cap. Give both prices, or neither.",
            )
        if completion and completion > 0 and prompt == 0:
            self.add_error(
                "prompt_price",
                "Without it prompts would count as free under a cap. Give both prices, or neither.",
            )

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
        return may_somewhere(request, Verb.RUN)

    @admin.action(description="Try the selected judges with one sample claim", permissions=["run"])
    def try_it(self, request: HttpRequest, queryset: QuerySet[Judge]) -> None:
        chosen = list(queryset.order_by("name"))
        for judge in chosen[:MOST_TRIALS]:
            try:
                trial = try_judge(judge=judge, by=person_of(request))
            except Refusal as refusal:
                self.message_user(request, f"Judge {judge}: {refusal.message}", messages.ERROR)
            else:
                level = messages.WARNING if trial.label is None else messages.SUCCESS
                self.message_user(request, _told(judge, trial), level)
        if left := chosen[MOST_TRIALS:]:
            self.message_user(
                request,
                f"Not tried: {', '.join(map(str, left))}. You wait for every trial, so at most {MOST_TRIALS} are "
                "made at a time; choose these again.",
                messages.WARNING,
            )

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
    # The admin writes the first letter large, so no message begins with a judge's name.
    begun = "answers" if trial.label else "gave no usable answer"
    answer = f"{trial.label or 'unscored'}: {trial.reason}".removesuffix(": ")
    return (
        f"Judge {judge} {begun} in {trial.seconds:.2f} s. “{TRIAL_CLAIM}” – {answer} "
        f"({format_in_words(trial.format)}; {trial.prompt_tokens} + {trial.completion_tokens} tokens, "
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
    exclude = ("token",)


@admin.register(JudgeShare)
class JudgeShareAdmin(Rows):
    """How a judge's calls at once are parted between processes, for superusers."""

    list_display = ("judge", "calls", "lease_until")
    list_select_related = ("judge",)
    search_fields = ("judge__name",)
    exclude = ("token",)


@admin.register(CallStart)
class CallStartAdmin(Rows):
    """Calls of the last minute of judges with a limit by the minute, for superusers."""

    list_display = ("judge", "at", "tokens")
    list_select_related = ("judge",)
    search_fields = ("judge__name",)
