"""Intervals of means between 0 and 1 that stay in that range."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import scipy

FEWEST_EXPECTED = 5.0
"""Below this number of effective answers of either kind, the exact interval is used."""

_ROUNDING = 1e-18
"""A smaller variance is only rounding."""


@dataclass(frozen=True, slots=True)
class Precision:
    """The precision of a mean between 0 and 1: its variance, its number of effective independent answers, and the
    degrees of freedom of the variance.
    """

    variance: float
    answers: float
    degrees: int

    @classmethod
    def of_answers(cls, share: float, variance: float, degrees: int) -> "Precision":
        """Compute the precision of people's answers without a judge.

        The effective number of answers is share (1 - share) / variance. If the values do not vary, it is the number
        of documents.
        """
        worth = share * (1 - share) / variance if variance > _ROUNDING else degrees + 1.0
        return cls(variance, worth, degrees)

    @property
    def is_spread(self) -> bool:
        """Return True if the values vary, so that the variance is informative."""
        return self.variance > _ROUNDING

    def at(self, variance: float) -> "Precision":
        """Return the precision of an estimate from the same answers but with another variance.

        A smaller variance increases the effective number of answers.
        """
        worth = self.answers * self.variance / variance if variance > _ROUNDING else self.answers
        return Precision(variance, worth, self.degrees)


def interval_within_range(share: float, known: Precision, confidence: float) -> tuple[float, float]:
    """Compute the bounds of a mean of values in [0, 1]. The bounds are in [0, 1] and contain the mean.

    The interval is computed on the logit scale by the delta method, with Student's t. If fewer than `FEWEST_EXPECTED`
    effective answers of either kind are expected, the interval is Clopper and Pearson's for the effective number of
    answers. If the values vary, this number is multiplied by (z / t)^2. Values without variation count one answer per
    document. Source: Korn and Graubard, Survey Methodology 24, 1998; Brown, Cai and DasGupta, Statistical Science 16,
    2001. Example: a mean of .5 has a standard error of .05 and 19 degrees of freedom. It extends 2.093 * .05 / .25 =
    .4186 to both sides on the logit scale: .397 to .603. Here 2.093 is Student's quantile and .25 is .5 (1 - .5).
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


def stringer_bound(values: Sequence[float], tail: float) -> float:
    """Compute Stringer's upper bound of the mean of values in [0, 1], at the level `tail`.

    `values` must not be empty. Source: Stringer, Proceedings of the Business and Economic Statistics Section of the
    ASA, 1963; Bickel, Inference and auditing: the Stringer bound, International Statistical Review 60, 1992. Example:
    60 values are all 0. With a tail of .025 the bound is 1 - .025^(1/60) = .060.
    """
    count, bound, before = len(values), 0.0, 0.0
    for place, value in enumerate([1.0, *sorted((value for value in values if value > 0), reverse=True)]):
        share = 1.0 if place >= count else float(scipy.special.betaincinv(place + 1, count - place, 1 - tail))
        bound, before = bound + (share - before) * value, share
    return bound


def quantile(confidence: float, degrees: float | None) -> float:
    """Return half the width of an interval in standard errors: from Student's t, or from the normal distribution if
    `degrees` is None.
    """
    tail = (1 + confidence) / 2
    return float(scipy.special.ndtri(tail) if degrees is None else scipy.special.stdtrit(degrees, tail))
