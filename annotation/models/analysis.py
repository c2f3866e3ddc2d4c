"""Stored statistics of a project."""

from __future__ import annotations

from django.db import models

from annotation.models.base import PublicRow
from annotation.models.project import Project
from annotation.models.run import Job


class Analysis(PublicRow):
    """The statistics of one page, such as a leaderboard, with their seed and the fingerprint of their inputs.

    `inputs` is the project's fingerprint when the inputs were read (see `analysis/fingerprint`); "" before the first
    computation. `job` is the job in which a worker computes the statistics, if any.
    """

    class Kind(models.TextChoices):
        LEADERBOARD = "leaderboard", "Leaderboard"
        AGREEMENT = "agreement", "Agreement"
        JUDGE = "judge", "Judge"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="analyses")
    kind = models.CharField(max_length=11, choices=Kind)
    key = models.CharField(max_length=200, help_text="The requested score, target length and other choices.")
    inputs = models.CharField(max_length=64, blank=True)
    seed = models.BigIntegerField(default=0)
    payload = models.JSONField(default=dict, blank=True)
    seconds = models.FloatField(default=0.0, help_text="The seconds that the computation took.")
    made_at = models.DateTimeField(null=True, blank=True)
    job = models.OneToOneField(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="analysis")

    class Meta:
        verbose_name_plural = "analyses"
        ordering = ("project_id", "kind", "key")
        constraints = (models.UniqueConstraint(fields=("project", "kind", "key"), name="analysis_once"),)

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.key}"
