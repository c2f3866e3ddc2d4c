"""Bootstrap intervals of any statistic that is a function of sums over clusters.

Agreement, accuracy, calibration and their like are all computed from sums over items. So a draw of clusters needs
no second look at the items: how often each cluster was drawn times the cluster's sums gives the draw's sums, and
one vectorised function turns the sums of all draws into values.
"""

import math
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from evaluation._guards import check_confidence
from evaluation.errors import EvaluationError
from evaluation.statistics._intervals import (
    _COUNTS_AT_ONCE,
    DEFAULT_CONFIDENCE,
    FEWEST_CLUSTERS,
    _resampled_counts,
    expanded_tails,
)

STATISTIC_DRAWS = 2_000
"""Draws for intervals of statistics: the ends of a 95 % interval rest on 50 of them each."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

Statistic = Callable[[Floats], Floats]
"""From sums, shape (n, columns), to values, shape (n, statistics); NaN where a value cannot be said."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A statistic with its bootstrap interval over resampled clusters (documents, or items where none are named).

    The interval is the expanded percentile one (Hesterberg, What teachers should know about the bootstrap, 2015). In
    simulated studies of a judge a nominal 95 % covered 93 to 95 % with 20 to 60 documents, and 91 to 94 % with 10.
    `value` is None where it cannot be said; `low` and `high` are None there too, with fewer than two clusters,
    and where no resample gives a value. `undefined` counts the resamples that gave none: they are left out. A
    coefficient of agreement that is exactly 1 has the interval 1 to 1, for resampling cannot show what was never seen;
    shares of 0 or 1 have an exact bound instead.
    """

    value: float | None
    low: float | None
    high: float | None
    clusters: int
    draws: int
    seed: int
    undefined: int = 0
    confidence: float = DEFAULT_CONFIDENCE


def estimates(
    rows: Floats,
    statistic: Statistic,
    *,
    sizes: Integers | None = None,
    shares: Collection[int] = (),
    confidence: float = DEFAULT_CONFIDENCE,
    draws: int = STATISTIC_DRAWS,
    seed: int = 0,
) -> list[Estimate]:
    """The statistics of all rows together, each with its interval over draws of as many rows.

    `rows` are the sums of each cluster, shape (clusters, columns), dense or sparse; `sizes` says how many clusters
    each row stands for, where equal ones were put together. All statistics see the same draws, and equal numbers
    of clusters with an equal seed see the same draws too. `shares` are the places of statistics that are shares: where
    one is 0 or 1, so is every draw of it, and the interval is Clopper and Pearson's of as many trials as there are
    clusters in it, for the share can be no further off than the chance of a cluster that is not wholly 0 or 1.
    Raises InvalidPercent for a confidence outside 0 to 1, EvaluationError for fewer than one draw.
    """
    check_resampling(confidence, draws)
    kinds = np.ones(rows.shape[0], dtype=np.int64) if sizes is None else sizes
    clusters = int(kinds.sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        point = statistic(np.atleast_2d(kinds @ rows))[0]
        drawn = [np.empty((0, len(point)))]
        if clusters >= FEWEST_CLUSTERS:
            drawn += [statistic(counts @ rows) for counts in _drawn_counts(kinds, draws, seed)]
        holding = np.isfinite(statistic(rows)).sum(axis=0) if shares else ()
    found = [
        estimate_of(value, column, clusters=clusters, confidence=confidence, draws=draws, seed=seed)
        for value, column in zip(point.tolist(), np.concatenate(drawn).T, strict=True)
    ]
    for place in shares:
        found[place] = _bounded(found[place], int(holding[place]))
    return found


def estimate_of(
    value: float, drawn: Floats, *, clusters: int, confidence: float, draws: int, seed: int
) -> Estimate:
    """The value with the expanded percentiles of what the draws gave; NaN stands for what cannot be said."""
    said = drawn[~np.isnan(drawn)]
    low = high = None
    if len(said) and not math.isnan(value):
        low, high = np.quantile(said, expanded_tails(confidence, clusters)).tolist()
    return Estimate(
        value=None if math.isnan(value) else value,
        low=low,
        high=high,
        clusters=clusters,
        draws=draws,
        seed=seed,
        undefined=len(drawn) - len(said),
        confidence=confidence,
    )


def _bounded(share: Estimate, trials: int) -> Estimate:
    reach = ((1 - share.confidence) / 2) ** (1 / max(1, trials))
    if share.low is None or share.value not in (0, 1):
        return share
    return replace(share, low=reach) if share.value else replace(share, high=1 - reach)


def number_or_none(statistic: Statistic, rows: Floats) -> float | None:
    """The first statistic of all rows together; None where it cannot be said."""
    with np.errstate(divide="ignore", invalid="ignore"):
        value = float(statistic(np.atleast_2d(rows.sum(axis=0)))[0, 0])
    return None if math.isnan(value) else value


def places_of(clusters: Sequence[Hashable]) -> tuple[Integers, int]:
    """The place of each item's cluster, and how many there are. The order of items moves no place."""
    names = {name: place for place, name in enumerate(sorted(dict.fromkeys(clusters), key=repr))}
    return np.fromiter((names[name] for name in clusters), np.int64, len(clusters)), len(names)


