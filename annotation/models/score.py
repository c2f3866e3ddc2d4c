"""Scores, which can be rebuilt from other rows."""

from __future__ import annotations

import secrets

from django.db import models

from annotation.models.project import Project
from annotation.models.summary import Summary


def new_revision() -> int:
    """Make a random `Score.revision` in [0, 2^31)."""
    return secrets.randbits(31)


class Score(models.Model):
    """The scores of one summary."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="scores", db_index=False)
    summary = models.OneToOneField(Summary, on_delete=models.CASCADE, related_name="score")
    summary_words = models.PositiveIntegerField()
    coverage = models.FloatField(null=True)
    coverage_judge = models.FloatField(null=True)
    coverage_human = models.FloatField(null=True)
    human_share = models.FloatField(null=True)
    claim_coverage = models.FloatField(null=True)
    alignment = models.FloatField(null=True)
    factual_alignment = models.FloatField(null=True)
    question_coverage = models.FloatField(null=True)
    summarization = models.FloatField(null=True)
    passed = models.BooleanField(null=True, help_text="Whether summarization reaches its threshold.")
    topic_preservation = models.FloatField(null=True)
    completeness = models.FloatField(null=True)
    redundancy = models.FloatField(null=True)
    conciseness = models.FloatField(null=True)
    coherence = models.FloatField(null=True)
    brevity = models.FloatField(null=True)
    composite_1 = models.FloatField(null=True)
    composite_2_3 = models.FloatField(null=True)
    composite_custom = models.FloatField(null=True)
    claims = models.PositiveIntegerField(default=0)
    claims_unscored = models.PositiveIntegerField(default=0)
    flags = models.JSONField(default=list)
    signature = models.CharField(max_length=300)
    revision = models.PositiveBigIntegerField(
        default=new_revision,
        help_text="Set at every writing: the sum over a project changes if any score was written.",
    )
    computed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("id",)
        indexes = (models.Index(fields=("project", "revision"), name="score_revisions"),)

    def __str__(self) -> str:
        return f"scores of {self.summary_id}"


SCORES = tuple(column.name for column in Score._meta.concrete_fields if isinstance(column, models.FloatField))
"""The names of the scores, in the order of the columns."""
