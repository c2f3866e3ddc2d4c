"""Bootstrap intervals that resample whole clusters.

A resample of a function of sums needs only the sums of each cluster, multiplied by the number of times that the cluster
was drawn.
"""

import math
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
import scipy
from numpy.typing import NDArray

from evaluation._guards import check_choice, check_confidence, check_same_length
from evaluation._means import mean
from evaluation.errors import EvaluationError

DEFAULT_CONFIDENCE = 0.95
DEFAULT_DRAWS = 10_000
FEWEST_CLUSTERS = 2
FEWEST_FOR_INTERVAL = 5
"""Below this number of clusters, an interval should not be shown."""

STATISTIC_DRAWS = 2_000
"""The default number of resamples for intervals of statistics."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

Statistic = Callable[[Floats], Floats]
"""A function from sums, of shape (n, columns), to values, of shape (n, statistics); NaN for undefined values."""

IntervalMethod = Literal["percentile", "expanded"]
"""The method that reads bounds from the resamples.

percentile: the quantiles of the confidence itself. expanded: quantiles further out, because a sample's spread is
smaller than its population's and is estimated, as in Student's t (Hesterberg, What teachers should know about the
bootstrap, 2015, section 3.4).
"""

# Resampling needs one count per resample and cluster. This is the number of counts in memory at once.
_COUNTS_AT_ONCE = 1_000_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A macro mean over clusters with its bootstrap interval.

    `mean` is None if there are no values. `low` and `high` are None with fewer than two clusters. `left_out` counts
    the values that are None. `method` names the rule for the bounds (`IntervalMethod`).
    """

    mean: float | None
    low: float | None
    high: float | None
    clusters: int
    draws: int
    seed: int
    left_out: int = 0
    confidence: float = DEFAULT_CONFIDENCE
    method: IntervalMethod = "percentile"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A statistic with its bootstrap interval over resampled clusters (documents, or items if none are named).

    The interval is the expanded percentile interval (Hesterberg, What teachers should know about the bootstrap, 2015).
    `value` is None if it is undefined. `low` and `high` are None if `value` is None, if there are fewer than two
    clusters, or if no resample has a value. `undefined` counts resamples without a value, which are ignored. A share of
    exactly 0 or 1 has an exact bound (see `estimates`); other statistics do not.
    """

    value: float | None
    low: float | None
    high: float | None
    clusters: int
    draws: int
    seed: int
    undefined: int = 0
    confidence: float = DEFAULT_CONFIDENCE


def bootstrap_interval(
    values: Sequence[float | None],
    clusters: Sequence[Hashable] | None = None,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    draws: int = DEFAULT_DRAWS,
    seed: int = 0,
    method: IntervalMethod = "percentile",
) -> Interval:
    """Average the values over their clusters, with a bootstrap interval that resamples clusters.

    Values of one cluster are averaged first; without `clusters` each value is its own cluster. None values are ignored
    and counted. With fewer than two clusters there is no interval. The order of rows does not change the interval.
    Raises LengthMismatch, InvalidPercent for a confidence outside 0 to 1, EvaluationError for a value that is not
    finite, no resamples or an unknown method. Source: Efron's bootstrap over clusters; see `IntervalMethod`. With few
    clusters `percentile` is too narrow. Example: `bootstrap_interval([0.2, 0.4, 0.9], ["a", "a", "b"])` has mean 0.6,
    from the cluster means 0.3 and 0.9.
    """
    labels: Sequence[Hashable] = range(len(values)) if clusters is None else clusters
    check_same_length("values", values, "clusters", labels)
    check_choice("The method", method, get_args(IntervalMethod))
    _check(confidence, draws)
    grouped: dict[Hashable, list[float | None]] = {}
    for label, value in zip(labels, values, strict=True):
        grouped.setdefault(label, []).append(None if value is None else checked_finite(value))
    # Sort the means, so that neither the order of rows nor the names of clusters change the interval.
    means = sorted(value for group in grouped.values() if (value := mean(group)) is not None)
    low = high = None
    if len(means) >= FEWEST_CLUSTERS:
        column = np.array(means, dtype=np.float64).reshape(-1, 1)
        drawn, _ = bootstrap_means(column, np.ones_like(column), draws=draws, seed=seed)
        tail = (1 - confidence) / 2
        tails = expanded_tails(confidence, len(means)) if method == "expanded" else (tail, 1 - tail)
        low, high = np.quantile(drawn[:, 0], tails).tolist()
    return Interval(
        mean=mean(means),
        low=low,
        high=high,
        clusters=len(means),
        draws=draws,
        seed=seed,
        left_out=sum(value is None for value in values),
        confidence=confidence,
        method=method,
    )


def bootstrap_means(
    sums: NDArray[np.float64],
    sizes: NDArray[np.float64] | NDArray[np.bool_],
    *,
    draws: int = DEFAULT_DRAWS,
    seed: int = 0,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Compute the mean of every system in every resample; a resample has the same clusters for all systems.

    `sums` and `sizes` have the shape (clusters, systems): the sum of a system's values in the cluster, and the number
    of these values. If there is one value at most, `sizes` may be booleans. A sum whose size is 0 is ignored. Returns
    two arrays of shape (draws, systems): the means, and True where the resample has a cluster of the system. Without a
    cluster the mean is 0 and must be ignored. Example: a system has two values with the sum 1.0 in one cluster and one
    value of 0.5 in the other. Its mean is 0.5 in every resample.
    """
    weights = sizes.astype(np.float64)
    filled = np.where(weights > 0, sums, 0.0)
    means: list[NDArray[np.float64]] = []
    counted: list[NDArray[np.bool_]] = []
    # Systems with the same sizes share their counts.
    patterns, which = np.unique(weights, axis=1, return_inverse=True)
    for counts in _resampled_counts(len(filled), draws, seed):
        held = (counts @ patterns)[:, which.reshape(-1)]
        counted.append(held > 0)
        means.append((counts @ filled) / np.maximum(held, 1.0))
    return np.concatenate(means), np.concatenate(counted)


