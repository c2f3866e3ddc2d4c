"""Agreement of ratings of the same items: Krippendorff's alpha, Cohen's kappa, and the share of equal pairs."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import scipy
from numpy.typing import NDArray

from evaluation._guards import check_choice, check_same_length
from evaluation.errors import EvaluationError
from evaluation.statistics._resampling import (
    DEFAULT_CONFIDENCE,
    STATISTIC_DRAWS,
    Estimate,
    Floats,
    Integers,
    Statistic,
    estimates,
    number_or_none,
    places_of,
    sums_by,
)

Level = Literal["nominal", "ordinal", "interval", "ratio"]
"""The level of measurement: ratings differ only in kind, in order, by distance, or by proportion."""
KappaWeights = Literal["linear", "quadratic"]
"""Disagreement grows with the steps between two categories, or with their square."""
Ratings = Sequence[Sequence[Hashable | None]]
"""One list per rater, of equal length; None is a missing rating."""

FEWEST_RATINGS = 2
"""An item with fewer ratings gives no information about agreement."""
_MISSING = -1


@dataclass(frozen=True, slots=True)
class _Sums:
    """A coefficient of the used items, which have two or more ratings.

    `rows` has one row of sums per used item, `statistic` computes the coefficient from the rows' total, and `is_used`
    marks the used ones of all items.
    """

    rows: Floats
    statistic: Statistic
    is_used: NDArray[np.bool_]

    @property
    def value(self) -> float | None:
        return number_or_none(self.statistic, self.rows)

    def interval(
        self,
        clusters: Sequence[Hashable] | None,
        *,
        confidence: float,
        draws: int,
        seed: int,
        shares: Sequence[int] = (),
    ) -> Estimate:
        """Compute the interval. Clusters without a used item are ignored."""
        rows = self.rows
        if clusters is not None:
            check_same_length("A rater's ratings", self.is_used.tolist(), "clusters", clusters)
            used = [name for name, is_used in zip(clusters, self.is_used, strict=True) if is_used]
            rows = sums_by(*places_of(used), rows)
        (found,) = estimates(
            rows, self.statistic, shares=shares, confidence=confidence, draws=draws, seed=seed
        )
        return found


def krippendorff_alpha(ratings: Ratings, level: Level) -> float | None:
    """Compute Krippendorff's alpha, the agreement of raters beyond chance: 1 is complete, 0 is chance, below 0 is
    worse.

    `ratings` has the shape (raters, items), with None for a missing rating; items with fewer than two ratings are
    ignored. At the nominal level, ratings are any hashable values except infinite numbers and NaN. At the other levels
    they are finite numbers, at the ratio level at least 0. Returns None if no item has two ratings, or if all ratings
    of the other items are equal. Raises EvaluationError for an unknown level or invalid rating, LengthMismatch. Source:
    Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011. Example: `krippendorff_alpha([[1, 1, 2, 2], [1, 1,
    2, 1]], "nominal")` is 8/15. One of four pairs differs. Of the 56 ordered pairs of the eight ratings 30 differ, so
    alpha is 1 - (2 / 8) / (30 / 56).
    """
    return _alpha_sums(ratings, level).value


def alpha_interval(
    ratings: Ratings,
    level: Level,
    clusters: Sequence[Hashable] | None = None,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    draws: int = STATISTIC_DRAWS,
    seed: int = 0,
) -> Estimate:
    """Compute `krippendorff_alpha` with a bootstrap interval that resamples items, or whole clusters of items.

    `clusters` names the document of each item; items of one document are resampled together. Items with fewer than two
    ratings, and clusters that have only such items, are ignored. Raters are fixed, so the interval does not cover the
    choice of raters. Resamples without an alpha are ignored and counted as undefined. Raises the errors of
    `krippendorff_alpha`, InvalidPercent for a confidence outside 0 to 1, and EvaluationError for fewer than one
    resample. Source: Efron's bootstrap; Zapf et al., Measuring inter-rater reliability for nominal data, 2016, find
    that its intervals cover well if items are resampled. Example: `alpha_interval([[1, 1, 2, 2], [1, 1, 2, 1]],
    "nominal")` has the value 8/15; each of the 4 items is a cluster.
    """
    return _alpha_sums(ratings, level).interval(clusters, confidence=confidence, draws=draws, seed=seed)


def cohen_kappa(
    a: Sequence[Hashable | None],
    b: Sequence[Hashable | None],
    weights: KappaWeights | None = None,
    *,
    categories: Sequence[Hashable] | None = None,
) -> float | None:
    """Compute Cohen's kappa, the agreement of two raters beyond chance: 1 is complete, 0 is chance, below 0 is worse.

    Chance agreement follows from each rater's own frequencies. None is a missing rating; items without both ratings
    are ignored. With weights, disagreement is the number of steps between two categories, or its square. `categories`
    then names the whole scale in order; without it, the scale is the sorted values that occur, so unused steps are
    not counted. Returns None if no item has both ratings, or if both raters always gave the same category.
    Raises LengthMismatch; EvaluationError for unknown weights and for a rating that is outside the scale or cannot be
    sorted.
    Source: Cohen, A coefficient of agreement for nominal scales, 1960; Weighted kappa, 1968.
    Example: 20 yes/yes, 5 yes/no, 10 no/yes and 15 no/no give 0.4: agreement is 0.7, and 0.5 by chance.
    """
    return _kappa_sums(a, b, weights, categories).value


def kappa_interval(
    a: Sequence[Hashable | None],
    b: Sequence[Hashable | None],
    weights: KappaWeights | None = None,
    clusters: Sequence[Hashable] | None = None,
    *,
    categories: Sequence[Hashable] | None = None,
    confidence: float = DEFAULT_CONFIDENCE,
    draws: int = STATISTIC_DRAWS,
    seed: int = 0,
) -> Estimate:
    """Compute `cohen_kappa` with a bootstrap interval that resamples items, or whole clusters of items.

    `clusters` names the document of each item. Items without both ratings are ignored. Resamples without a kappa are
    ignored and counted as undefined. Raises the errors of `cohen_kappa`, InvalidPercent for a confidence outside 0 to
    1, and EvaluationError for fewer than one resample. Example: 20 yes/yes, 5 yes/no, 10 no/yes and 15 no/no have the
    value 0.4, over 50 clusters.
    """
    sums = _kappa_sums(a, b, weights, categories)
    return sums.interval(clusters, confidence=confidence, draws=draws, seed=seed)


def observed_agreement(ratings: Ratings) -> float | None:
    """Compute the share of equal pairs of ratings within each item, averaged over items.

    In [0, 1], without a correction for chance. `ratings` has the shape (raters, items) with any hashable values and
    None for a missing rating. Items with fewer than two ratings are ignored; the result is None if no items remain.
    Raises LengthMismatch.
    Source: Fleiss, Measuring nominal scale agreement among many raters, 1971, for equal numbers of raters.
    Example: `observed_agreement([["yes", "no"], ["yes", "no"], ["no", None]])` is 2/3, the mean of 1/3 and 1.
    """
    return _observed_sums(ratings).value


def observed_agreement_interval(
    ratings: Ratings,
    clusters: Sequence[Hashable] | None = None,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    draws: int = STATISTIC_DRAWS,
    seed: int = 0,
) -> Estimate:
    """Compute `observed_agreement` with a bootstrap interval that resamples items, or whole clusters of items.

    `clusters` names the document of each item. Items with fewer than two ratings are ignored. Raises the errors of
    `observed_agreement`, InvalidPercent for a confidence outside 0 to 1, and EvaluationError for fewer than one
    resample. Example: `observed_agreement_interval([["yes", "no"], ["yes", "no"], ["no", None]])` has the value 2/3.
    Its 2 clusters are the items.
    """
    return _observed_sums(ratings).interval(
        clusters, shares=(0,), confidence=confidence, draws=draws, seed=seed
    )


@dataclass(frozen=True, slots=True)
class _Table:
    """The used items, which have two or more ratings.

    `codes`, of shape (raters, used items), has the index in `categories` of each rating, -1 for a missing one.
    `is_used` marks the used ones of all items.
    """

    codes: Integers
    categories: tuple[Hashable, ...]
    is_used: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        ratings: Ratings,
        *,
        categories: Sequence[Hashable] | None = None,
        is_numeric: bool = False,
    ) -> "_Table":
        for rater, row in enumerate(ratings):
            check_same_length("The first rater's ratings", ratings[0], f"those of rater {rater}", row)
            for item, rating in enumerate(row):
                _check_rating(rating, rater, item, is_numeric)
        occurring = dict.fromkeys(rating for row in ratings for rating in row if rating is not None)
        if categories is None:
            categories = sorted(occurring) if is_numeric else tuple(occurring)  # type: ignore[type-var]
        known = tuple(dict.fromkeys(categories))
        places: dict[Hashable, int] = {category: place for place, category in enumerate(known)}
        if unknown := [rating for rating in occurring if rating not in places]:
            raise EvaluationError(f"The rating {unknown[0]!r} is not one of the categories {list(known)!r}.")
        places[None] = _MISSING
        codes = np.array([[places[rating] for rating in row] for row in ratings], dtype=np.int64)
        codes = codes.reshape(len(ratings), -1 if len(ratings) else 0)
        is_used = (codes != _MISSING).sum(axis=0) >= FEWEST_RATINGS
        return cls(codes[:, is_used], known, is_used)

    @property
    def counts(self) -> "scipy.sparse.csr_array":
        raters, items = np.nonzero(self.codes != _MISSING)
        places = (items, self.codes[raters, items])
        shape = (self.codes.shape[1], len(self.categories))
        return scipy.sparse.csr_array((np.ones(len(items)), places), shape=shape)


def _check_rating(rating: Hashable | None, rater: int, item: int, is_numeric: bool) -> None:
    if isinstance(rating, (int, float, np.number)):
        if math.isfinite(float(rating)):
            return
    elif rating is None or not is_numeric:
        return
    raise EvaluationError(
        f"The rating of item {item} by rater {rater} is {rating!r}; "
        "it must be a finite number, or None where there is none."
    )


def _alpha_sums(ratings: Ratings, level: Level) -> _Sums:
    """Compute the marginals of all categories, and the coincidences of different categories that occur.

    Alpha is 1 - (n - 1) sum(o_ck d_ck) / sum(n_c n_k d_ck), with the coincidences o and their marginals n. The
    ordinal distance of two categories is the distance of their middle ranks, which changes with the marginals of
    each resample.
    """
    check_choice("The level", level, get_args(Level))
    table = _Table.of(ratings, is_numeric=level != "nominal")
    if level == "ratio" and table.categories and table.categories[0] < 0:  # type: ignore[operator]
        raise EvaluationError(
            f"A rating is {table.categories[0]!r}; at the ratio level ratings are at least 0."
        )
    codes, marginals, width = table.codes, table.counts, len(table.categories)
    weight = 1 / (marginals.sum(axis=1) - 1)
    pairs = [np.empty((3, 0), dtype=np.int64)]
    for one in range(len(codes)):
        for other in range(one):
            both = codes[[one, other]]
            apart = np.flatnonzero((both != _MISSING).all(axis=0) & (both[0] != both[1]))
            pairs.append(np.stack([apart, both.min(axis=0)[apart], both.max(axis=0)[apart]]))
    items, lows, highs = np.concatenate(pairs, axis=1)
    names, column = np.unique(lows * width + highs, return_inverse=True)
    low, high = names // max(width, 1), names % max(width, 1)
    # The factor 2 counts each pair in both orders.
    coincidences = scipy.sparse.csr_array(
        (2 * weight[items], (items, column)), shape=(codes.shape[1], len(names))
    )
    values = np.arange(width) if level == "nominal" else np.array(table.categories, dtype=np.float64)
    # Centre the scale. Distances stay the same, and squares keep their precision.
    centred = values - (values.mean() if width else 0)

    def statistic(sums: Floats) -> Floats:
        marginals, coincidences = sums[:, :width], sums[:, width:]
        n = marginals.sum(axis=1)
        if level in ("nominal", "ratio"):
            between = (values[:, np.newaxis] != values).astype(np.float64)
            if level == "ratio":
                whole = values[:, np.newaxis] + values
                between = ((values[:, np.newaxis] - values) / np.where(whole > 0, whole, 1)) ** 2
            observed = coincidences @ between[low, high]
            expected = ((marginals @ between) * marginals).sum(axis=1)
        else:
            scale = np.broadcast_to(centred, marginals.shape)
            if level == "ordinal":
                scale = np.cumsum(marginals, axis=1) - (marginals + n[:, np.newaxis]) / 2
            observed = (coincidences * (scale[:, low] - scale[:, high]) ** 2).sum(axis=1)
            total = (marginals * scale).sum(axis=1)
            expected = 2 * (n * (marginals * scale**2).sum(axis=1) - total**2)
        # If all ratings are equal, alpha is undefined, even if rounding leaves a tiny expected disagreement.
        varies = (marginals > 0).sum(axis=1) > 1
        return np.where(varies, 1 - (n - 1) * observed / expected, np.nan)[:, np.newaxis]

    return _Sums(scipy.sparse.hstack([marginals, coincidences], format="csr"), statistic, table.is_used)


def _kappa_sums(
    a: Sequence[Hashable | None],
    b: Sequence[Hashable | None],
    weights: KappaWeights | None,
    categories: Sequence[Hashable] | None,
) -> _Sums:
    """Make one row per used item: the disagreement, and two one-hot vectors with the category of each rater."""
    check_same_length("a", a, "b", b)
    if weights is not None:
        check_choice("The weights", weights, get_args(KappaWeights))
        categories = _scale([*a, *b]) if categories is None else categories
    table = _Table.of([a, b], categories=categories)
    width = len(table.categories)
    steps = np.abs(np.arange(width)[:, np.newaxis] - np.arange(width)).astype(np.float64)
    between = np.minimum(steps, 1) if weights is None else steps if weights == "linear" else steps**2
    first, second = table.codes
    hot = np.eye(width)

    def statistic(sums: Floats) -> Floats:
        observed, one, other = sums[:, 0], sums[:, 1 : 1 + width], sums[:, 1 + width :]
        expected = ((one @ between) * other).sum(axis=1)
        kappa = np.where(expected > 0, 1 - one.sum(axis=1) * observed / expected, np.nan)
        return kappa[:, np.newaxis]

    rows = np.column_stack([between[first, second], hot[first], hot[second]])
    return _Sums(rows, statistic, table.is_used)


def _scale(ratings: Sequence[Hashable | None]) -> list[Hashable]:
    try:
        return sorted({rating for rating in ratings if rating is not None})  # type: ignore[type-var]
    except TypeError as error:
        raise EvaluationError(
            "Weights need an order of the categories, and these cannot be sorted; name them as `categories`."
        ) from error


def _observed_sums(ratings: Ratings) -> _Sums:
    """Make one row per used item: the number 1, and the share of equal pairs of ratings."""
    table = _Table.of(ratings)
    counts = table.counts
    given = counts.sum(axis=1)
    equal = (counts.power(2) - counts).sum(axis=1) / (given * (given - 1))
    rows = np.column_stack([np.ones(len(given)), equal])
    return _Sums(rows, lambda sums: sums[:, 1:2] / sums[:, 0:1], table.is_used)
