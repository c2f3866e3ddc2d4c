"""Krippendorff's alpha: agreement of any number of raters, at any level of measurement, with gaps."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import scipy

from evaluation._guards import check_choice, check_same_length
from evaluation.errors import EvaluationError
from evaluation.statistics._intervals import DEFAULT_CONFIDENCE
from evaluation.statistics._resampling import (
    STATISTIC_DRAWS,
    Estimate,
    Floats,
    Integers,
    Statistic,
    estimates,
    number_or_none,
    places_of,
)
from evaluation.statistics.agreement._ratings import MISSING, RatingTable, rating_table

Level = Literal["nominal", "ordinal", "interval", "ratio"]
"""What differences between ratings mean: none but being different, order, distance, or proportion."""

Ratings = Sequence[Sequence[Hashable | None]]
"""One list per rater, as long as there are items; None where a rater gave no rating."""

FEWEST_RATINGS = 2
"""An item rated by one rater alone says nothing about agreement."""

# Distances between all pairs of values are held for so many values at once.
_VALUES_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class _Sums:
    """What alpha is computed from: sums per kind of item, how many items are of each kind, and the formula."""

    rows: Floats
    sizes: Integers
    kind_of: Integers
    statistic: Statistic


def krippendorff_alpha(ratings: Ratings, level: Level) -> float | None:
    """How far raters agree beyond what shuffled ratings would: 1 is complete, 0 is chance, below 0 is worse.

    `ratings` are raters x items, None where one is missing; items with fewer than two ratings are left out. At the
    nominal level ratings are anything hashable; at the others they are finite numbers, at the ratio level of at
    least 0. None where no item has two ratings, and where all of those are equal: without any variation, agreement
    cannot be told from having one answer only.
    Raises EvaluationError for a level or rating that cannot be one, LengthMismatch.
    Source: Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011.
    Example: `krippendorff_alpha([[1, 1, 2, 2], [1, 1, 2, 1]], "nominal")` is 8/15: one pair of four differs, and of
    the 56 ordered pairs of the eight ratings 30 do, so 1 - (2 / 8) / (30 / 56).
    """
    sums = _sums(ratings, level)
    return number_or_none(sums.statistic, np.atleast_2d(sums.sizes @ sums.rows))


def alpha_interval(
    ratings: Ratings,
    level: Level,
    clusters: Sequence[Hashable] | None = None,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    draws: int = STATISTIC_DRAWS,
    seed: int = 0,
) -> Estimate:
    """`krippendorff_alpha` with a bootstrap interval that resamples items, or whole clusters of them.

    `clusters` names the document of each item: items of one document are then drawn together. Items with fewer
    than two ratings are left out, and clusters without others. Raters are taken as they are: the interval says
    nothing about other raters. Draws in which all ratings are equal are left out and counted as undefined.
    Errors as `krippendorff_alpha`; InvalidPercent for a confidence outside 0 to 1.
    Source: Efron's bootstrap; Zapf et al., Measuring inter-rater reliability for nominal data, 2016,
    find it to cover well where items are resampled.
    Example: `alpha_interval([[1, 1, 2, 2], [1, 1, 2, 1]], "nominal")` has the value 8/15 and 4 clusters, its items.
    """
    sums = _sums(ratings, level)
    rows, sizes = sums.rows, sums.sizes
    if clusters is not None:
        check_same_length("A rater's ratings", ratings[0] if ratings else (), "clusters", clusters)
        rows, sizes = _by_cluster(sums, clusters)
    (estimate,) = estimates(rows, sums.statistic, sizes=sizes, confidence=confidence, draws=draws, seed=seed)
    return estimate


def _table(ratings: Ratings, level: Level) -> RatingTable:
    check_choice("The level", level, get_args(Level))
    table = rating_table(ratings, is_numeric=level != "nominal")
    if level == "ratio" and len(table.categories) and table.values[0] < 0:
        raise EvaluationError(
            f"A rating is {table.categories[0]!r}; at the ratio level ratings are at least 0."
        )
    return table


def _distance(table: RatingTable, level: Level) -> Callable[[Integers, Integers], Floats]:
    """The squared distance between two ratings, by their codes."""
    if level == "nominal":
        return lambda one, other: (one != other).astype(np.float64)
    values = table.values
    if level == "ordinal":
        pairable = (table.codes != MISSING).sum(axis=0) >= FEWEST_RATINGS
        values = _middle_ranks(table.counts(table.codes[:, pairable]).sum(axis=0))
    if level == "ratio":
        return lambda one, other: _proportion(values[one], values[other])
    return lambda one, other: (values[one] - values[other]) ** 2


def _sums(ratings: Ratings, level: Level) -> _Sums:
    table = _table(ratings, level)
    pairable = (table.codes != MISSING).sum(axis=0) >= FEWEST_RATINGS
    sorted_codes = np.sort(table.codes[:, pairable], axis=0)
    # Items that got the same ratings, by whomever, are the same to alpha: they are counted, not repeated.
    kinds, kind_of, sizes = np.unique(sorted_codes, axis=1, return_inverse=True, return_counts=True)
    places = np.full(table.codes.shape[1], MISSING)
    places[pairable] = kind_of.reshape(-1)
    rows, statistic = _level_sums(kinds, table, level)
    return _Sums(rows=rows, sizes=sizes.astype(np.int64), kind_of=places, statistic=statistic)


def _by_cluster(sums: _Sums, clusters: Sequence[Hashable]) -> tuple[Floats, Integers]:
    """Sums per cluster that holds any pairable item, and a size of 1 for each."""
    used = sums.kind_of != MISSING
    places, width = places_of([name for name, use in zip(clusters, used, strict=True) if use])
    members = scipy.sparse.csr_array(
        (np.ones(len(places)), (places, sums.kind_of[used])), shape=(width, len(sums.sizes))
    )
    return members @ sums.rows, np.ones(width, dtype=np.int64)


def _level_sums(kinds: Integers, table: RatingTable, level: Level) -> tuple[Floats, Statistic]:
    """For each kind of item the sums that alpha needs at this level, and alpha from such sums.

    All four are 1 - (n - 1) * sum(o_ck d_ck) / sum(n_c n_k d_ck) over the coincidences o with marginals n.
    """
    if level == "interval":
        return _interval_sums(kinds, table.values)
    if level == "ordinal":
        return _ordinal_sums(kinds, len(table.categories))
    return _distance_sums(kinds, table, level)


def _interval_sums(kinds: Integers, values: Floats) -> tuple[Floats, Statistic]:
    """Squared distances need no pairs of values: sums of values and of their squares hold all that is in them."""
    given = kinds != MISSING
    # Any shift of the scale leaves distances alone, and a centred one leaves the squares their digits.
    centre = values[kinds[given]].mean() if given.any() else 0.0
    rated = np.where(given, np.append(values, 0.0)[kinds] - centre, 0.0)
    count, total, squares = given.sum(axis=0), rated.sum(axis=0), (rated**2).sum(axis=0)
    observed = 2 * (count * squares - total**2) / np.maximum(count - 1, 1)
    # A kind whose ratings are all equal has no disagreement at all, whatever rounding left.
    highest = kinds.max(axis=0, initial=MISSING)
    alike = (np.where(given, kinds, highest) == highest).all(axis=0)
    observed = np.where(alike, 0, np.maximum(observed, 0))
    rows = np.column_stack([count, total, squares, observed]).astype(np.float64)

    def statistic(sums: Floats) -> Floats:
        n, total, squares, observed = sums.T
        expected = 2 * (n * squares - total**2)
        # Where all ratings are equal, rounding may leave a crumb of the two terms that cancel.
        expected = np.where(expected > 1e-12 * n * squares, expected, 0)
        return _alpha(n, observed, expected)

    return rows, statistic


def _distance_sums(kinds: Integers, table: RatingTable, level: Level) -> tuple[Floats, Statistic]:
    """Fixed distances: one sum of observed distances, and the marginals."""
    distance = _distance(table, level)
    given = kinds != MISSING
    count = given.sum(axis=0)
    observed = np.zeros(kinds.shape[1])
    for one in range(len(kinds)):
        for other in range(one):
            both = given[one] & given[other]
            observed[both] += 2 * distance(kinds[one, both], kinds[other, both])
    marginals = _sparse_counts(kinds, len(table.categories), np.ones(kinds.shape))
    rows = scipy.sparse.hstack(
        [(observed / np.maximum(count - 1, 1))[:, np.newaxis], marginals], format="csr"
    )

    def statistic(sums: Floats) -> Floats:
        observed, marginals = sums[:, 0], sums[:, 1:]
        n = marginals.sum(axis=1)
        if level == "nominal":
            return _alpha(n, observed, n**2 - (marginals**2).sum(axis=1))
        expected = np.zeros(len(sums))
        codes = np.arange(marginals.shape[1])
        for start in range(0, len(codes), _VALUES_AT_ONCE):
            block = slice(start, start + _VALUES_AT_ONCE)
            between = distance(codes[:, np.newaxis], codes[np.newaxis, block])
            expected += ((marginals @ between) * marginals[:, block]).sum(axis=1)
        return _alpha(n, observed, expected)

    return rows, statistic


def _ordinal_sums(kinds: Integers, width: int) -> tuple[Floats, Statistic]:
    """Distances of ranks, which move with the marginals of each draw: marginals, and the coincidences that occur.

    The ordinal distance of two categories is that of their middle ranks, so with ranks m it is the interval form,
    and sum(o_ck (m_c - m_k)^2) needs only the coincidences of different categories.
    """
    given = kinds != MISSING
    weight = 1 / np.maximum(given.sum(axis=0) - 1, 1)
    pairs: list[Integers] = [np.empty((4, 0), dtype=np.int64)]
    for one in range(len(kinds)):
        for other in range(one):
            apart = np.flatnonzero(given[one] & given[other] & (kinds[one] != kinds[other]))
            low, high = kinds[other, apart], kinds[one, apart]
            pairs.append(np.stack([apart, low, high, low * width + high]))
    items, lows, highs, names = np.concatenate(pairs, axis=1)
    distinct, first, column = np.unique(names, return_index=True, return_inverse=True)
    shape = (kinds.shape[1], len(distinct))
    # Twice, for a pair stands in the coincidences in both orders.
    coincidences = scipy.sparse.csr_array((2 * weight[items], (items, column.reshape(-1))), shape=shape)
    low, high = lows[first], highs[first]
    marginals = _sparse_counts(kinds, width, np.ones(kinds.shape))
    rows = scipy.sparse.hstack([marginals, coincidences], format="csr")

    def statistic(sums: Floats) -> Floats:
        marginals, coincidences = sums[:, :width], sums[:, width:]
        ranks, n = _middle_ranks(marginals), marginals.sum(axis=1)
        observed = (coincidences * (ranks[:, low] - ranks[:, high]) ** 2).sum(axis=1)
        centred = ranks - n[:, np.newaxis] / 2
        # Middle ranks have the mean n / 2, so the squared sum of the interval form is 0.
        return _alpha(n, observed, 2 * n * (marginals * centred**2).sum(axis=1))

    return rows, statistic


def _alpha(n: Floats, observed: Floats, expected: Floats) -> Floats:
    alpha = np.where(expected > 0, 1 - (n - 1) * observed / expected, np.nan)
    return alpha[:, np.newaxis]


def _middle_ranks(marginals: Floats) -> Floats:
    """The rank of the middle of each category among all ratings, from 0 up; along the last axis."""
    ranks: Floats = np.cumsum(marginals, axis=-1) - marginals / 2
    return ranks


def _proportion(one: Floats, other: Floats) -> Floats:
    total = one + other
    return ((one - other) / np.where(total == 0, 1, total)) ** 2


def _sparse_counts(kinds: Integers, width: int, weights: Floats) -> Floats:
    given = kinds != MISSING
    items = np.broadcast_to(np.arange(kinds.shape[1]), kinds.shape)
    counts: Floats = scipy.sparse.csr_array(
        (weights[given], (items[given], kinds[given])), shape=(kinds.shape[1], width)
    )
    return counts
