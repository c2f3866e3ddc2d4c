"""A further sample of only those systems that may still be best."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotation.models import Check, Sample, Summary
from annotation.sampling.queries.check_samples import check_samples
from annotation.sampling.queries.sampled_items import framed_items
from evaluation.statistics import (
    TOO_FEW_DOCUMENTS,
    SampledItem,
    best_estimates,
    compare_estimates,
    estimate_systems_from_sample,
    forecast_intervals,
    pool_estimates,
)

if TYPE_CHECKING:
    from annotation.models import Project

TIMES = 2
"""The share of a sample that extends another one, as a multiple of the other sample's share."""
MOST_CHECKS = 50_000
"""The largest frame for which a page computes a proposal."""
LEVEL = 0.05
"""The level of the tests that leave systems out, as on the leaderboard."""


@dataclass(frozen=True, slots=True)
class Extension:
    """A proposed sample that extends the newest one, for the `systems` that may still be best out of `compared`.

    Of the `size` claims, about `awaited` still need an answer. `now` and `then` are forecasts of half the width of an
    interval, with the present number of answers and with `size` answers; None if unknown.
    `summaries` has the keys of the systems' summaries.
    """

    sample: Sample
    share: float
    systems: tuple[str, ...]
    compared: int
    size: int
    awaited: int
    now: float | None
    then: float | None
    summaries: tuple[int, ...]


def extension(project: Project, side: Check.Side) -> Extension | None:
    """Propose to extend the newest sample of a side.

    Returns None in these cases:
    - there is no sample, or it is not finished, or has too few document sets for estimates
    - the sample rules out no system, or one system is best
    - all claims are sampled
    - the frame has more than `MOST_CHECKS` checks
    """
    open_or_finished = (
        each for each in check_samples(project, side=side, of_watches=False) if each.cancelled_at is None
    )
    newest = next((each for each in open_or_finished if each.sampled), None)
    if newest is None or not newest.is_finished or newest.share >= 1 or newest.frame > MOST_CHECKS:
        return None
    sample = Sample.objects.get(public_id=newest.sample_id)
    framed = framed_items(project, sample, side=side)
    best = {
        (target, system): items[system]
        for target, items in framed.items.items()
        for system in _may_be_best(items, framed.covariates)
    }
    if not best or len(best) == sum(map(len, framed.items.values())):
        return None
    expected = forecast_intervals(
        {f"{target} {system}": items for (target, system), items in best.items()},
        design="active" if sample.method == Sample.Method.ACTIVE else "uniform",
        covariates=framed.covariates,
    )
    share = min(1.0, TIMES * sample.share)
    size = round(share * expected.items)
    asked = [item.is_sampled for items in best.values() for item in items if not item.is_settled]
    return Extension(
        sample,
        share,
        systems=tuple(sorted({system for _, system in best})),
        compared=len({system for items in framed.items.values() for system in items}),
        size=size,
        awaited=round(size * asked.count(False) / max(1, len(asked))),
        now=expected.margin(asked.count(True)),
        then=expected.margin(size),
        summaries=tuple(_summaries(project, best)),
    )


def _summaries(project: Project, best: Collection[tuple[int | None, str]]) -> Iterator[int]:
    rows = Summary.objects.filter(document_set__project=project, is_summary=True, system__isnull=False)
    for key, target, system in rows.values_list("pk", "target_words", "system__name"):
        if (target, system) in best:
            yield key


def _may_be_best(
    items: Mapping[str, Sequence[SampledItem]], covariates: Mapping[str, tuple[float, ...]] | None
) -> frozenset[str]:
    found = estimate_systems_from_sample(items, covariates=covariates)
    if min(each.answered_documents for each in found.values()) < TOO_FEW_DOCUMENTS:
        return frozenset()
    compared = compare_estimates(pool_estimates(found).systems)
    worse = {
        pair.second if (pair.difference or 0.0) > 0 else pair.first
        for pair in compared
        if pair.adjusted_p is not None and pair.adjusted_p <= LEVEL
    }
    best = best_estimates(compared, level=LEVEL) - worse
    return best if len(best) > 1 else frozenset()
