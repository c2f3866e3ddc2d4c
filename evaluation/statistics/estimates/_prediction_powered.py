"""Means of people's answers, made more precise by a judge's, without trusting the judge: the published form.

Where the judge is right, few human answers go far; where it is wrong, the human answers take its error out. For
recorded draws, in which items may have had different chances, see `_sample_estimates`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from evaluation._guards import check_confidence, check_same_length
from evaluation.errors import EvaluationError, InvalidPercent

Array = NDArray[np.float64]

FEWEST_ANSWERS = 2
"""Answers, or answered documents, below which there is no interval."""


@dataclass(frozen=True, slots=True)
class PredictionPoweredMean:
    """A mean of people's answers with its interval, and the interval that people alone would give.

    `tuning` is how far the judge was trusted: 0 not at all, 1 as in the first prediction-powered inference.
    `labels_saved` is how many more human answers people alone would need for the same width; below 0 where the
    judge does harm. Whatever cannot be said of so few answers is None.
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
    """Mean of what people would say of everything, from their answers to some of it and a judge's to all (PPI++).

    `human` and `judge_labelled` go item by item; `judge_unlabelled` are of items nobody was asked about. The labelled
    must be a simple random sample, each an independent unit: means of documents, not claims. By default as published:
    variances over n, normal quantiles, tuning from the same answers within [0, 1]; `tuning` fixes it (0: people alone).
    `small_sample` takes variances over n - 1 and Student's t. `cross_fit` tunes for each answer on the others.
    None without an answer; of one, no intervals. A judge that is constant, or asked nothing else, counts for nothing.
    Raises LengthMismatch, InvalidPercent for a confidence outside 0 to 1 or a tuning outside [0, 1],
    EvaluationError for a value that is not finite.
    Source: Angelopoulos, Duchi and Zrnic, PPI++, arXiv 2311.01453, with the variances of the package ppi_py.
    Example: `prediction_powered_mean([1, 0, 1, 1], [.8, .3, .6, .9], [.7, .5, .2, .9, .4, .6, .8, .1])` estimates
    0.650568 with tuning 0.795455.
    """
    y, f, unlabelled = _checked(human, judge_labelled, judge_unlabelled)
    check_confidence(confidence)
    if tuning is not None and not 0 <= tuning <= 1:
        raise InvalidPercent(f"The tuning must lie in 0 to 1, got {tuning!r}.")
    if not len(y):
        return PredictionPoweredMean(None, None, None, 0.0, None, None, None, None)
    lost = 1 if small_sample else 0
    each = _tunings(y, f, unlabelled, cross_fit=cross_fit, fixed=tuning, lost=lost)
    pull = unlabelled.mean() if len(unlabelled) else 0.0
    corrected = y - each * (f - pull)
    mean_tuning = float(each.mean())
    if len(y) < FEWEST_ANSWERS:
        return PredictionPoweredMean(
            float(corrected[0]), None, None, mean_tuning, float(y[0]), None, None, None
        )
    people_variance = float(y.var(ddof=lost)) / len(y)
    variance = float(corrected.var(ddof=lost)) / len(y)
    # One unlabelled item has no spread to measure.
    if len(unlabelled) > lost:
        variance += mean_tuning**2 * float(unlabelled.var(ddof=lost)) / len(unlabelled)
    reach = quantile(confidence, len(y) - 1 if small_sample else None)
    estimate, half = float(corrected.mean()), reach * math.sqrt(variance)
    people, people_half = float(y.mean()), reach * math.sqrt(people_variance)
    return PredictionPoweredMean(
        estimate=estimate,
        low=estimate - half,
        high=estimate + half,
        tuning=mean_tuning,
        classical_estimate=people,
        classical_low=people - people_half,
        classical_high=people + people_half,
        labels_saved=saved_labels(len(y), people_variance, variance),
    )


def _tunings(
    y: Array, f: Array, unlabelled: Array, *, cross_fit: bool, fixed: float | None, lost: int
) -> Array:
    """The tuning that each answer is corrected with."""
    n = len(y)
    if not len(unlabelled):
        return np.zeros(n)
    if fixed is not None:
        return np.full(n, fixed)
    if not cross_fit:
        return np.full(n, _best_tuning(y, f, unlabelled, lost))
    return np.array([_best_tuning(np.delete(y, i), np.delete(f, i), unlabelled, lost) for i in range(n)])


def _best_tuning(y: Array, f: Array, unlabelled: Array, lost: int) -> float:
    if len(y) < FEWEST_ANSWERS:
        return 0.0
    spread = float(np.concatenate([f, unlabelled]).var(ddof=1))
    together = float(np.cov(y, f, ddof=lost)[0, 1])
    if spread <= 0:
        return 0.0
    return min(1.0, max(0.0, together / ((1 + len(y) / len(unlabelled)) * spread)))


def _checked(
    human: Sequence[float], judge_labelled: Sequence[float], judge_unlabelled: Sequence[float]
) -> tuple[Array, Array, Array]:
    check_same_length("human", human, "judge_labelled", judge_labelled)
    columns = [np.asarray(values, dtype=np.float64) for values in (human, judge_labelled, judge_unlabelled)]
    if not all(np.isfinite(column).all() for column in columns):
        raise EvaluationError("A value is not finite; leave out what has no value.")
    return columns[0], columns[1], columns[2]


def quantile(confidence: float, degrees: float | None) -> float:
    """How many standard errors an interval reaches, by the normal or, with degrees of freedom, Student's t."""
    tail = (1 + confidence) / 2
    return float(scipy.special.ndtri(tail) if degrees is None else scipy.special.stdtrit(degrees, tail))


def saved_labels(labels: int, people_variance: float, variance: float) -> float | None:
    """How many more answers people alone would need for the same variance; None where there is no variance."""
    return labels * (people_variance / variance - 1) if variance > 0 else None