def sums_by(places: Integers, width: int, rows: Floats) -> Floats:
    """Sums of the items' rows over the cluster at each place, shape (width, columns)."""
    items = len(places)
    belongs = scipy.sparse.csr_array((np.ones(items), (places, np.arange(items))), shape=(width, items))
    sums: Floats = belongs @ rows
    return sums


def places_in_clusters(names: Sequence[str], clusters: Mapping[str, str] | None) -> tuple[Integers, int]:
    """The place of each name's cluster, in the order of the clusters' names, and how many clusters there are.

    Without `clusters` each name is its own. Raises EvaluationError for a name that `clusters` does not hold.
    """
    cluster_of = dict(zip(names, names, strict=True)) if clusters is None else clusters
    if missing := [name for name in names if name not in cluster_of]:
        raise EvaluationError(f"{missing[0]!r} belongs to no cluster.")
    places = {cluster: place for place, cluster in enumerate(sorted({cluster_of[name] for name in names}))}
    return np.array([places[cluster_of[name]] for name in names], dtype=np.intp), len(places)


def check_resampling(confidence: float, draws: int) -> None:
    """Raises InvalidPercent for a confidence outside 0 to 1, EvaluationError for fewer than one draw."""
    check_confidence(confidence)
    if draws < 1:
        raise EvaluationError(f"The number of draws must be at least 1, got {draws}.")


def checked_finite(value: float) -> float:
    """The value itself. Raises EvaluationError unless it is finite."""
    if not math.isfinite(value):
        raise EvaluationError(
            f"A value is {value!r}; every value must be finite, or left out where there is none."
        )
    return value


def _drawn_counts(sizes: Integers, draws: int, seed: int) -> Iterator[Floats]:
    """How often each draw of sizes.sum() clusters took each kind of row, until all draws are made."""
    total, kinds = int(sizes.sum()), len(sizes)
    if total == kinds:
        yield from _resampled_counts(total, draws, seed)
    elif 2 * kinds > total:
        starts = np.cumsum(sizes) - sizes
        for counts in _resampled_counts(total, draws, seed):
            yield np.add.reduceat(counts, starts, axis=1)
    else:
        # Where many rows are alike, one draw per kind is far cheaper than one per row, and the same in law.
        generator = np.random.default_rng(seed)
        at_once = max(1, _COUNTS_AT_ONCE // kinds)
        for start in range(0, draws, at_once):
            rows = min(at_once, draws - start)
            yield generator.multinomial(total, sizes / total, size=rows).astype(np.float64)
