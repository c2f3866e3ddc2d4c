"""Judges and what they were asked."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from annotation.models.base import PublicRow


class Judge(PublicRow):
    """A profile of whatever answers checks automatically.

    The key itself is never stored: `api_key_env` names the environment variable that holds it.
    """

    class Kind(models.TextChoices):
        LEXICAL = "lexical", "Offline lexical baseline"
        OPENAI = "openai", "OpenAI-compatible"
        PANEL = "panel", "Panel of judges"

    name = models.SlugField(max_length=60, unique=True)
    kind = models.CharField(max_length=7, choices=Kind)
    model = models.CharField(max_length=200, blank=True, help_text="The model's name at the provider.")
    base_url = models.CharField(max_length=500, blank=True, help_text="One of the allowed base URLs.")
    api_key_env = models.CharField(
        max_length=100, blank=True, help_text="Name of the environment variable that holds the key."
    )
    temperature = models.FloatField(default=0.0)
    seed = models.IntegerField(null=True, blank=True)
    concurrency = models.PositiveIntegerField(default=8, help_text="Calls at once.")
    timeout_seconds = models.FloatField(default=60.0)
    members = models.ManyToManyField("self", symmetrical=False, blank=True, related_name="panels")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("name",)
        constraints = (
            models.CheckConstraint(name="judge_openai_has_model", condition=~Q(kind="openai") | ~Q(model="")),
            models.CheckConstraint(name="judge_concurrency_at_least_1", condition=Q(concurrency__gte=1)),
            models.CheckConstraint(name="judge_timeout_positive", condition=Q(timeout_seconds__gt=0)),
        )

    def __str__(self) -> str:
        return self.name


class JudgeCall(PublicRow):
    """One question to a judge and the reply, kept so that it is never paid for twice."""

    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="calls")
    key = models.CharField(max_length=64, unique=True, help_text="Hash of judge, prompt version and input.")
    step = models.CharField(max_length=40)
    prompt_version = models.CharField(max_length=40)
    request = models.TextField(help_text="Canonical JSON of what was asked, without any secret.")
    reply = models.TextField(blank=True)
    finish_reason = models.CharField(max_length=40, blank=True)
    prompt_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(default=0.0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"{self.step} of {self.judge}"
