"""Intervals of means that lie between 0 and 1, and never leave that range.

Near 0 and 1 Student's interval misses on one side, and reaches beyond what can be true. On the logit scale it does
neither. What is nearly always no, or yes, shows too little of its spread for any scale: there Clopper and Pearson's
interval is taken of as many independent answers as the mean is worth.
"""

import math
from dataclasses import dataclass

import scipy

from evaluation.statistics._prediction_powered import quantile

FEWEST_EXPECTED = 10.0
"""Answers of either kind, of as many independent ones as a mean is worth, below which the exact interval is taken."""

_ROUNDING = 1e-18
"""A variance that is no larger is what rounding leaves of none."""


@dataclass(frozen=True, slots=True)
class Precision:
    """How well a mean between 0 and 1 is known: its variance, and how many independent answers it is worth."""

    variance: float
    answers: float
    degrees: int

    @classmethod
    def of_answers(cls, share: float, variance: float, degrees: int) -> "Precision":
        """Of people's answers alone: share (1 - share) / variance; without spread, their documents."""
        worth = share * (1 - share) / variance if variance > _ROUNDING else degrees + 1.0
        return cls(variance, worth, degrees)

    @property
    def is_spread(self) -> bool:
        """Whether values differ, so that the variance tells anything."""
        return self.variance > _ROUNDING

    def at(self, variance: float) -> "Precision":
        """Of an estimate with another variance from the same answers, worth more of them as it is smaller."""
        worth = self.answers * self.variance / variance if variance > _ROUNDING else self.answers
        return Precision(variance, worth, self.degrees)


def interval_within_range(share: float, known: Precision, confidence: float) -> tuple[float, float]:
    """Bounds of a mean of values in [0, 1]. They lie there too, and so does the mean within them.

    On the logit scale by the delta method, with Student's t. Where fewer than `FEWEST_EXPECTED` answers of either kind
    are expected of as many independent ones as the mean is worth, Clopper and Pearson's interval of these, their number
    times (z / t)^2 for the spread's being estimated. A mean of 0 or 1, and values without spread, count as one answer a
    document: their mean can be no further off than the chance of a document that is not wholly like them.
    Source: Korn and Graubard, Survey Methodology 24, 1998; Brown, Cai and DasGupta, Statistical Science 16, 2001.
    Example: .5 with an error of .05 at 19 degrees reaches 2.093 * .05 / .25 = .4186 on the logit scale: .397 to .603.
    """
    reach = quantile(confidence, known.degrees)
    if known.is_spread and known.answers * min(share, 1 - share) >= FEWEST_EXPECTED:
        centre = math.log(share / (1 - share))
        half = reach * math.sqrt(known.variance) / (share * (1 - share))
        return float(scipy.special.expit(centre - half)), float(scipy.special.expit(centre + half))
    answers = known.answers
    if known.is_spread:
        answers *= (quantile(confidence, None) / reach) ** 2
    yes, tail = answers * share, (1 - confidence) / 2
    low = scipy.special.betaincinv(yes, answers - yes + 1, tail) if yes > 0 else 0.0
    high = scipy.special.betaincinv(yes + 1, answers - yes, 1 - tail) if yes < answers else 1.0
    return float(low), float(high)
