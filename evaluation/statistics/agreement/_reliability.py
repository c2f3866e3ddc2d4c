"""Agreement beside alpha and kappa: raw agreement, Gwet's AC1, and intraclass correlations."""

from collections.abc import Hashable, Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from evaluation._guards import check_choice, check_same_length
from evaluation.statistics._intervals import DEFAULT_CONFIDENCE
from evaluation.statistics._resampling import (
    STATISTIC_DRAWS,
    Estimate,
    Floats,
    Statistic,
    estimates,
    number_or_none,
    places_of,
    sums_by,
)
from evaluation.statistics.agreement._alpha import Ratings
from evaluation.statistics.agreement._ratings import MISSING, rating_table

IntraclassForm = Literal["1", "A,1", "C,1", "1,k", "A,k", "C,k"]
"""Which intraclass correlation: 1 raters differ by item, A absolute agreement, C consistency; of one or k raters."""

_Sums = tuple[Floats, Statistic]


def observed_agreement(ratings: Ratings) -> float | None:
    """Share of pairs of ratings that are equal: within each item, then the mean over items.

    In [0, 1]; nothing is taken off for chance. `ratings` are raters x items of anything hashable, None where one is
    missing; items with fewer than two ratings are left out. None where none is left.
    Raises LengthMismatch.
    Source: Fleiss, Measuring nominal scale agreement among many raters, 1971, there with equal numbers of raters.
    Example: `observed_agreement([["yes", "no"], ["yes", "no"], ["no", None]])` is 2/3: 1/3 and 1.
    """
    rows, statistic = _agreement_sums(ratings)
    return number_or_none(statistic, rows)


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
    return _interval(_agreement_sums(ratings), ratings, clusters, confidence, draws, seed, shares=(0,))


def gwet_ac1(ratings: Ratings, *, categories: Sequence[Hashable] | None = None) -> float | None:
    """Gwet's AC1: agreement beyond chance that does not collapse where nearly all ratings are the same.

    1 is complete, 0 chance, below 0 worse. `ratings` are raters x items of anything hashable, None where one is
    missing. Agreement is taken over items with two ratings or more, the use of categories over all rated items.
    `categories` names the whole scale; without it, it is what occurs. None where no item has two ratings, and where
    the scale has one category only.
    Raises LengthMismatch; EvaluationError for a rating off the scale.
    Source: Gwet, Computing inter-rater reliability and its variance in the presence of high agreement, 2008;
    Handbook of Inter-Rater Reliability, 2014, for missing ratings.
    Example: 9 items yes/yes and one yes/no agree on 0.9; yes is 0.95 of all ratings, so chance is
    2 * 0.95 * 0.05 = 0.095 and AC1 is 0.805 / 0.905 = 0.8895.
    """
    rows, statistic = _ac1_sums(ratings, categories)
    return number_or_none(statistic, rows)


def gwet_ac1_interval(
    ratings: Ratings,
    clusters: Sequence[Hashable] | None = None,
    *,
    categories: Sequence[Hashable] | None = None,
    confidence: float = DEFAULT_CONFIDENCE,
    draws: int = STATISTIC_DRAWS,
    seed: int = 0,
) -> Estimate:
    """`gwet_ac1` with a bootstrap interval that resamples items, or whole clusters of them.

    `clusters` names the document of each item. Errors as `gwet_ac1`; InvalidPercent for a confidence outside 0 to 1.
    Example: of 9 items yes/yes and one yes/no the value is 0.8895, over 10 clusters.
    """
    return _interval(_ac1_sums(ratings, categories), ratings, clusters, confidence, draws, seed)


def intraclass_correlation(
    ratings: Sequence[Sequence[float | None]], form: IntraclassForm = "A,1"
) -> float | None:
    """Share of the variance of ratings that lies between items: how well raters' numbers can be relied on.

    1 is complete; 0 or below, no better than noise. `ratings` are raters x items of finite numbers; items that lack
    any rating are left out. `A,1` is absolute agreement of single ratings, `A,k` that of their mean; `C,1` and `C,k`
    forgive raters who are stricter throughout; `1` and `1,k` are for raters who differ from item to item. The list
    of k raters is a sample of raters (the two-way random model), except for C, where it does not matter.
    None with fewer than two raters or complete items, and where the variance that it is a share of is 0.
    Raises LengthMismatch; EvaluationError for a rating that is not a finite number, or another form.
    Source: Shrout and Fleiss, Intraclass correlations, 1979; names of forms by McGraw and Wong, 1996.
    Example: two raters with 1, 2, 3 and 2, 3, 4 differ by one throughout: C,1 is 1, and A,1 is 2/3.
    """
    rows, statistic = _intraclass_sums(ratings, form)
    return number_or_none(statistic, rows)


def intraclass_interval(
    ratings: Sequence[Sequence[float | None]],
    form: IntraclassForm = "A,1",
    clusters: Sequence[Hashable] | None = None,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    draws: int = STATISTIC_DRAWS,
    seed: int = 0,
) -> Estimate:
    """`intraclass_correlation` with a bootstrap interval that resamples items, or whole clusters of them.

    `clusters` names the document of each item. Raters are taken as they are: the interval says nothing about other
    raters. Errors as `intraclass_correlation`; InvalidPercent for a confidence outside 0 to 1.
    Example: `intraclass_interval([[1, 2, 3], [2, 3, 4]])` has the value 2/3, over 3 clusters.
    """
    return _interval(_intraclass_sums(ratings, form), ratings, clusters, confidence, draws, seed)


