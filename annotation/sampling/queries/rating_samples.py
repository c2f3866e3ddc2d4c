"""Random samples of summaries that reviewers rate by a criterion."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, cast

from django.db.models import Count, F, Q

from annotation.models import Criterion, Rating, Sample, SampledRating, Summary
from annotation.models.document import cluster_of
from annotation.sampling.queries.sampled_items import Frames, SampleFrame
from evaluation.statistics import SampledItem

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.models import Project

WAITING = Q(rating=None, sample__cancelled_at=None)
"""Sampled summaries that wait for an answer."""


@dataclass(frozen=True, slots=True)
class RatingSample:
    """A sample of `sampled` out of `frame` summaries; `answered` of them have a blind rating by the criterion."""

    sample_id: str
    criterion: str
    question: str
    seed: int
    frame: int
    sampled: int
    answered: int
    created_at: datetime
    cancelled_at: datetime | None

    @property
    def is_finished(self) -> bool:
        """Return True if an estimate can use the sample: it is complete, not empty and not cancelled."""
        return 0 < self.answered == self.sampled and self.cancelled_at is None

    @property
    def is_open(self) -> bool:
        """Return True if the sample waits for answers."""
        return self.answered < self.sampled and self.cancelled_at is None


def rating_samples(project: Project, **samples: object) -> list[RatingSample]:
    """Load the samples of ratings, newest first. The lookups `samples` select some of them."""
    rows = Sample.objects.filter(project=project, criterion__isnull=False, **samples).order_by("-pk")
    counted = rows.annotate(
        name=F("criterion__name"),
        question=F("criterion__question"),
        sampled=Count("sampled_ratings"),
        answered=Count("sampled_ratings__rating"),
    )
    return [
        RatingSample(
            row.public_id,
            row.name,
            row.question,
            row.seed,
            len(row.frame),
            row.sampled,
            row.answered,
            row.created_at,
            row.cancelled_at,
        )
        for row in counted
    ]


def summaries_to_rate(project: Project) -> QuerySet[Summary]:
    """Select the summaries that reviewers rate: all except empty ones."""
    return Summary.objects.filter(document_set__project=project, is_summary=True, text__regex=r"\S")


def judged_shares(project: Project, criterion: Criterion) -> dict[int, float]:
    """Load the deciding judge's latest usable rating of each summary, rescaled to [0, 1]."""
    rows = Rating.objects.filter(criterion=criterion, judge=project.deciding_judge_id)
    given = rows.exclude(judge=None).order_by("pk").values_list("summary_id", "value")
    return {summary: criterion.fact.share(value) for summary, value in given if value is not None}


def framed_ratings(project: Project, sample: Sample) -> SampleFrame:
    """Build the items of a sample of ratings: the summaries of its frame, by target length and system.

    Answers and the judge's ratings are in [0, 1]. A document is a document set or its group. The mean of a document is
    taken over its sets, and in each set over the system's summaries. The share of an item is its weight in this mean.
    `came_after` counts the summaries that are not in the frame.
    """
    judged = dict(cast("list[tuple[str, float | None]]", sample.frame))
    fact = cast("Criterion", sample.criterion).fact
    answers: Mapping[str, tuple[float, float | None]] = {
        name: (chance, None if value is None else fact.share(value))
        for name, chance, value in SampledRating.objects.filter(sample=sample).values_list(
            "summary__public_id", "inclusion_probability", "rating__value"
        )
    }
    columns = (
        "public_id",
        "target_words",
        "system__name",
        "document_set__external_id",
        "document_set__group",
    )
    rows = summaries_to_rate(project).order_by("pk").values_list(*columns)
    sets: dict[tuple[int | None, str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    came_after = 0
    for name, target, system, document_set, group in rows:
        if name in judged:
            sets[target, system, cluster_of(document_set, group)][document_set].append(name)
        else:
            came_after += 1
    items: Frames = defaultdict(lambda: defaultdict(list))
    for (target, system, document), of_document in sets.items():
        for names in of_document.values():
            share = 1 / len(names) / len(of_document)
            for name in names:
                chance, answer = answers.get(name, (1.0, None))
                of_system = items[target][system]
                of_system.append(SampledItem(document, share, judged[name], chance, name in answers, answer))
    return SampleFrame({target: dict(of_target) for target, of_target in items.items()}, {}, came_after)
