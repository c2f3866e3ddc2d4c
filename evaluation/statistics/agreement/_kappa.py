"""Cohen's kappa: agreement of two raters, each with habits of their own."""

from collections.abc import Hashable, Sequence
from typing import Literal, get_args

import numpy as np

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
    sums_by,
)
from evaluation.statistics.agreement._ratings import MISSING, rating_table

KappaWeights = Literal["linear", "quadratic"]
"""Disagreement grows with the steps between two categories, or with their square."""


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
    rows, statistic, _ = _sums(a, b, weights, categories)
    return number_or_none(statistic, rows)


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
    rows, statistic, both = _sums(a, b, weights, categories)
    if clusters is not None:
        check_same_length("a", a, "clusters", clusters)
        places, width = places_of([name for name, has in zip(clusters, both, strict=True) if has])
        rows = sums_by(places, width, rows)
    (estimate,) = estimates(rows, statistic, confidence=confidence, draws=draws, seed=seed)
    return estimate


def _sums(
    a: Sequence[Hashable | None],
    b: Sequence[Hashable | None],
    weights: KappaWeights | None,
    categories: Sequence[Hashable] | None,
) -> tuple[Floats, Statistic, list[bool]]:
    """Per item with both ratings: the disagreement, and which category each rater gave; and kappa from sums."""
    check_same_length("a", a, "b", b)
    if weights is not None:
        check_choice("The weights", weights, get_args(KappaWeights))
        categories = _scale(a, b) if categories is None else categories
    table = rating_table([a, b], categories=categories)
    has_both = (table.codes != MISSING).all(axis=0)
    first, second = table.codes[:, has_both]
    width = len(table.categories)
    between = _disagreements(width, weights)
    rows = np.column_stack([between[first, second], _one_hot(first, width), _one_hot(second, width)])

    def statistic(sums: Floats) -> Floats:
        observed, one, other = sums[:, 0], sums[:, 1 : 1 + width], sums[:, 1 + width :]
        expected = ((one @ between) * other).sum(axis=1)
        kappa = np.where(expected > 0, 1 - one.sum(axis=1) * observed / expected, np.nan)
        return kappa[:, np.newaxis]

    return rows, statistic, has_both.tolist()


def _scale(a: Sequence[Hashable | None], b: Sequence[Hashable | None]) -> list[Hashable]:
    occurring = {rating for row in (a, b) for rating in row if rating is not None}
    try:
        return sorted(occurring)  # type: ignore[type-var]
    except TypeError as error:
        raise EvaluationError(
            "Weights need an order of the categories, and these cannot be sorted; name them as `categories`."
        ) from error


def _disagreements(width: int, weights: KappaWeights | None) -> Floats:
    steps: Floats = np.abs(np.arange(width)[:, np.newaxis] - np.arange(width)).astype(np.float64)
    if weights is None:
        return np.minimum(steps, 1.0)
    return steps if weights == "linear" else np.square(steps)


def _one_hot(codes: Integers, width: int) -> Floats:
    hot: Floats = np.eye(width)[codes]
    return hot
