"""Taking a random sample of summaries for reviewers to rate by a criterion, and completing it with ratings."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Q

from annotation.core.criteria import asked_of_reviewers
from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Invalid
from annotation.models import Rating, Sample, SampledRating
from annotation.models.base import new_seed
from annotation.sampling.queries.rating_samples import (
    WAITING,
    judged_shares,
    summaries_to_rate,
)
from evaluation.statistics import fixed_size_sample

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.contrib.auth.models import User

    from annotation.models import Criterion, Project


@transaction.atomic
def sample_ratings(
    *, project: Project, by: User, criterion: Criterion, size: int, seed: int | None = None
) -> Sample:
    """Sample `size` of the project's summaries for reviewers to rate by a criterion, each with the same chance.

    The frame has every summary with text, and the deciding judge's present rating. If a summary has blind ratings
    already, the sample uses the first of them. Raises Invalid with the wrong `field`, and the errors of `require`.
    """
    require(by, project, Verb.ASSIGN)
    if not asked_of_reviewers(project).filter(pk=criterion.pk).exists():
        raise Invalid("Reviewers are not asked this question.", field="criterion")
    columns = ("public_id", "pk", "system_id", "target_words")
    frame = {row[0]: row[1:] for row in summaries_to_rate(project).order_by("pk").values_list(*columns)}
    if not 1 <= size <= len(frame):
        raise Invalid(f"Between 1 and {len(frame):,} summaries can be sampled.", field="size")
    seed = new_seed() if seed is None else seed
    chances = dict.fromkeys(frame, size / len(frame))
    sampled = fixed_size_sample(chances, strata={name: row[1:] for name, row in frame.items()}, seed=seed)
    judged = judged_shares(project, criterion)
    sample = Sample.objects.create(
        project=project,
        criterion=criterion,
        method=Sample.Method.UNIFORM,
        share=size / len(frame),
        seed=seed,
        frame=[[name, judged.get(row[0])] for name, row in frame.items()],
    )
    blind = Rating.objects.filter(
        criterion=criterion,
        role=Rating.Role.REVIEWER,
        person__isnull=False,
        value__isnull=False,
        had_seen=False,
        withdrawn_at=None,
    )
    first = dict(blind.order_by("-pk").values_list("summary_id", "pk"))
    order = list(sampled)
    random.Random(f"order:{seed}").shuffle(order)
    keys = {name: frame[name][0] for name in order}
    SampledRating.objects.bulk_create(
        SampledRating(
            sample=sample,
            summary_id=keys[name],
            inclusion_probability=sampled[name],
            rating_id=first.get(keys[name]),
        )
        for name in order
    )
    data = {"criterion": criterion.name, "seed": seed, "sampled": len(order), "frame": len(frame)}
    log(project=project, actor=by, verb="sample ratings", target=sample, data=data)
    return sample


def fill_rating_samples(*, ratings: Sequence[Rating], by: User) -> None:
    """Keep blind ratings as the answers of samples that wait for them, and log every sample that they complete.

    Call it in the transaction that saves the ratings of a summary.
    """
    blind = [rating for rating in ratings if not rating.had_seen]
    wanted = Q(pk__in=())
    for rating in blind:
        wanted |= Q(summary=rating.summary_id, sample__criterion=rating.criterion_id)
    waiting = SampledRating.objects.filter(wanted, WAITING)
    # Lock the samples: if the two last answers are given at once, the later transaction must see both.
    held = Sample.objects.filter(pk__in=waiting.values("sample")).select_for_update(of=("self",), no_key=True)
    for sample in list(held.order_by("pk")):
        rating = next(each for each in blind if each.criterion_id == sample.criterion_id)
        sample.sampled_ratings.filter(WAITING, summary=rating.summary_id).update(rating=rating)
        if not sample.sampled_ratings.filter(rating=None).exists():
            log(project=sample.project, actor=by, verb="finish sample", target=sample)
