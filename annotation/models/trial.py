"""Trials of new guidelines: checks that are answered again, and these answers."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.base import PublicRow
from annotation.models.claim import LABEL_LENGTH, Check, Label, Verdict
from annotation.models.constraints import together
from annotation.models.guideline import Guideline
from annotation.models.project import Project


class GuidelineTrial(PublicRow):
    """A random sample of checks that were answered under `old` and are answered again, most under `new`.

    A random third is answered again under `old`.
    """

    class Decision(models.TextChoices):
        MIX = "mix", "Old and new answers count"
        NEW = "new", "Only new answers count"
        CORRECT = "correct", "Old and new answers count, and estimates rest on new answers"
        DROP = "drop", "Answers given again do not count"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="trials")
    old = models.ForeignKey(Guideline, on_delete=models.PROTECT, related_name="+")
    new = models.ForeignKey(Guideline, on_delete=models.PROTECT, related_name="+")
    side = models.CharField(max_length=9, choices=Check.Side)
    by_others = models.BooleanField(help_text="People answer again who have not answered the check before.")
    seed = models.BigIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)
    decision = models.CharField(max_length=7, choices=Decision, null=True, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-id",)
        constraints = (
            together("trial_decision_has_time", "decision", "decided_at"),
            models.UniqueConstraint(fields=("project",), condition=Q(decision=None), name="trial_one_open"),
        )

    def __str__(self) -> str:
        return f"guidelines {self.old.version} and {self.new.version}"


class AnswerAgain(PublicRow):
    """A check of a trial with the answer that a person gave before and the answer given again.

    `person` is asked, or has answered. In a trial with `by_others`, `person` is null until somebody answers.
    """

    trial = models.ForeignKey(GuidelineTrial, on_delete=models.CASCADE, related_name="answers")
    check_row = models.ForeignKey(Check, on_delete=models.CASCADE, related_name="+")
    verdict = models.ForeignKey(Verdict, on_delete=models.CASCADE, related_name="+")
    is_control = models.BooleanField(help_text="It is answered again under the old guidelines.")
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    label = models.CharField(max_length=LABEL_LENGTH, choices=Label, null=True, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("trial", "check_row"), name="answer_again_once"),
            together("answer_again_has_time", "label", "answered_at"),
            models.CheckConstraint(
                name="answer_again_has_person", condition=Q(label__isnull=True) | Q(person__isnull=False)
            ),
        )

    def __str__(self) -> str:
        return self.label or "not answered again yet"
