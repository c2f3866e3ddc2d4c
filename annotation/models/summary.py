"""Systems, summaries, their numbered units, and comparisons."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from annotation.models.base import PublicRow
from annotation.models.constraints import either
from annotation.models.document import Document, DocumentSet
from annotation.models.project import Project


class System(PublicRow):
    """The author of a summary: a summariser or a person."""

    class Kind(models.TextChoices):
        SUMMARISER = "summariser", "Summariser"
        PERSON = "person", "Person"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="systems")
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.SUMMARISER)

    class Meta:
        ordering = ("project_id", "name")
        constraints = (models.UniqueConstraint(fields=("project", "name"), name="system_name"),)

    def __str__(self) -> str:
        return self.name


class Summary(PublicRow):
    """A reference, a summary under test, or both."""

    document_set = models.ForeignKey(DocumentSet, on_delete=models.CASCADE, related_name="summaries")
    system = models.ForeignKey(
        System, null=True, blank=True, on_delete=models.PROTECT, related_name="summaries"
    )
    is_reference = models.BooleanField(default=False)
    is_summary = models.BooleanField(default=False)
    external_id = models.CharField(max_length=200, blank=True, help_text="The reference_id; may be empty.")
    target_words = models.PositiveIntegerField(
        null=True, blank=True, help_text="Target length in the project's length unit."
    )
    names_references = models.BooleanField(
        default=False,
        help_text="Its rows name its references; otherwise it is compared with all references of its document "
        "set.",
    )
    text = models.TextField(blank=True)
    metadata = models.JSONField(default=dict, blank=True)
    computed = models.JSONField(
        default=dict,
        blank=True,
        help_text="Values of formulas in a run, by score: value, reason and the formula's version.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "summaries"
        ordering = ("document_set_id", "id")
        constraints = (
            models.CheckConstraint(
                name="summary_has_role", condition=Q(is_reference=True) | Q(is_summary=True)
            ),
            models.CheckConstraint(
                name="summary_has_system", condition=Q(is_summary=False) | Q(system__isnull=False)
            ),
            models.CheckConstraint(
                name="summary_target_at_least_1",
                condition=Q(target_words__isnull=True) | Q(target_words__gte=1),
            ),
            models.UniqueConstraint(
                fields=("document_set", "system", "target_words"),
                condition=Q(is_summary=True, target_words__isnull=False),
                name="summary_once_per_target",
            ),
            models.UniqueConstraint(
                fields=("document_set", "system"),
                condition=Q(is_summary=True, target_words__isnull=True),
                name="summary_once_without_target",
            ),
            models.UniqueConstraint(
                fields=("document_set", "external_id", "target_words"),
                condition=Q(is_reference=True, target_words__isnull=False),
                name="summary_reference_once_per_target",
            ),
            models.UniqueConstraint(
                fields=("document_set", "external_id"),
                condition=Q(is_reference=True, target_words__isnull=True),
                name="summary_reference_once_without_target",
            ),
        )
        # Watches select the summaries of a period.
        indexes = (models.Index(fields=("created_at",), name="summary_by_time"),)

    def __str__(self) -> str:
        who = self.system.name if self.system else (self.external_id or "reference")
        return f"{who} on {self.document_set}"

    @property
    def is_empty(self) -> bool:
        return not self.text.strip()


class Unit(PublicRow):
    """A numbered unit of a summary or a source document.

    Positions start at 1.
    """

    summary = models.ForeignKey(
        Summary, null=True, blank=True, on_delete=models.CASCADE, related_name="units", db_index=False
    )
    document = models.ForeignKey(
        Document, null=True, blank=True, on_delete=models.CASCADE, related_name="units", db_index=False
    )
    position = models.PositiveIntegerField()
    start = models.PositiveIntegerField(help_text="Offset of the first character.")
    end = models.PositiveIntegerField(help_text="Offset after the last character.")
    weight = models.FloatField(default=1.0)

    class Meta:
        ordering = ("summary_id", "document_id", "position")
        constraints = (
            either("unit_of_one_text", "summary", "document"),
            models.CheckConstraint(name="unit_not_empty", condition=Q(end__gt=F("start"))),
            models.CheckConstraint(name="unit_weight_positive", condition=Q(weight__gt=0)),
            models.CheckConstraint(name="unit_position_from_1", condition=Q(position__gte=1)),
            models.UniqueConstraint(
                fields=("summary", "position"),
                condition=Q(summary__isnull=False),
                name="unit_position_in_summary",
            ),
            models.UniqueConstraint(
                fields=("document", "position"),
                condition=Q(document__isnull=False),
                name="unit_position_in_document",
            ),
        )
        indexes = (
            models.Index(fields=("summary",), condition=Q(summary__isnull=False), name="unit_of_summary"),
        )

    def __str__(self) -> str:
        return f"unit {self.position}"


class Comparison(PublicRow):
    """A summary that is compared with a reference."""

    summary = models.ForeignKey(
        Summary, on_delete=models.CASCADE, related_name="comparisons_as_summary", db_index=False
    )
    reference = models.ForeignKey(Summary, on_delete=models.CASCADE, related_name="comparisons_as_reference")

    class Meta:
        ordering = ("summary_id", "reference_id")
        constraints = (
            models.UniqueConstraint(fields=("summary", "reference"), name="comparison_once"),
            models.CheckConstraint(name="comparison_not_with_itself", condition=~Q(summary=F("reference"))),
        )

    def __str__(self) -> str:
        return f"comparison {self.public_id}"
