"""What the statistics of a project are made from, in one short word that changes when any of it does."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from django.db.models import Count, Max, Q, Sum

from annotation.models import Sample, SampledCheck, Score
from evaluation.blend import VERSION

if TYPE_CHECKING:
    from annotation.models import Project

FINGERPRINTED_RULES = (
    "blend",
    "blend_human_weight",
    "assessor_average",
    "composite_weight",
    "summarization_threshold",
    "summarization_strict",
    "summarization_scale",
    "least_scored",
    "length_unit",
    "target_length",
    "over_length",
    "deciding_judge_id",
)
"""What of a project changes its scores or how they are told, without a score being written at once."""


def fingerprint_of(project: Project, *extra: object) -> str:
    """The fingerprint of all that statistics are made from: scores, rules, samples and what `extra` names.

    Every answer of a person or of the deciding judge writes the scores that it touches again, and each writing
    samples a new `Score.revision`: the sum over the project tells that something was said. 64 hexadecimal digits;
    equal where nothing has changed, and different but for a chance of some 2^-31 where anything has.
    """
    scores = Score.objects.filter(project=project).aggregate(count=Count("pk"), revisions=Sum("revision"))
    sampled = Sample.objects.filter(project=project).aggregate(
        count=Count("pk"), newest=Max("pk"), cancelled=Count("cancelled_at")
    )
    answered = SampledCheck.objects.filter(sample__project=project).aggregate(
        count=Count("pk", filter=Q(verdict__isnull=False))
    )
    said = [
        VERSION,
        scores["count"],
        scores["revisions"],
        *(getattr(project, name) for name in FINGERPRINTED_RULES),
        sampled["count"],
        sampled["newest"],
        sampled["cancelled"],
        answered["count"],
        *extra,
    ]
    return hashlib.sha256("\n".join(map(str, said)).encode()).hexdigest()
