"""What a published table says of summaries: NIST's figures beside ours, and percents per unit where it has them."""

from __future__ import annotations

from django.db import models

from annotation.models.base import PublicRow
from annotation.models.constraints import bounded
from annotation.models.project import Project
from annotation.models.summary import Comparison, Summary, Unit


class PublishedScore(PublicRow):
    """One line of a published table about one peer summary: figures as they stand there, never ours.

    The summary is named as the table names it; `peer` points to it where the project has its text. A line is
    known by its file and its number, so that bringing a table in again changes nothing.
    """

    class Table(models.TextChoices):
        DUC_2001 = "2001", "DUC 2001, a score per unit"
        DUC_2002 = "2002", "DUC 2002"
        DUC_2003 = "2003", "DUC 2003"
        DUC_2004 = "2004", "DUC 2004"
        RESPONSIVENESS = "R", "Responsiveness"
        USEFULNESS = "U", "Usefulness"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="published_scores")
    table = models.CharField(max_length=4, choices=Table)
    origin_name = models.CharField(max_length=200, help_text="The file.")
    line = models.PositiveIntegerField()
    cells = models.JSONField(help_text="The line as it stood, cell by cell.")
    set_name = models.CharField(max_length=100)
    document = models.CharField(
        max_length=100, blank=True, help_text="The one document that was summarised; empty for a whole set."
    )
    target_words = models.PositiveIntegerField(null=True, blank=True)
    selector = models.CharField(max_length=20, blank=True)
    model_author = models.CharField(max_length=20, blank=True)
    assessor = models.CharField(max_length=20, blank=True)
    system = models.CharField(max_length=100)
    figures = models.JSONField(
        default=dict, help_text='By name, such as {"mean": 0.4, "quality": [0, null], "scores": [2, 1]}.'
    )
    mean = models.FloatField(null=True, blank=True, help_text="Mean unit coverage, 0 to 1.")
    peer = models.ForeignKey(
        Summary, null=True, blank=True, on_delete=models.SET_NULL, related_name="published_scores"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("project", "origin_name", "line"), name="published_score_line"),
            bounded("published_score_mean_0_1", "mean", may_be_empty=True),
        )
        indexes = (
            models.Index(fields=("project", "table", "target_words", "system"), name="published_by_system"),
        )

    def __str__(self) -> str:
        return f"line {self.line} of {self.origin_name}"


class PublishedPercent(PublicRow):
    """How much of one model unit a summary covers, as an assessor of a published table said.

    Counts in coverage like a submitted percent of one of the project's own assessors.
    """

    score = models.ForeignKey(PublishedScore, on_delete=models.CASCADE, related_name="percents")
    comparison = models.ForeignKey(Comparison, on_delete=models.CASCADE, related_name="published_percents")
    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="published_percents")
    percent = models.PositiveSmallIntegerField()
    marks = models.JSONField(default=list, blank=True, help_text="Numbers of the marked peer units.")

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("score", "unit"), name="published_percent_once"),
            bounded("published_percent_0_100", "percent", 100),
        )

    def __str__(self) -> str:
        return f"{self.percent} %"
