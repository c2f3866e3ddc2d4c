"""How judges rated summaries."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from annotation.models.base import PublicRow
from annotation.models.constraints import bounded
from annotation.models.judge import Judge
from annotation.models.summary import Summary

COMPUTED = ("completeness", "redundancy")
"""Ratings that no judge gives."""


class Rating(PublicRow):
    """A number for a whole summary: a judge's rating, or what a metric without a judge computed. Never changed.

    A null value keeps an unusable answer with its reason; it counts as none.
    """

    class Name(models.TextChoices):
        CONCISENESS = "conciseness", "Conciseness, by a judge"
        COHERENCE = "coherence", "Coherence, by a judge"
        TOPIC_PRESERVATION = "topic_preservation", "Share of the source's topics dealt with, by a judge"
        COMPLETENESS = "completeness", "Completeness, computed"
        REDUNDANCY = "redundancy", "Freedom from repetition, computed"

    summary = models.ForeignKey(Summary, on_delete=models.CASCADE, related_name="ratings")
    name = models.CharField(max_length=20, choices=Name)
    judge = models.ForeignKey(Judge, null=True, blank=True, on_delete=models.PROTECT, related_name="ratings")
    origin_name = models.CharField(
        max_length=200, help_text="The judge's signature, or the metric's version."
    )
    value = models.FloatField(null=True, blank=True)
    reason = models.TextField(blank=True)
    run = models.ForeignKey(
        "annotation.Run", null=True, blank=True, on_delete=models.SET_NULL, related_name="ratings"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            bounded("rating_0_1", "value", may_be_empty=True),
            models.CheckConstraint(
                name="rating_by_a_judge_or_computed",
                condition=Q(name__in=COMPUTED, judge__isnull=True, value__isnull=False)
                | (~Q(name__in=COMPUTED) & Q(judge__isnull=False)),
            ),
        )

    def __str__(self) -> str:
        return f"{self.name} of {self.summary_id}"
