"""Closed questions about documents, and what judges answered to them."""

from __future__ import annotations

from django.db import models

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
