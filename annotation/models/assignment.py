"""Who is asked to judge what, and how it was chosen."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.base import PublicRow
from annotation.models.claim import Check
from annotation.models.document import DocumentSet
from annotation.models.project import Project
from annotation.models.summary import Comparison


class Draw(PublicRow):
    """A random choice of items whose inclusion probabilities are known for ever."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="draws")
    method = models.CharField(max_length=20)
    seed = models.BigIntegerField()
    frame = models.JSONField(help_text="Public ids of all items that could have been drawn.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"{self.method} draw {self.public_id}"


class Sitting(PublicRow):
    """One assessor on one document set; closing it submits everything in it."""

    assessor = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="sittings")
    document_set = models.ForeignKey(DocumentSet, on_delete=models.CASCADE, related_name="sittings")
    seed = models.BigIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("id",)
        constraints = (models.UniqueConstraint(fields=("assessor", "document_set"), name="sitting_once"),)

    def __str__(self) -> str:
        return f"{self.assessor} on {self.document_set}"


class Assignment(PublicRow):
    """One comparison in a sitting, or a batch of checks for a reviewer."""

    class State(models.TextChoices):
        OPEN = "open", "Open"
        DRAFT = "draft", "Draft"
        SUBMITTED = "submitted", "Submitted"
        RECALLED = "recalled", "Recalled"

    sitting = models.ForeignKey(
        Sitting, null=True, blank=True, on_delete=models.CASCADE, related_name="assignments"
    )
    comparison = models.ForeignKey(
        Comparison, null=True, blank=True, on_delete=models.CASCADE, related_name="assignments"
    )
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="review_assignments",
    )
    checks = models.ManyToManyField(Check, blank=True, related_name="assignments")
    position = models.PositiveIntegerField(default=1, help_text="Order within the sitting.")
    repeat_of = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="repeats"
    )
    draw = models.ForeignKey(
        Draw, null=True, blank=True, on_delete=models.PROTECT, related_name="assignments"
    )
    selected_by = models.CharField(max_length=20, default="hand")
    inclusion_probability = models.FloatField(null=True, blank=True)
    state = models.CharField(max_length=9, choices=State, default=State.OPEN)
    lease_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    submitted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("sitting", "position", "id")
        constraints = (
            models.CheckConstraint(
                name="assignment_of_comparison_or_batch",
                condition=Q(sitting__isnull=False, comparison__isnull=False, reviewer__isnull=True)
                | Q(sitting__isnull=True, comparison__isnull=True, reviewer__isnull=False),
            ),
            models.CheckConstraint(
                name="assignment_probability_0_1",
                condition=Q(inclusion_probability__isnull=True)
                | Q(inclusion_probability__gt=0, inclusion_probability__lte=1),
            ),
            models.CheckConstraint(
                name="assignment_submitted_has_time",
                condition=~Q(state="submitted") | Q(submitted_at__isnull=False),
            ),
            models.UniqueConstraint(
                fields=("sitting", "comparison"),
                condition=Q(repeat_of__isnull=True),
                name="assignment_once_per_sitting",
            ),
        )

    def __str__(self) -> str:
        return f"assignment {self.public_id}"
