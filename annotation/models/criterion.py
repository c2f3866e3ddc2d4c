"""Criteria of a project, and ratings of summaries."""

from __future__ import annotations

import dataclasses

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q

from annotation.models.answer import Answer
from annotation.models.assignment import Assignment, Sample
from annotation.models.base import PublicRow
from annotation.models.constraints import bounded
from annotation.models.judge import Judge
from annotation.models.project import Project
from annotation.models.summary import Summary
from evaluation import metrics


class Criterion(PublicRow):
    """A question about a summary that a project asks.

    The fields of `evaluation.metrics.Criterion` are columns. A retired criterion keeps its ratings.
    """

    class Scale(models.TextChoices):
        POINTS = "points", "Points"
        YES_NO = "yes_no", "Yes or no"
        PERCENT = "percent", "Percent"
        SHARE = "share", "Share from 0 to 1"

    class Reads(models.TextChoices):
        SUMMARY = "summary", "The summary alone"
        REFERENCE = "reference", "With the reference"
        SOURCE = "source", "With the source"
        UNMARKED = "unmarked", "The unmarked units of the summary"

    class AnsweredBy(models.TextChoices):
        PEOPLE = "people", "People"
        JUDGE = "judge", "Judges"
        BOTH = "both", "People and judges"

    class Asked(models.TextChoices):
        BEFORE = "before", "Before the reference is seen"
        AFTER = "after", "After the reference was judged"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="criteria")
    name = models.CharField(max_length=40)
    version = models.PositiveIntegerField(default=1)
    position = models.PositiveIntegerField(default=0)
    question = models.CharField(max_length=metrics.LONGEST_QUESTION)
    scale = models.CharField(max_length=7, choices=Scale, default=Scale.POINTS)
    points = models.JSONField(
        default=list, blank=True, help_text='Values with words: [[1, "poor"], [2, "good"]].'
    )
    higher_is_better = models.BooleanField(default=True)
    reads = models.CharField(max_length=9, choices=Reads, default=Reads.SUMMARY)
    answered_by = models.CharField(max_length=6, choices=AnsweredBy, default=AnsweredBy.PEOPLE)
    asked = models.CharField(max_length=6, choices=Asked, default=Asked.BEFORE)
    created_at = models.DateTimeField(auto_now_add=True)
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "criteria"
        ordering = ("project_id", "position", "id")
        constraints = (
            models.UniqueConstraint(fields=("project", "name", "version"), name="criterion_version"),
            models.UniqueConstraint(
                fields=("project", "name"), condition=Q(retired_at__isnull=True), name="criterion_asked_once"
            ),
        )

    def __str__(self) -> str:
        return self.name

    @property
    def fact(self) -> metrics.Criterion:
        """Return the criterion as the library's type."""
        columns = {field.name: getattr(self, field.name) for field in dataclasses.fields(metrics.Criterion)}
        return metrics.Criterion(
            **columns | {"points": tuple((value, words) for value, words in self.points)}
        )

    def clean(self) -> None:
        if fault := self.fact.fault:
            raise ValidationError({fault[0]: fault[1]})


COUNTED = (
    Q(withdrawn_at=None)
    & ~Q(role=Answer.Role.ADJUDICATOR)
    & (Q(assignment=None) | Q(assignment__closed_at__isnull=False))
)
"""Ratings that count as answers: not withdrawn, no decision, and in no assignment or a closed one."""


class Rating(Answer):
    """The answer to a criterion about one summary.

    A null value means that a judge's answer was unusable (with the reason), or that a person took the answer back.
    """

    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="ratings")
    summary = models.ForeignKey(Summary, on_delete=models.CASCADE, related_name="ratings")
    assignment = models.ForeignKey(
        Assignment, null=True, blank=True, on_delete=models.CASCADE, related_name="ratings", db_index=False
    )
    judge = models.ForeignKey(Judge, null=True, blank=True, on_delete=models.PROTECT, related_name="ratings")
    run = models.ForeignKey(
        "annotation.Run", null=True, blank=True, on_delete=models.SET_NULL, related_name="ratings"
    )
    origin_name = models.CharField(
        max_length=200, blank=True, help_text="The judge's signature, or an imported rater's name."
    )
    value = models.FloatField(null=True, blank=True)
    confidence = models.FloatField(null=True, blank=True, help_text="How sure the judge is, from 0 to 1.")
    expected = models.FloatField(
        null=True, blank=True, help_text="The mean of the values by the judge's probabilities of them."
    )
    version = models.PositiveIntegerField(
        default=1,
        help_text="Counts the rows of one assignment, or of one reviewer, on this criterion and summary.",
    )

    class Meta:
        ordering = ("id",)
        constraints = (
            bounded("rating_0_100", "value", 100, may_be_empty=True),
            models.CheckConstraint(
                name="rating_has_author",
                condition=Q(role="judge", judge__isnull=False, person__isnull=True)
                | (~Q(role="judge") & Q(judge__isnull=True) & (Q(person__isnull=False) | ~Q(origin_name=""))),
            ),
            models.CheckConstraint(
                name="rating_in_assignment", condition=~Q(role="assessor") | Q(assignment__isnull=False)
            ),
            models.UniqueConstraint(
                fields=("assignment", "summary", "criterion", "version"),
                condition=Q(assignment__isnull=False),
                name="rating_version",
            ),
            models.UniqueConstraint(
                fields=("person", "summary", "criterion", "version"),
                condition=Q(role="reviewer", person__isnull=False),
                name="rating_version_of_reviewer",
            ),
            bounded("rating_confidence_0_1", "confidence", may_be_empty=True),
        )

    def __str__(self) -> str:
        return "unscored" if self.value is None else self.criterion.fact.in_words(self.value)

    @property
    def rating(self) -> float | None:
        return self.value

    @property
    def place(self) -> Summary:
        return self.summary


class SampledRating(PublicRow):
    """A summary in a sample for a criterion, with its inclusion probability and its answer.

    `rating` is null until there is a blind answer of a reviewer.
    """

    sample = models.ForeignKey(Sample, on_delete=models.CASCADE, related_name="sampled_ratings")
    summary = models.ForeignKey(Summary, on_delete=models.CASCADE, related_name="sampled")
    inclusion_probability = models.FloatField()
    rating = models.ForeignKey(
        Rating, null=True, blank=True, on_delete=models.PROTECT, related_name="sampled_for"
    )

    class Meta:
        ordering = ("sample_id", "id")
        constraints = (
            models.UniqueConstraint(fields=("sample", "summary"), name="sampled_rating_once"),
            models.CheckConstraint(
                name="sampled_rating_probability_0_1",
                condition=Q(inclusion_probability__gt=0, inclusion_probability__lte=1),
            ),
        )

    def __str__(self) -> str:
        return f"{self.summary} at {self.inclusion_probability}"
