"""Turns a judge's probabilities into ones that mean what they say, from people's answers to some of the items.

Cross-fitted by document: no document's own answers enter its calibrated values. A calibrator that had seen them
would make the judge look better on exactly the items that measure how good it is.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import scipy
from numpy.typing import NDArray

from evaluation._guards import check_choice, check_same_length, checked_share
from evaluation.errors import EvaluationError

CalibrationMethod = Literal["platt", "isotonic"]
"""platt: a straight line on the log odds; good for few answers. isotonic: any rising curve; needs many."""

FOLDS = 10
POOLED_DOCUMENTS = 2.0
"""Documents that the plain share of yes counts as, beside what was fitted to the answered ones."""

_EDGE = 1e-6
# What is known of the line before any answer, counted in answers at even odds: log odds as they are.
_PRIOR = 1.0
_STEPS = 50
_CLOSE = 1e-10

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Calibrator:
    """A rising curve from a judge's probability to the probability that people say yes.

    `curve` are points of it, straight lines between them, level outside; `rate` is the share of yes among the answers
    that it was fitted to, and `pooled` the weight that this share has against the curve, in [0, 1].
    """

    curve: tuple[tuple[float, float], ...]
    rate: float
    pooled: float

    def calibrated(self, probability: float) -> float:
        """The probability that people say yes, in [0, 1]."""
        return float(self.all_calibrated(np.array([probability]))[0])

    def all_calibrated(self, probabilities: Array) -> Array:
        """The probabilities that people say yes, in [0, 1], of any number of items."""
        places, heights = zip(*self.curve, strict=True)
        found: Array = (1 - self.pooled) * np.interp(probabilities, places, heights) + self.pooled * self.rate
        return found


def fit_calibrator(
    probabilities: Sequence[float],
    answers: Sequence[float],
    documents: Sequence[Hashable],
    *,
    method: CalibrationMethod = "platt",
) -> Calibrator:
    """The calibrator that people's answers give; never falling, and the flatter the fewer documents were answered.

    `answers` are 1 for yes and 0 for no, or a share in between. The curve is blended with the plain share of yes, which
    weighs as much as two documents. A judge whose probabilities fall where people's yes rises gets a level line.
    Raises LengthMismatch, InvalidPercent for a probability or answer outside 0 to 1, EvaluationError without answers.
    Source: Platt, Probabilistic outputs for support vector machines, 1999, on log odds and with a prior for slope 1;
    Zadrozny and Elkan, Transforming classifier scores into accurate multiclass probability estimates, 2002.
    Example: `fit_calibrator([.2, .8], [0, 1], ["a", "b"], method="isotonic").calibrated(.8)` is .5 * 1 + .5 * .5 = .75.
    """
    check_same_length("probabilities", probabilities, "answers", answers)
    check_same_length("probabilities", probabilities, "documents", documents)
    check_choice("The method", method, get_args(CalibrationMethod))
    if not len(answers):
        raise EvaluationError("A calibrator needs at least one answer of a person.")
    for value in (*probabilities, *answers):
        checked_share("A probability or answer", value)
    return _fit(np.array(probabilities, float), np.array(answers, float), len(set(documents)), method)


def cross_fitted_calibration(
    probabilities: Sequence[float | None],
    answers: Sequence[float | None],
    documents: Sequence[Hashable],
    *,
    method: CalibrationMethod = "platt",
    folds: int = FOLDS,
) -> list[float | None]:
    """A judge's probabilities, calibrated without the answers of the document that each belongs to; in their order.

    The three belong together item by item; `answers` are None where no person was asked. Answered documents are
    dealt to `folds` in the order in which they come (each by itself where there are no more than folds), and each is
    calibrated by the answers of the other folds. Documents without answers get the mean of all those calibrators.
    None stays None. With answers in fewer than two documents nothing can be cross-fitted: all stay as they are.
    Errors as `fit_calibrator`; EvaluationError for fewer than two folds.
    Example: `cross_fitted_calibration([.9, .8, .2, .7], [1, 1, 0, None], ["a", "b", "b", "c"])`.
    """
    check_same_length("probabilities", probabilities, "answers", answers)
    check_same_length("probabilities", probabilities, "documents", documents)
    check_choice("The method", method, get_args(CalibrationMethod))
    if folds < 2:
        raise EvaluationError(f"Cross-fitting needs at least 2 folds, got {folds}.")
    for value in (*probabilities, *answers):
        if value is not None:
            checked_share("A probability or answer", value)
    is_known = np.array([p is not None for p in probabilities], dtype=np.bool_)
    is_answered = is_known & np.array([answer is not None for answer in answers], dtype=np.bool_)
    said = np.array([p or 0.0 for p in probabilities], dtype=np.float64)
    heard = np.array([answer or 0.0 for answer in answers], dtype=np.float64)
    fold_of = _folds(documents, is_answered, folds)
    places = np.array([fold_of.get(document, -1) for document in documents], dtype=np.int64)
    if len(fold_of) < 2:
        return list(probabilities)
    calibrators = []
    for fold in range(max(fold_of.values()) + 1):
        seen = is_answered & (places != fold)
        count = sum(number != fold for number in fold_of.values())
        calibrators.append(_fit(said[seen], heard[seen], count, method))
    curves = np.array([calibrator.all_calibrated(said) for calibrator in calibrators])
    rows = np.arange(len(said))
    found = np.where(places >= 0, curves[np.maximum(places, 0), rows], curves.mean(axis=0))
    return [float(value) if known else None for value, known in zip(found, is_known, strict=True)]


def _folds(documents: Sequence[Hashable], is_answered: NDArray[np.bool_], folds: int) -> dict[Hashable, int]:
    answered = dict.fromkeys(
        document for document, answer in zip(documents, is_answered, strict=True) if answer
    )
    return {document: number % folds for number, document in enumerate(answered)}


def _fit(probabilities: Array, answers: Array, documents: int, method: CalibrationMethod) -> Calibrator:
    fitted = _rising(probabilities, answers) if method == "isotonic" else _straight(probabilities, answers)
    return Calibrator(fitted, float(answers.mean()), POOLED_DOCUMENTS / (POOLED_DOCUMENTS + documents))


def _rising(probabilities: Array, answers: Array) -> tuple[tuple[float, float], ...]:
    """Pool adjacent violators; equal probabilities are one point."""
    places, group = np.unique(probabilities, return_inverse=True)
    counts = np.bincount(group).astype(np.float64)
    means = np.bincount(group, weights=answers) / counts
    heights = np.asarray(scipy.optimize.isotonic_regression(means, weights=counts).x, dtype=np.float64)
    return tuple(zip(places.tolist(), np.clip(heights, 0.0, 1.0).tolist(), strict=True))


def _straight(probabilities: Array, answers: Array) -> tuple[tuple[float, float], ...]:
    """A line on the log odds, as points close enough to be drawn through."""
    slope, intercept = _line(_log_odds(probabilities), answers)
    if slope < 0:
        rate = float(answers.mean())
        return ((0.0, rate), (1.0, rate))
    odds = np.linspace(_log_odds(np.zeros(1))[0], _log_odds(np.ones(1))[0], 401)
    heights = _logistic(slope * odds + intercept)
    return tuple(zip(_logistic(odds).tolist(), heights.tolist(), strict=True))


def _line(odds: Array, answers: Array) -> tuple[float, float]:
    """Slope and intercept, by Newton's method, with a prior of slope 1 and intercept 0.

    The prior keeps both finite where all answers are alike or the judge parts them without error.
    """
    columns = np.column_stack([odds, np.ones(len(odds))])
    prior, strength = np.array([1.0, 0.0]), _PRIOR * np.eye(2)
    found = prior.copy()
    for _ in range(_STEPS):
        chance = _logistic(columns @ found)
        slope = columns.T @ (answers - chance) - strength @ (found - prior)
        bend = columns.T @ (columns * (chance * (1 - chance))[:, None]) + strength
        step = np.linalg.solve(bend, slope)
        # Far out the curve is nearly level, and a full step would leap.
        step /= max(1.0, float(np.abs(step).max()))
        found = found + step
        if np.abs(step).max() < _CLOSE:
            break
    return float(found[0]), float(found[1])


def _log_odds(probabilities: Array) -> Array:
    inside = np.clip(probabilities, _EDGE, 1 - _EDGE)
    odds: Array = np.log(inside / (1 - inside))
    return odds


def _logistic(odds: Array) -> Array:
    shares: Array = 1.0 / (1.0 + np.exp(-odds))
    return shares
