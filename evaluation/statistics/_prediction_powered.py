"""Means of people's answers, made more precise by a judge's without trusting the judge: the published form.

If the judge is right, few human answers suffice; if it is wrong, they correct its error. For recorded samples with
unequal chances, see `_estimates`.
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

    `tuning` is the weight of the judge: 0 is none, 1 as in the first prediction-powered inference. `labels_saved`
    is the number of further human answers that people alone would need for the same width; negative if the judge
    does harm. Figures that cannot be computed are None.
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
    """Mean of people's answers to everything, from their answers to a part and a judge's answers to all (PPI++).

    `human` and `judge_labelled` correspond item by item; `judge_unlabelled` are the judge's answers to the other
    items. The labelled items must be a simple random sample of independent units: means of documents, not claims.
    The default is the published form: variances over n, normal quantiles, tuning from the same answers within
    [0, 1]; `tuning` fixes it (0: people alone). `small_sample` uses variances over n - 1 and Student's t.
    `cross_fit` tunes for each answer on the others. None without an answer; no intervals from one. A constant
    judge, or one without unlabelled answers, is ignored.
    Raises LengthMismatch, InvalidPercent for a confidence outside 0 to 1 or a tuning outside [0, 1],
    EvaluationError for a value that is not finite.
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
    # One unlabelled item has no variance.
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
    """The half-width of an interval in standard errors, by the normal or, with degrees of freedom, Student's t."""
    tail = (1 + confidence) / 2
    return float(scipy.special.ndtri(tail) if degrees is None else scipy.special.stdtrit(degrees, tail))


def saved_labels(labels: int, people_variance: float, variance: float) -> float | None:
    """The number of further answers that people alone would need for the same variance; None without variance."""
    return labels * (people_variance / variance - 1) if variance > 0 else None
