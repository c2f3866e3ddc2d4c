"""Observed agreement: the share of equal pairs of ratings."""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from evaluation._guards import check_same_length
from evaluation.statistics._intervals import DEFAULT_CONFIDENCE
from evaluation.statistics._resampling import (
    STATISTIC_DRAWS,
    Estimate,
    Floats,
    estimates,
    number_or_none,
    places_of,
    sums_by,
)
from evaluation.statistics.agreement._alpha import Ratings
from evaluation.statistics.agreement._ratings import rating_table


def observed_agreement(ratings: Ratings) -> float | None:
    """Share of pairs of ratings that are equal: within each item, then the mean over items.

    In [0, 1]; nothing is taken off for chance. `ratings` are raters x items of anything hashable, None where one is
    missing; items with fewer than two ratings are left out. None where none is left.
    Raises LengthMismatch.
    Source: Fleiss, Measuring nominal scale agreement among many raters, 1971, there with equal numbers of raters.
    Example: `observed_agreement([["yes", "no"], ["yes", "no"], ["no", None]])` is 2/3: 1/3 and 1.
    """
    return number_or_none(_share, _sums(ratings))


def observed_agreement_interval(
    ratings: Ratings,
    clusters: Sequence[Hashable] | None = None,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    draws: int = STATISTIC_DRAWS,
    seed: int = 0,
) -> Estimate:
    """`observed_agreement` with a bootstrap interval that resamples items, or whole clusters of them.

    `clusters` names the document of each item. Items with fewer than two ratings are left out. Errors as
    `observed_agreement`; InvalidPercent for a confidence outside 0 to 1.
    Example: `observed_agreement_interval([["yes", "no"], ["yes", "no"], ["no", None]])` has the value 2/3 and 2
    clusters, its items.
    """
    rows = _sums(ratings)
    # Items without a pair take no part, so that they do not count as clusters.
    used: NDArray[np.bool_] = np.asarray(rows.any(axis=1))
    rows = rows[used]
    if clusters is not None:
        check_same_length("A rater's ratings", ratings[0] if ratings else (), "clusters", clusters)
        places, width = places_of([name for name, use in zip(clusters, used, strict=True) if use])
        rows = sums_by(places, width, rows)
    (estimate,) = estimates(rows, _share, shares=(0,), confidence=confidence, draws=draws, seed=seed)
    return estimate


def _sums(ratings: Ratings) -> Floats:
    """Per item: 1 if it has a pair of ratings, and the share of its pairs that are equal."""
    table = rating_table(ratings)
    counts = table.counts(table.codes)
    given = counts.sum(axis=1)
    pairs = given * (given - 1)
    equal = (counts * (counts - 1)).sum(axis=1)
    return np.column_stack([pairs > 0, equal / np.maximum(pairs, 1)]).astype(np.float64)


def _share(sums: Floats) -> Floats:
    return sums[:, 1:2] / sums[:, 0:1]