def expanded_tails(confidence: float, clusters: int) -> tuple[float, float]:
    """Return the two quantiles of bootstrap means that bound an interval of few clusters.

    They are further from .5 than the nominal quantiles, as in Student's t; with one cluster they are 0 and 1. Use
    them with the means of `bootstrap_means`.
    Raises InvalidPercent for a confidence outside 0 to 1.
    Source: Hesterberg, What teachers should know about the bootstrap, 2015, section 3.4: the normal distribution
    function at sqrt(n / (n - 1)) times the quantile of Student's t with n - 1 degrees of freedom.
    Example: with 30 clusters, 95 % uses .0188 and .9812 instead of .025 and .975.
    """
    check_confidence(confidence)
    if clusters < FEWEST_CLUSTERS:
        return 0.0, 1.0
    reach = math.sqrt(clusters / (clusters - 1)) * float(
        scipy.special.stdtrit(clusters - 1, (1 - confidence) / 2)
    )
    tail = float(scipy.special.ndtr(reach))
    return tail, 1 - tail


def estimates(
    rows: Floats,
    statistic: Statistic,
    *,
    shares: Collection[int] = (),
    confidence: float = DEFAULT_CONFIDENCE,
    draws: int = STATISTIC_DRAWS,
    seed: int = 0,
) -> list[Estimate]:
    """Compute statistics of all rows together, each with its interval over resamples of the rows.

    `rows` are the sums of each cluster, of shape (clusters, columns), dense or sparse. All statistics use the same
    resamples, which depend only on the number of clusters, the number of draws and the seed. `shares` are the indices
    of statistics that are proportions. If one is exactly 0 or 1, resampling cannot vary it. Then its interval is
    Clopper and Pearson's, with one trial for each cluster that has the statistic. Raises InvalidPercent for a
    confidence outside 0 to 1, EvaluationError for fewer than one resample.
    """
    _check(confidence, draws)
    clusters = rows.shape[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        point = statistic(np.atleast_2d(rows.sum(axis=0)))[0]
        drawn = [np.empty((0, len(point)))]
        if clusters >= FEWEST_CLUSTERS:
            drawn += [statistic(counts @ rows) for counts in _resampled_counts(clusters, draws, seed)]
        holding = np.isfinite(statistic(rows)).sum(axis=0) if shares else ()
    found = [
        _estimate(value, column, clusters=clusters, confidence=confidence, draws=draws, seed=seed)
        for value, column in zip(point.tolist(), np.concatenate(drawn).T, strict=True)
    ]
    for place in shares:
        found[place] = _bounded(found[place], int(holding[place]))
    return found


def _estimate(
    value: float, drawn: Floats, *, clusters: int, confidence: float, draws: int, seed: int
) -> Estimate:
    defined = drawn[~np.isnan(drawn)]
    low = high = None
    if len(defined) and not math.isnan(value):
        low, high = np.quantile(defined, expanded_tails(confidence, clusters)).tolist()
    return Estimate(
        value=None if math.isnan(value) else value,
        low=low,
        high=high,
        clusters=clusters,
        draws=draws,
        seed=seed,
        undefined=len(drawn) - len(defined),
        confidence=confidence,
    )


def _bounded(share: Estimate, trials: int) -> Estimate:
    reach = ((1 - share.confidence) / 2) ** (1 / max(1, trials))
    if share.low is None or share.value not in (0, 1):
        return share
    return replace(share, low=reach) if share.value else replace(share, high=1 - reach)


def number_or_none(statistic: Statistic, rows: Floats) -> float | None:
    """Compute the first statistic of all rows together; None if it is undefined."""
    with np.errstate(divide="ignore", invalid="ignore"):
        value = float(statistic(np.atleast_2d(rows.sum(axis=0)))[0, 0])
    return None if math.isnan(value) else value


def places_of(clusters: Sequence[Hashable]) -> tuple[Integers, int]:
    """Return the index of each item's cluster, and the number of clusters. Indices do not depend on the order of
    items.
    """
    names = {name: place for place, name in enumerate(sorted(dict.fromkeys(clusters), key=repr))}
    return np.fromiter((names[name] for name in clusters), np.int64, len(clusters)), len(names)


def sums_by(places: Integers, width: int, rows: Floats) -> Floats:
    """Sum the items' rows by cluster. The result has the shape (width, columns)."""
    items = len(places)
    belongs = scipy.sparse.csr_array((np.ones(items), (places, np.arange(items))), shape=(width, items))
    sums: Floats = belongs @ rows
    return sums


def checked_finite(value: float) -> float:
    """Return the value. Raises EvaluationError unless it is finite."""
    if not math.isfinite(value):
        raise EvaluationError(
            f"A value is {value!r}; every value must be finite, or None where there is none."
        )
    return value


def _check(confidence: float, draws: int) -> None:
    check_confidence(confidence)
    if draws < 1:
        raise EvaluationError(f"The number of draws must be at least 1, got {draws}.")


def _resampled_counts(clusters: int, draws: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """Yield the counts of each cluster in each resample in parts, each of shape (some draws, clusters)."""
    generator = np.random.default_rng(seed)
    at_once = max(1, _COUNTS_AT_ONCE // max(1, clusters))
    for start in range(0, draws, at_once):
        rows = min(at_once, draws - start)
        taken = generator.integers(0, clusters, size=(rows, clusters))
        taken += clusters * np.arange(rows)[:, np.newaxis]
        counts = np.bincount(taken.ravel(), minlength=rows * clusters)
        yield counts.reshape(rows, clusters).astype(np.float64)
