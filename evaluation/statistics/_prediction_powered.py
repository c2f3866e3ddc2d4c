"""Prediction-powered means in their published form, which combine a judge's answers with people's.

If the judge is mostly right, few human answers suffice; if the judge is wrong, the human answers correct its error.
For recorded samples with unequal probabilities, see `_estimates`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from evaluation._guards import check_confidence, check_same_length, checked_share
from evaluation.errors import EvaluationError

Array = NDArray[np.float64]

FEWEST_ANSWERS = 2
"""Below this number of answers, or answered documents, there is no interval."""


@dataclass(frozen=True, slots=True)
class PredictionPoweredMean:
    """A mean of people's answers with its interval, and the interval of people alone.

    `tuning` is the weight of the judge: 0 ignores the judge, 1 is the first version of prediction-powered inference.
    `labels_saved` is the number of further human answers that people alone would need for the same width; it is
    negative if the judge makes the interval wider. A figure that cannot be computed is None.
    """

    estimate: float | None
    low: float | None
    high: float | None
    tuning: float
    classical_estimate: float | None
    classical_low: float | None
    classical_high: float | None
    labels_saved: float | None


def prediction_powered_mean(
    human: Sequence[float],
    judge_labelled: Sequence[float],
    judge_unlabelled: Sequence[float],
    confidence: float = 0.95,
    small_sample: bool = False,
    cross_fit: bool = False,
    *,
    tuning: float | None = None,
) -> PredictionPoweredMean:
    """Estimate the mean of people's answers to all items, from people's answers to some items and a judge's answers
    to all items (PPI++).

    `human` and `judge_labelled` are answers to the same items; `judge_unlabelled` are the judge's answers to the
    other items. The labelled items must be a simple random sample of independent units: means of documents, not
    claims. By default the function follows the publication: variances over n, normal quantiles, and a tuning in [0,
    1] from the same answers. `tuning` sets the weight of the judge; 0 uses people alone. `small_sample` uses
    variances over n - 1 and Student's t. `cross_fit` computes the tuning of each answer from the other answers. All
    figures are None without a human answer; the intervals are None with only one. The judge is ignored if its answers
    do not vary or if there are no unlabelled items.
    Raises LengthMismatch, InvalidPercent for a confidence outside 0 to 1 or a tuning outside [0, 1], EvaluationError
    for a value that is not finite.
    Source: Angelopoulos, Duchi and Zrnic, PPI++, arXiv 2311.01453, with the variances of the package ppi_py.
    Example: `prediction_powered_mean([1, 0, 1, 1], [.8, .3, .6, .9], [.7, .5, .2, .9, .4, .6, .8, .1])` estimates
    0.650568 with tuning 0.795455.
    """
    check_same_length("human", human, "judge_labelled", judge_labelled)
    check_confidence(confidence)
    if tuning is not None:
        checked_share("The tuning", tuning)
    y, f, unlabelled = (
        np.asarray(values, dtype=np.float64) for values in (human, judge_labelled, judge_unlabelled)
    )
    if not all(np.isfinite(column).all() for column in (y, f, unlabelled)):
        raise EvaluationError("A value is not finite; leave out what has no value.")
    count, lost = len(y), 1 if small_sample else 0
    if not count:
        return PredictionPoweredMean(None, None, None, 0.0, None, None, None, None)
    if tuning is not None or not len(unlabelled):
        each = np.full(count, tuning if tuning is not None and len(unlabelled) else 0.0)
    elif cross_fit:
        each = np.array([_tuning(np.delete(y, i), np.delete(f, i), unlabelled, lost) for i in range(count)])
    else:
        each = np.full(count, _tuning(y, f, unlabelled, lost))
    corrected = y - each * (f - (unlabelled.mean() if len(unlabelled) else 0.0))
    estimate, people, used = float(corrected.mean()), float(y.mean()), float(each.mean())
    if count < FEWEST_ANSWERS:
        return PredictionPoweredMean(estimate, None, None, used, people, None, None, None)
    people_variance, variance = (float(values.var(ddof=lost)) / count for values in (y, corrected))
    # A single unlabelled item has no variance.
    if len(unlabelled) > lost:
        variance += used**2 * float(unlabelled.var(ddof=lost)) / len(unlabelled)
    reach = quantile(confidence, count - 1 if small_sample else None)
    half, people_half = reach * math.sqrt(variance), reach * math.sqrt(people_variance)
    return PredictionPoweredMean(
        estimate,
        estimate - half,
        estimate + half,
        used,
        people,
        people - people_half,
        people + people_half,
        saved_labels(count, people_variance, variance),
    )


def _tuning(y: Array, f: Array, unlabelled: Array, lost: int) -> float:
    spread = float(np.concatenate([f, unlabelled]).var(ddof=1)) if len(y) >= FEWEST_ANSWERS else 0.0
    if spread <= 0:
        return 0.0
    together = float(np.cov(y, f, ddof=lost)[0, 1])
    return min(1.0, max(0.0, together / ((1 + len(y) / len(unlabelled)) * spread)))


def quantile(confidence: float, degrees: float | None) -> float:
    """Return half the width of an interval in standard errors: from Student's t, or from the normal distribution if
    `degrees` is None.
    """
    tail = (1 + confidence) / 2
    return float(scipy.special.ndtri(tail) if degrees is None else scipy.special.stdtrit(degrees, tail))


def saved_labels(labels: int, people_variance: float, variance: float) -> float | None:
    """Compute how many more answers people alone would need for this variance; None if the variance is 0 or missing."""
    return labels * (people_variance / variance - 1) if variance > 0 else None
