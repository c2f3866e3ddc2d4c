"""The difference of two means from two samples of the same documents."""

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import fmean

from evaluation._guards import check_confidence
from evaluation.statistics._ranges import Precision, interval_within_range
from evaluation.statistics._resampling import FEWEST_FOR_INTERVAL

ValueOf = tuple[Hashable, float]
"""A document and a value that was observed in it."""


@dataclass(frozen=True, slots=True)
class MeanDifference:
    """The mean of one sample less the mean of another, with its interval.

    The bounds are None if a sample has values from fewer than 5 documents.
    """

    first: float
    second: float
    difference: float
    low: float | None = None
    high: float | None = None


def mean_difference(
    first: Sequence[ValueOf], second: Sequence[ValueOf], *, lowest: float = 0.0, confidence: float = 0.95
) -> MeanDifference:
    """Subtract the mean of `second` from the mean of `first`. Values are in [lowest, 1]; those of one document are
    dependent.

    Each mean has the interval of `interval_within_range`, with an error that is linearized over documents; the bounds
    of the difference combine the distances of its bounds from the means (Newcombe's method 10). If the two samples
    share documents, the interval is conservative, because it ignores that both vary together. Raises InvalidPercent
    for a confidence outside 0 to 1, ValueError for an empty sample.
    Source: Newcombe, Statistics in Medicine 17, 1998, 873-890; Zou and Donner, Statistics in Medicine 27, 2008.
    Example: shares of .3 (interval .2 to .4) and .1 (.05 to .2) differ by .2. The lower bound is
    .2 - sqrt((.3 - .2)^2 + (.2 - .1)^2) = .059, the upper .2 + sqrt((.4 - .3)^2 + (.1 - .05)^2) = .312.
    """
    check_confidence(confidence)
    mean, bounds = _mean(first, lowest, confidence)
    less, less_bounds = _mean(second, lowest, confidence)
    difference = mean - less
    if bounds is None or less_bounds is None:
        return MeanDifference(mean, less, difference)
    down = math.hypot(mean - bounds[0], less_bounds[1] - less)
    up = math.hypot(bounds[1] - mean, less - less_bounds[0])
    return MeanDifference(mean, less, difference, difference - down, difference + up)


def _mean(
    values: Sequence[ValueOf], lowest: float, confidence: float
) -> tuple[float, tuple[float, float] | None]:
    mean, width = fmean(value for _, value in values), 1 - lowest
    parts: defaultdict[Hashable, float] = defaultdict(float)
    for document, value in values:
        parts[document] += (value - mean) / width / len(values)
    degrees = len(parts) - 1
    if len(parts) < FEWEST_FOR_INTERVAL:
        return mean, None
    share = (mean - lowest) / width
    known = Precision.of_answers(
        share, math.fsum(part**2 for part in parts.values()) * len(parts) / degrees, degrees
    )
    low, high = interval_within_range(share, known, confidence)
    return mean, (lowest + width * low, lowest + width * high)
