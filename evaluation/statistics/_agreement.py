"""How far ratings of the same items agree: Krippendorff's alpha, Cohen's kappa, and the share of equal pairs.

Of every item that has two ratings a row of sums is made, of which each coefficient is a function. So intervals resample
rows, or those of whole clusters added up.
"""

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
"""What differences between ratings mean: none but being different, order, distance, or proportion."""
KappaWeights = Literal["linear", "quadratic"]
"""Disagreement grows with the steps between two categories, or with their square."""
Ratings = Sequence[Sequence[Hashable | None]]
"""One list per rater, as long as there are items; None where a rater gave no rating."""

FEWEST_RATINGS = 2
"""An item rated by one rater alone says nothing about agreement."""
_MISSING = -1


@dataclass(frozen=True, slots=True)
class _Sums:
    """A row of sums per item that is used, the coefficient as a function of their sum, and which items are used."""

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
        """Clusters without a used item take no part."""
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
    """`krippendorff_alpha` with a bootstrap interval that resamples items, or whole clusters of them.

    `clusters` names the document of each item: items of one document are then drawn together. Items with fewer
    than two ratings are left out, and clusters without others. Raters are taken as they are: the interval says
    nothing about other raters. Draws in which all ratings are equal are left out and counted as undefined.
    Errors as `krippendorff_alpha`; InvalidPercent for a confidence outside 0 to 1.
    Source: Efron's bootstrap; Zapf et al., Measuring inter-rater reliability for nominal data, 2016,
    find it to cover well where items are resampled.
    Example: `alpha_interval([[1, 1, 2, 2], [1, 1, 2, 1]], "nominal")` has the value 8/15 and 4 clusters, its items.
    """
    return _alpha_sums(ratings, level).interval(clusters, confidence=confidence, draws=draws, seed=seed)


def cohen_kappa(
    a: Sequence[Hashable | None],
    b: Sequence[Hashable | None],
    weights: KappaWeights | None = None,
    *,
    categories: Sequence[Hashable] | None = None,
) -> float | None:
    """How far two raters agree beyond what their own habits would give: 1 is complete, 0 chance, below 0 worse.

    None stands for a missing rating; items that lack either are left out. With weights, disagreement is counted by
    the steps between two categories: `categories` names the whole scale in order; without it the scale is what
    occurs, sorted, and a step that nobody used is lost. None where no item has both ratings, and where both raters
    gave one and the same category throughout: there is no disagreement to be had by chance.
    Raises LengthMismatch; EvaluationError for other weights, a rating off the scale, or one that cannot be sorted.
    Source: Cohen, A coefficient of agreement for nominal scales, 1960; Weighted kappa, 1968.
    Example: 20 yes/yes, 5 yes/no, 10 no/yes and 15 no/no give 0.4: agreement is 0.7 where chance gives 0.5.
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
    """`cohen_kappa` with a bootstrap interval that resamples items, or whole clusters of them.

    `clusters` names the document of each item. Items that lack a rating are left out. Draws in which kappa cannot
    be said are left out and counted as undefined. Errors as `cohen_kappa`; InvalidPercent for a confidence
    outside 0 to 1.
    Example: 20 yes/yes, 5 yes/no, 10 no/yes and 15 no/no have the value 0.4, over 50 clusters.
    """
    sums = _kappa_sums(a, b, weights, categories)
    return sums.interval(clusters, confidence=confidence, draws=draws, seed=seed)


def observed_agreement(ratings: Ratings) -> float | None:
    """Share of pairs of ratings that are equal: within each item, then the mean over items.

    In [0, 1]; nothing is taken off for chance. `ratings` are raters x items of anything hashable, None where one is
    missing; items with fewer than two ratings are left out. None where none is left.
    Raises LengthMismatch.
    Source: Fleiss, Measuring nominal scale agreement among many raters, 1971, there with equal numbers of raters.
    Example: `observed_agreement([["yes", "no"], ["yes", "no"], ["no", None]])` is 2/3: 1/3 and 1.
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
    """`observed_agreement` with a bootstrap interval that resamples items, or whole clusters of them.

    `clusters` names the document of each item. Items with fewer than two ratings are left out. Errors as
    `observed_agreement`; InvalidPercent for a confidence outside 0 to 1.
    Example: `observed_agreement_interval([["yes", "no"], ["yes", "no"], ["no", None]])` has the value 2/3 and 2
    clusters, its items.
    """
    return _observed_sums(ratings).interval(
        clusters, shares=(0,), confidence=confidence, draws=draws, seed=seed
    )


@dataclass(frozen=True, slots=True)
class _Table:
    """Positions in the categories, shape (raters, items that are used), and which items are used."""

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
        """Categories are those given; else those that occur: by size where they are numbers, else in order."""
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
        """How many raters gave each item each category, shape (items, categories)."""
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
    """Marginals, and the coincidences of different categories that occur.

    Alpha is 1 - (n - 1) sum(o_ck d_ck) / sum(n_c n_k d_ck) over the coincidences o with marginals n. The ordinal
    distance of two categories is that of their middle ranks, which move with the marginals of each draw.
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
    # Twice, for a pair stands in the coincidences in both orders.
    coincidences = scipy.sparse.csr_array(
        (2 * weight[items], (items, column)), shape=(codes.shape[1], len(names))
    )
    values = np.arange(width) if level == "nominal" else np.array(table.categories, dtype=np.float64)
    # Any shift of the scale leaves distances alone, and a centred one leaves the squares their digits.
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
        # Where all ratings are equal, rounding may leave a crumb of what is expected.
        varies = (marginals > 0).sum(axis=1) > 1
        return np.where(varies, 1 - (n - 1) * observed / expected, np.nan)[:, np.newaxis]

    return _Sums(scipy.sparse.hstack([marginals, coincidences], format="csr"), statistic, table.is_used)


def _kappa_sums(
    a: Sequence[Hashable | None],
    b: Sequence[Hashable | None],
    weights: KappaWeights | None,
    categories: Sequence[Hashable] | None,
) -> _Sums:
    """The disagreement, and which category each rater gave."""
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
    """One, and the share of an item's pairs that are equal."""
    table = _Table.of(ratings)
    counts = table.counts
    given = counts.sum(axis=1)
    equal = (counts.power(2) - counts).sum(axis=1) / (given * (given - 1))
    rows = np.column_stack([np.ones(len(given)), equal])
    return _Sums(rows, lambda sums: sums[:, 1:2] / sums[:, 0:1], table.is_used)
