"""The worst of several systems, where of each only what is expected of it is known.

Of many widths that are expected to be alike the largest that comes is larger, and of many numbers of answered documents
the smallest is smaller: what a plan promises of every system must go by that. Both are medians over draws: half
of all draws bring no worse. Systems are taken as independent, which makes the promise rather cautious where their
documents are the same.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

from evaluation._guards import check_same_length, checked_weight
from evaluation.errors import EvaluationError

Array = NDArray[np.float64]

HALF = math.log(0.5)
"""The logarithm of the chance that nothing worse comes."""


def degrees_behind(documents: float) -> int:
    """The degrees of freedom of an interval from so many documents, which may be expected ones: at least 1."""
    return max(1, round(documents) - 1)


def median_widest(widths: Sequence[float], documents: Sequence[float]) -> float:
    """The width that no system's interval exceeds in half of all draws, by the width that is expected of each.

    `documents` tells how many documents are expected to hold an answer behind each. A width goes with the square root
    of a sample variance, of d = documents - 1 degrees of freedom, so d (W / w)^2 of a width W where w is expected
    follows chi-square with d: the median solves sum of log F(d (W / w)^2; d) = log 1/2. Never below the largest
    of the widths: a single system keeps its own. A width of 0 is exceeded by nothing and does not count.
    Raises EvaluationError without any width, InvalidWeight for one that is negative or not finite, LengthMismatch.
    Source: the sample variance of normal values, Cochran 1934; the largest of independent ones by their product.
    Example: two widths of 1 from two documents each: F(x; 1) = 2 Phi(sqrt x) - 1 = sqrt 1/2, so W = 1.0516.
    """
    check_same_length("widths", widths, "documents", documents)
    if not widths:
        raise EvaluationError("There is no width of which the widest could be told.")
    expected = [checked_weight("A width", width) for width in widths]
    largest = max(expected)
    counted = np.array(expected) > 0
    if counted.sum() < 2:
        return largest
    own = np.array(expected)[counted]
    degrees = np.array([degrees_behind(number) for number in documents], dtype=np.float64)[counted]

    def held(width: float) -> float:
        return float(scipy.stats.chi2.logcdf(degrees * (width / own) ** 2, degrees).sum())

    # Each system alone would need that much; and that much would do if all of them shared the doubt evenly.
    low = float((own * np.sqrt(scipy.stats.chi2.ppf(0.5, degrees) / degrees)).max())
    high = float((own * np.sqrt(scipy.stats.chi2.ppf(0.5 ** (1 / len(own)), degrees) / degrees)).max())
    return max(largest, _crossing(held, low, high))


def median_fewest(documents: Sequence[float], spreads: Sequence[float]) -> float:
    """The number of answered documents that no system falls short of in half of all draws.

    By what is expected of each system and its standard deviation over draws, as normal: the median solves
    sum of log Phi((e - m) / s) = log 1/2. In 0 to the smallest expectation, which a single system
    keeps; a system whose number is certain (spread 0) bounds it. No continuity correction: told rather too low.
    Raises EvaluationError without any system, InvalidWeight for what is negative or not finite, LengthMismatch.
    Example: two systems at 10 with a spread of 2: Phi(z) = sqrt 1/2 at z = .5450, so 10 - 2 * .5450 = 8.91.
    """
    check_same_length("documents", documents, "spreads", spreads)
    if not documents:
        raise EvaluationError("There is no system of which the fewest documents could be told.")
    expected = np.array([checked_weight("A number of documents", number) for number in documents])
    varying = np.array([checked_weight("A spread", spread) for spread in spreads])
    bound = float(expected.min())
    uncertain = varying > 0
    if not uncertain.any() or len(documents) == 1:
        return bound
    means, errors = expected[uncertain], varying[uncertain]

    def held(number: float) -> float:
        return float(scipy.stats.norm.logcdf((means - number) / errors).sum())

    low = float((means - scipy.stats.norm.ppf(0.5 ** (1 / len(means))) * errors).min())
    return max(0.0, min(bound, _crossing(held, low, float(means.min()))))


def _crossing(log_chance: Callable[[float], float], low: float, high: float) -> float:
    """Where the chance that nothing worse comes passes a half, between two places on either side of it."""
    at_low, at_high = log_chance(low) - HALF, log_chance(high) - HALF
    # With systems all alike the bracket ends at the place itself, and rounding decides on which side.
    if at_low * at_high >= 0:
        return low if abs(at_low) < abs(at_high) else high
    return float(scipy.optimize.brentq(lambda place: log_chance(place) - HALF, low, high))
