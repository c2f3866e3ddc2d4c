"""Closed questions about documents, what judges answered to them, and how judges rated summaries."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from annotation.models.base import PublicRow
from annotation.models.claim import LABEL_LENGTH, ClaimOrigin, Label
from annotation.models.constraints import bounded, has_text
from annotation.models.document import DocumentSet
from annotation.models.judge import Judge
from annotation.models.summary import Summary


class Question(PublicRow):
    """A closed question about a document set, asked of the source and of every peer summary alike.

    Its text never changes. A retired one stays with its answers and counts no more.
    """

    document_set = models.ForeignKey(DocumentSet, on_delete=models.CASCADE, related_name="questions")
    position = models.PositiveIntegerField()
    text = models.TextField()
    origin = models.CharField(max_length=8, choices=ClaimOrigin)
    origin_name = models.CharField(
        max_length=200, blank=True, help_text="The file, the judge's signature or the person."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("document_set_id", "position")
        constraints = (
            models.UniqueConstraint(fields=("document_set", "position"), name="question_position"),
            has_text("question_has_text"),
        )

    def __str__(self) -> str:
        return self.text[:80]


class QuestionAnswer(PublicRow):
    """What a judge answered to a question from the source, or from a summary alone. Never changed.

    A null label keeps an unusable answer with its reason; it counts as none.
    """

    question = models.ForeignKey(Question, on_delete=models.CASCADE, related_name="answers")
    summary = models.ForeignKey(
        Summary,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="question_answers",
        help_text="Empty for the answer from the source.",
    )
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="question_answers")
    origin_name = models.CharField(max_length=200, help_text="The judge's signature.")
    label = models.CharField(max_length=LABEL_LENGTH, choices=Label, null=True, blank=True)
    probability = models.FloatField(null=True, blank=True, help_text="Of yes, as the judge gave it.")
    evidence = models.JSONField(default=list, blank=True, help_text="Unit numbers of the text asked about.")
    reason = models.TextField(blank=True)
    run = models.ForeignKey(
        "annotation.Run", null=True, blank=True, on_delete=models.SET_NULL, related_name="question_answers"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("id",)
        constraints = (bounded("question_answer_probability_0_1", "probability", may_be_empty=True),)

    def __str__(self) -> str:
        return f"{self.label or 'unscored'} by {self.judge}"


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
