"""Random samples, assignments and their readings."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.base import PublicRow
from annotation.models.claim import Check, Verdict
from annotation.models.document import DocumentSet
from annotation.models.guideline import Guideline
from annotation.models.project import Project
from annotation.models.summary import Comparison


class Sample(PublicRow):
    """A random sample of checks for reviewers, or of summaries to rate by a criterion, with its frame.

    The frame has all items that could be sampled, each with the judge's probability of yes, or rating in [0, 1], or
    null. `sampled_checks` or `sampled_ratings` has the sampled items.
    """

    class Method(models.TextChoices):
        UNIFORM = "uniform", "Same chance for every claim"
        ACTIVE = "active", "More claims where the judge is unsure"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="samples")
    criterion = models.ForeignKey(
        "annotation.Criterion", null=True, blank=True, on_delete=models.CASCADE, related_name="samples"
    )
    method = models.CharField(max_length=20, choices=Method)
    share = models.FloatField(default=1.0, help_text="The requested share, above 0 and up to 1.")
    seed = models.BigIntegerField()
    frame = models.JSONField(help_text="Public ids of all items that could have been sampled.")
    chances = models.JSONField(
        default=list,
        blank=True,
        help_text="Inclusion probability of every item of the frame, in its order; empty if all are equal.",
    )
    extends = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="extensions",
        help_text="The sample that still counts for the systems that are not in this one.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    cancelled_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="Nobody is asked for its answers any more, and no estimate uses them.",
    )

    class Meta:
        ordering = ("-id",)
        constraints = (
            models.CheckConstraint(name="sample_share_0_1", condition=Q(share__gt=0, share__lte=1)),
        )

    def __str__(self) -> str:
        return f"{self.method} sample {self.public_id}"


AWAITED = Q(verdict__isnull=True, sample__cancelled_at__isnull=True)
"""Sampled checks that wait for an answer."""


class SampledCheck(PublicRow):
    """A check in a sample, with its inclusion probability and its answer.

    `verdict` is null until there is a blind answer of a person.
    """

    sample = models.ForeignKey(Sample, on_delete=models.CASCADE, related_name="sampled_checks")
    check_row = models.ForeignKey(Check, on_delete=models.CASCADE, related_name="sampled")
    inclusion_probability = models.FloatField()
    verdict = models.ForeignKey(
        Verdict, null=True, blank=True, on_delete=models.PROTECT, related_name="sampled_for"
    )

    class Meta:
        ordering = ("sample_id", "id")
        constraints = (
            models.UniqueConstraint(fields=("sample", "check_row"), name="sampled_check_once"),
            models.CheckConstraint(
                name="sampled_check_probability_0_1",
                condition=Q(inclusion_probability__gt=0, inclusion_probability__lte=1),
            ),
        )
        indexes = (
            models.Index(
                fields=("check_row",), condition=Q(verdict__isnull=True), name="sampled_check_waiting"
            ),
            models.Index(fields=("sample", "id"), name="sampled_check_in_order"),
        )

    def __str__(self) -> str:
        return f"{self.check_row} at {self.inclusion_probability}"


class Assignment(PublicRow):
    """The work of one assessor on one document set. Closing the assignment submits its readings.

    The answers of an unassigned assignment are kept.
    """

    assessor = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="assignments"
    )
    document_set = models.ForeignKey(DocumentSet, on_delete=models.CASCADE, related_name="assignments")
    created_at = models.DateTimeField(auto_now_add=True)
    lease_until = models.DateTimeField(
        null=True,
        blank=True,
        help_text="Set while it is held from the queue; it remains after the lease ends or the set is returned.",
    )
    worked_at = models.DateTimeField(null=True, blank=True, help_text="The last save of the form.")
    closed_at = models.DateTimeField(null=True, blank=True)
    unassigned_at = models.DateTimeField(null=True, blank=True)
    may_have_seen = models.BooleanField(
        default=False,
        db_default=False,
        help_text="It was unassigned while open, and its assessor's roles then showed them others' answers. It "
        "counts in scores, and blind statistics leave it out.",
    )
    guideline = models.ForeignKey(
        Guideline,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        help_text="The version on screen when the form was last opened.",
    )

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("assessor", "document_set"), name="assignment_once"),
            models.CheckConstraint(
                name="assignment_closed_or_unassigned",
                condition=Q(closed_at__isnull=True) | Q(unassigned_at__isnull=True),
            ),
        )
        indexes = (
            models.Index(
                fields=("lease_until",),
                condition=Q(closed_at__isnull=True, unassigned_at__isnull=True),
                name="assignment_leased",
            ),
        )

    def __str__(self) -> str:
        return f"{self.assessor} on {self.document_set}"

    @property
    def is_open(self) -> bool:
        """Return True if the assessor can still work in the assignment."""
        return self.closed_at is None and self.unassigned_at is None


class Reading(PublicRow):
    """One comparison that an assignment asks for."""

    class State(models.TextChoices):
        OPEN = "open", "Open"
        DRAFT = "draft", "Draft"
        SUBMITTED = "submitted", "Submitted"

    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="readings")
    comparison = models.ForeignKey(Comparison, on_delete=models.CASCADE, related_name="readings")
    position = models.PositiveIntegerField(default=1, help_text="Order within the assignment.")
    state = models.CharField(max_length=9, choices=State, default=State.OPEN)
    created_at = models.DateTimeField(auto_now_add=True)
    submitted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("assignment_id", "position", "id")
        constraints = (
            models.CheckConstraint(
                name="reading_submitted_has_time",
                condition=~Q(state="submitted") | Q(submitted_at__isnull=False),
            ),
            models.UniqueConstraint(fields=("assignment", "comparison"), name="reading_once_per_assignment"),
        )

    def __str__(self) -> str:
        return f"assignment {self.public_id}"
