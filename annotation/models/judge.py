"""Judges, their examples and their calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models
from django.db.models import F, Q

from annotation.models.base import PublicRow
from annotation.models.constraints import bounded

if TYPE_CHECKING:
    from django.db.models import QuerySet


class Judge(PublicRow):
    """The profile of an automatic judge. A judge without a project is shared by all projects.

    The API key, if any, is in the environment variable `api_key_env`, or encrypted in `sealed_key`.
    """

    class Kind(models.TextChoices):
        LEXICAL = "lexical", "Offline lexical baseline"
        OPENAI = "openai", "OpenAI-compatible"
        PANEL = "panel", "Panel of judges"

    class ReplyFormat(models.TextChoices):
        JSON_SCHEMA = "json_schema", "JSON by a schema"
        JSON_OBJECT = "json_object", "JSON, but not by a schema"
        TEXT = "text", "Plain text"

    project = models.ForeignKey(
        "annotation.Project",
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="own_judges",
        help_text="The project of the judge; empty for a shared judge.",
    )
    name = models.SlugField(max_length=60)
    kind = models.CharField(max_length=7, choices=Kind)
    model = models.CharField(
        "Model", max_length=200, blank=True, help_text="The model's name at the provider."
    )
    base_url = models.CharField(
        "Base URL", max_length=500, blank=True, help_text="One of the allowed base URLs; empty: OpenAI."
    )
    api_key_env = models.CharField(
        max_length=100, blank=True, help_text="Name of the environment variable that holds the key."
    )
    sealed_key = models.TextField(
        blank=True, editable=False, help_text="An API key, encrypted so that it opens for one server only."
    )
    temperature = models.FloatField(default=0.0, null=True, blank=True)
    seed = models.IntegerField(null=True, blank=True)
    concurrency = models.PositiveIntegerField("Concurrent calls", default=8, help_text="Across all workers.")
    timeout_seconds = models.FloatField("Timeout in seconds", default=60.0)
    max_tokens = models.PositiveIntegerField(
        "Maximum reply length in tokens", default=4000, help_text="Longer replies are cut off and unusable."
    )
    calls_per_minute = models.PositiveIntegerField(
        null=True, blank=True, help_text="Per 60 seconds; empty: no limit."
    )
    tokens_per_minute = models.PositiveIntegerField(
        null=True, blank=True, help_text="Per 60 seconds; empty: no limit."
    )
    context_tokens = models.PositiveIntegerField(
        "Context length in tokens",
        null=True,
        blank=True,
        help_text="Maximum size of request and reply; longer texts are split into windows.",
    )
    prompt_price = models.FloatField(
        "Price per million prompt tokens", default=0.0, help_text="In any currency."
    )
    completion_price = models.FloatField(
        "Price per million reply tokens", default=0.0, help_text="In the same currency."
    )
    custom_instruction = models.TextField(
        blank=True,
        help_text="Added to the instructions of every step. Another text makes it another judge.",
    )
    reply_format = models.CharField(
        max_length=11,
        choices=ReplyFormat,
        blank=True,
        help_text="The best reply format that its server accepts. Empty until it has been asked.",
    )
    refused_parameters = models.JSONField(
        default=list,
        blank=True,
        help_text="Parameters that its server refused; requests leave them out.",
    )
    ask_next_below = models.FloatField(
        "Ask the next member below confidence",
        null=True,
        blank=True,
        help_text="0 to 1, cheapest member first; empty: every member answers everything.",
    )
    prompts = models.ManyToManyField(
        "annotation.PromptVersion",
        blank=True,
        related_name="judges",
        help_text="Built-in where no version is chosen.",
    )
    members = models.ManyToManyField("self", symmetrical=False, blank=True, related_name="panels")
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(
        null=True, blank=True, help_text="From then on no run may name it; its verdicts remain."
    )

    class Meta:
        ordering = ("name",)
        constraints = (
            models.UniqueConstraint(fields=("project", "name"), name="judge_name_once_in_project"),
            models.UniqueConstraint(
                fields=("name",), condition=Q(project__isnull=True), name="judge_shared_name_once"
            ),
            models.CheckConstraint(name="judge_openai_has_model", condition=~Q(kind="openai") | ~Q(model="")),
            models.CheckConstraint(name="judge_concurrency_at_least_1", condition=Q(concurrency__gte=1)),
            models.CheckConstraint(name="judge_timeout_positive", condition=Q(timeout_seconds__gt=0)),
            bounded("judge_ask_next_below_0_1", "ask_next_below", may_be_empty=True),
            models.CheckConstraint(name="judge_max_tokens_at_least_1", condition=Q(max_tokens__gte=1)),
            models.CheckConstraint(
                name="judge_limits_at_least_1",
                condition=(Q(calls_per_minute__isnull=True) | Q(calls_per_minute__gte=1))
                & (Q(tokens_per_minute__isnull=True) | Q(tokens_per_minute__gte=1)),
            ),
            models.CheckConstraint(
                name="judge_context_holds_a_reply",
                condition=Q(context_tokens__isnull=True) | Q(context_tokens__gt=F("max_tokens")),
            ),
            models.CheckConstraint(
                name="judge_prices_not_negative",
                condition=Q(prompt_price__gte=0, completion_price__gte=0),
            ),
        )

    def __str__(self) -> str:
        return self.name

    @property
    def has_price(self) -> bool:
        return self.prompt_price > 0 or self.completion_price > 0


class JudgeExamples(PublicRow):
    """Examples of people's answers in the prompts of a judge. `base` is the judge without them.

    A hash divides document sets (or groups) into two halves. Each half is judged with examples from the other half.
    """

    judge = models.OneToOneField(Judge, on_delete=models.CASCADE, related_name="examples")
    base = models.ForeignKey(
        Judge, on_delete=models.PROTECT, related_name="taught", help_text="The judge without the examples."
    )
    guideline = models.ForeignKey(
        "annotation.Guideline",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="examples",
        help_text="The guideline sent with the examples; the current one when they were chosen.",
    )
    chosen = models.JSONField(default=list, help_text="The examples in the prompt for each half.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "judge examples"
        ordering = ("id",)

    def __str__(self) -> str:
        return f"examples of {self.judge}"


class AnsweredCalls(models.Manager["JudgeCall"]):
    def get_queryset(self) -> QuerySet[JudgeCall]:
        return super().get_queryset().filter(lease_until=None)


class JudgeCall(PublicRow):
    """A request to a judge with its reply. Retention may erase the texts.

    While a worker waits for the reply, the row has a lease. `objects` contains no row with a lease.
    """

    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="calls")
    key = models.CharField(max_length=64, unique=True, help_text="Hash of judge, prompt version and input.")
    step = models.CharField(max_length=40)
    prompt_version = models.CharField(max_length=40)
    request = models.TextField(help_text="Canonical JSON of the request, without secrets.")
    reply = models.TextField(blank=True)
    finish_reason = models.CharField(max_length=40, blank=True)
    prompt_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(default=0.0)
    chances = models.TextField(blank=True, help_text="JSON of the probabilities of the values in the reply.")
    served_model = models.CharField(
        max_length=200,
        blank=True,
        help_text="The model's name in the reply, which may differ from the one asked.",
    )
    run = models.ForeignKey(
        "annotation.Run",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="calls",
        help_text="The run that paid for it.",
    )
    erased_at = models.DateTimeField(
        null=True,
        help_text="From then on its texts are deleted; its question would be asked and paid for again.",
    )
    token = models.CharField(max_length=32, blank=True, help_text="Token of the worker that asks.")
    lease_until = models.DateTimeField(
        null=True, help_text="The worker may ask until then; empty after the reply."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = AnsweredCalls()
    all_calls: models.Manager[JudgeCall] = models.Manager()

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"{self.step} of {self.judge}"
