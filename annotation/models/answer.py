"""The base of all answers of people and judges."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.base import PublicRow
from annotation.models.guideline import Guideline


class ErrorType(models.TextChoices):
    HALLUCINATION = "hallucination", "Hallucination"
    OMISSION = "omission", "Omission"
    WRONG_NUMBER = "wrong_number", "Wrong number"
    WRONG_ENTITY = "wrong_entity", "Wrong entity"
    CONTRADICTION = "contradiction", "Contradiction"
    NOT_CHECKABLE = "not_checkable", "Not checkable"


class Answer(PublicRow):
    """An answer of a person, a judge or a file, in a role.

    A withdrawn answer keeps its row. An adjudicator's answer is a decision.
    """

    class Role(models.TextChoices):
        JUDGE = "judge", "Judge"
        REVIEWER = "reviewer", "Reviewer"
        ASSESSOR = "assessor", "Assessor"
        ADJUDICATOR = "adjudicator", "Adjudicator"

    role = models.CharField(max_length=11, choices=Role)
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    evidence = models.JSONField(default=list, blank=True, help_text="Numbers of the units that support it.")
    reason = models.TextField(blank=True)
    error_type = models.CharField(max_length=13, choices=ErrorType, blank=True)
    active_ms = models.PositiveIntegerField(
        default=0, help_text="Time at the item before the answer, in ms, without idle time."
    )
    guideline = models.ForeignKey(
        Guideline, null=True, blank=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    had_seen = models.BooleanField(default=False, help_text="The author had seen others' answers before.")
    created_at = models.DateTimeField(auto_now_add=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True


STANDING_DECISION = Q(role=Answer.Role.ADJUDICATOR, withdrawn_at=None)
"""Decisions that are not withdrawn; the latest one of an item counts."""
