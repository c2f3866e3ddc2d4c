"""A fingerprint of the inputs of a project's statistics."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from django.db.models import Count, Max, Q, Sum

from annotation.models import Sample, SampledCheck, SampledRating, Score
from evaluation.blend import VERSION

if TYPE_CHECKING:
    from annotation.models import Project

FINGERPRINTED_RULES = (
    "blend",
    "blend_human_weight",
    "assessor_average",
    "composite_weight",
    "own_weights",
    "summarization_threshold",
    "summarization_strict",
    "summarization_scale",
    "least_scored",
    "length_unit",
    "target_length",
    "over_length",
    "deciding_judge_id",
)
"""The project's fields that enter the fingerprint."""


def fingerprint_of(project: Project, *extra: object) -> str:
    """Compute a fingerprint of scores, rules, samples and `extra`: 64 hexadecimal digits.

    Scores enter with their number and the sum of their random revisions.
    """
    scores = Score.objects.filter(project=project).aggregate(count=Count("pk"), revisions=Sum("revision"))
    sampled = Sample.objects.filter(project=project).aggregate(
        count=Count("pk"), newest=Max("pk"), cancelled=Count("cancelled_at")
    )
    answered = SampledCheck.objects.filter(sample__project=project).aggregate(
        count=Count("pk", filter=Q(verdict__isnull=False))
    )
    rated = SampledRating.objects.filter(sample__project=project, rating__isnull=False).count()
    lines = [
        VERSION,
        scores["count"],
        scores["revisions"],
        *(getattr(project, name) for name in FINGERPRINTED_RULES),
        sampled["count"],
        sampled["newest"],
        sampled["cancelled"],
        answered["count"],
        rated,
        *extra,
    ]
    return hashlib.sha256("\n".join(map(str, lines)).encode()).hexdigest()