def _interval(
    sums: _Sums,
    ratings: Ratings,
    clusters: Sequence[Hashable] | None,
    confidence: float,
    draws: int,
    seed: int,
    shares: tuple[int, ...] = (),
) -> Estimate:
    rows, statistic = sums
    # Items without anything in them take no part, so that they cannot pass for clusters.
    used: NDArray[np.bool_] = np.asarray(rows.any(axis=1))
    rows = rows[used]
    if clusters is not None:
        check_same_length("A rater's ratings", ratings[0] if ratings else (), "clusters", clusters)
        places, width = places_of([name for name, use in zip(clusters, used, strict=True) if use])
        rows = sums_by(places, width, rows)
    (estimate,) = estimates(rows, statistic, shares=shares, confidence=confidence, draws=draws, seed=seed)
    return estimate


def _agreement_sums(ratings: Ratings) -> _Sums:
    """Per item: whether it has two ratings, and the share of its pairs that are equal."""
    table = rating_table(ratings)
    return _pair_columns(table.counts(table.codes)), lambda sums: sums[:, 1:2] / sums[:, 0:1]


def _ac1_sums(ratings: Ratings, categories: Sequence[Hashable] | None) -> _Sums:
    """Per item: its agreement as above, whether it is rated at all, and its share of each category."""
    table = rating_table(ratings, categories=categories)
    counts = table.counts(table.codes)
    given = counts.sum(axis=1, keepdims=True)
    width = len(table.categories)
    rows = np.hstack([_pair_columns(counts), given > 0, counts / np.maximum(given, 1)])

    def statistic(sums: Floats) -> Floats:
        shares = sums[:, 3:] / sums[:, 2:3]
        if width == 1:
            return np.full((len(sums), 1), np.nan)
        chance = (shares * (1 - shares)).sum(axis=1) / (width - 1)
        ac1 = (sums[:, 1] / sums[:, 0] - chance) / (1 - chance)
        return np.atleast_2d(ac1).T

    return rows, statistic


def _pair_columns(counts: Floats) -> Floats:
    given = counts.sum(axis=1)
    pairs = given * (given - 1)
    equal = (counts * (counts - 1)).sum(axis=1)
    return np.column_stack([pairs > 0, equal / np.maximum(pairs, 1)]).astype(np.float64)


def _intraclass_sums(ratings: Sequence[Sequence[float | None]], form: IntraclassForm) -> _Sums:
    """Per complete item: one, each rater's number, the square of their sum, and the sum of their squares."""
    check_choice("The form", form, get_args(IntraclassForm))
    table = rating_table(ratings, is_numeric=True)
    is_complete = (table.codes != MISSING).all(axis=0) & (len(table.codes) > 0)
    values = np.append(table.values, 0.0)[table.codes]
    # A shift of the scale changes no variance, and a centred scale leaves the squares their digits.
    centre = values[:, is_complete].mean() if is_complete.any() else 0.0
    rated = np.where(is_complete, values - centre, 0.0)
    columns = [is_complete, *rated, rated.sum(axis=0) ** 2, (rated**2).sum(axis=0)]
    raters = len(table.codes)

    def statistic(sums: Floats) -> Floats:
        return _intraclass(sums, raters, form)[:, np.newaxis]

    return np.column_stack(columns).astype(np.float64), statistic


def _intraclass(sums: Floats, raters: int, form: IntraclassForm) -> Floats:
    """From the mean squares of the two-way table of complete items."""
    k, n, by_rater = raters, sums[:, 0], sums[:, 1:-2]
    if k < 2:
        return np.full(len(sums), np.nan)
    grand = by_rater.sum(axis=1) ** 2 / (n * k)
    total = sums[:, -1] - grand
    # What cancels to a crumb of the squares is 0, not a variance.
    crumb = 1e-12 * sums[:, -1]
    between_items = _without(sums[:, -2] / k - grand, crumb)
    between_raters = _without((by_rater**2).sum(axis=1) / n - grand, crumb)
    error = _without(total - between_items - between_raters, crumb)
    items = between_items / (n - 1)
    judges = between_raters / (k - 1)
    residual = error / ((n - 1) * (k - 1))
    within = (between_raters + error) / (n * (k - 1))
    over = {
        "1": (items - within, items + (k - 1) * within),
        "A,1": (items - residual, items + (k - 1) * residual + k * (judges - residual) / n),
        "C,1": (items - residual, items + (k - 1) * residual),
        "1,k": (items - within, items),
        "A,k": (items - residual, items + (judges - residual) / n),
        "C,k": (items - residual, items),
    }
    above, below = over[form]
    is_share = (n > 1) & (below > 1e-12 * (items + judges + within + residual))
    return np.where(is_share, above / below, np.nan)


def _without(values: Floats, crumb: Floats) -> Floats:
    return np.where(values > crumb, values, 0.0)
