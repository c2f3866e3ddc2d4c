"""Turns a judge's probabilities into ones that mean what they say, from people's answers to some of the items.

Cross-fitted by document: no document's own answers enter its calibrated values. A calibrator that had seen them
would make the judge look better on exactly the items that measure how good it is.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
import scipy
from numpy.typing import NDArray

from evaluation._guards import check_choice, check_same_length, checked_share
from evaluation.errors import EvaluationError

CalibrationMethod = Literal["platt", "beta", "isotonic"]
"""platt: a straight line on the log odds; good for few answers. beta: one that may bend; good for few, too. isotonic:
any rising curve; needs many."""

FOLDS = 10
POOLED_DOCUMENTS = 2.0
"""Documents that the plain share of yes counts as, beside what was fitted to the answered ones."""

_EDGE = 1e-6
# What is known of the line before any answer, counted in answers at even odds: log odds as they are.
_PRIOR = 1.0
# The same of a system's intercept: half a log odd is an ordinary one.
_SYSTEM_PRIOR = 4.0
_STEPS = 50
_CLOSE = 1e-10

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Calibrator:
    """A rising curve from a judge's probability to the probability that people say yes.

    `curve` are points of it, straight lines between them, level outside; `rate` is the share of yes among the answers
    that it was fitted to, and `pooled` the weight that this share has against the curve, in [0, 1]. Where systems were
    named, log odds are multiplied by `slope` and moved by the system's one of `intercepts` before the curve is read;
    an unknown system's are not moved.
    """

    curve: tuple[tuple[float, float], ...]
    rate: float
    pooled: float
    slope: float = 1.0
    intercepts: Mapping[Hashable, float] = field(default_factory=dict)

    def calibrated(self, probability: float, system: Hashable = None) -> float:
        """The probability that people say yes, in [0, 1]."""
        return float(self.all_calibrated(np.array([probability]), [system])[0])

    def all_calibrated(self, probabilities: Array, systems: Sequence[Hashable] | None = None) -> Array:
        """The probabilities that people say yes, in [0, 1], of any number of items."""
        moved = probabilities
        if self.intercepts:
            moved = _moved(probabilities, systems or [None] * len(probabilities), self.slope, self.intercepts)
        places, heights = zip(*self.curve, strict=True)
        found: Array = (1 - self.pooled) * np.interp(moved, places, heights) + self.pooled * self.rate
        return found


def fit_calibrator(
    probabilities: Sequence[float],
    answers: Sequence[float],
    documents: Sequence[Hashable],
    *,
    systems: Sequence[Hashable] | None = None,
    method: CalibrationMethod = "platt",
) -> Calibrator:
    """The calibrator that people's answers give; never falling, and the flatter the fewer documents were answered.

    `answers` are 1 for yes and 0 for no, or a share in between. The curve is blended with the plain share of yes, which
    weighs as much as two documents. A judge whose probabilities fall where people's yes rises gets a level line.
    `systems` names the system of each item: each gets an intercept of its own first, shrunk towards 0.
    Raises LengthMismatch, InvalidPercent for a probability or answer outside 0 to 1, EvaluationError without answers.
    Source: Platt, Probabilistic outputs for support vector machines, 1999, on log odds and with a prior for slope 1;
    Kull, Silva Filho and Flach, Beta calibration, 2017, with the same prior; Zadrozny and Elkan, Transforming
    classifier scores into accurate multiclass probability estimates, 2002.
    Example: `fit_calibrator([.2, .8], [0, 1], ["a", "b"], method="isotonic").calibrated(.8)` is .5 * 1 + .5 * .5 = .75.
    """
    check_same_length("probabilities", probabilities, "answers", answers)
    check_same_length("probabilities", probabilities, "documents", documents)
    if systems is not None:
        check_same_length("probabilities", probabilities, "systems", systems)
    check_choice("The method", method, get_args(CalibrationMethod))
    if not len(answers):
        raise EvaluationError("A calibrator needs at least one answer of a person.")
    for value in (*probabilities, *answers):
        checked_share("A probability or answer", value)
    said, heard = np.array(probabilities, float), np.array(answers, float)
    return _fit(said, heard, len(set(documents)), systems, method)


def cross_fitted_calibration(
    probabilities: Sequence[float | None],
    answers: Sequence[float | None],
    documents: Sequence[Hashable],
    *,
    systems: Sequence[Hashable] | None = None,
    method: CalibrationMethod = "platt",
    folds: int = FOLDS,
) -> list[float | None]:
    """A judge's probabilities, calibrated without the answers of the document that each belongs to; in their order.

    The three belong together item by item; `answers` are None where no person was asked. Answered documents are
    dealt to `folds` in the order in which they come (each by itself where there are no more than folds), and each is
    calibrated by the answers of the other folds. Documents without answers get the mean of all those calibrators.
    None stays None. With answers in fewer than two documents nothing can be cross-fitted: all stay as they are.
    `systems` as for `fit_calibrator`. Errors as `fit_calibrator`; EvaluationError for fewer than two folds.
    Example: `cross_fitted_calibration([.9, .8, .2, .7], [1, 1, 0, None], ["a", "b", "b", "c"])`.
    """
    check_same_length("probabilities", probabilities, "answers", answers)
    check_same_length("probabilities", probabilities, "documents", documents)
    if systems is not None:
        check_same_length("probabilities", probabilities, "systems", systems)
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
        of_seen = None if systems is None else [systems[place] for place in np.flatnonzero(seen).tolist()]
        calibrators.append(_fit(said[seen], heard[seen], count, of_seen, method))
    curves = np.array([calibrator.all_calibrated(said, systems) for calibrator in calibrators])
    rows = np.arange(len(said))
    found = np.where(places >= 0, curves[np.maximum(places, 0), rows], curves.mean(axis=0))
    return [float(value) if known else None for value, known in zip(found, is_known, strict=True)]


def _folds(documents: Sequence[Hashable], is_answered: NDArray[np.bool_], folds: int) -> dict[Hashable, int]:
    answered = dict.fromkeys(
        document for document, answer in zip(documents, is_answered, strict=True) if answer
    )
    return {document: number % folds for number, document in enumerate(answered)}


def _fit(
    probabilities: Array,
    answers: Array,
    documents: int,
    systems: Sequence[Hashable] | None,
    method: CalibrationMethod,
) -> Calibrator:
    slope, intercepts = (1.0, {}) if systems is None else _by_system(probabilities, answers, systems)
    moved = probabilities if systems is None else _moved(probabilities, systems, slope, intercepts)
    fitted = _rising(moved, answers) if method == "isotonic" else _straight(moved, answers, method)
    pooled = POOLED_DOCUMENTS / (POOLED_DOCUMENTS + documents)
    return Calibrator(fitted, float(answers.mean()), pooled, slope, intercepts)


def _by_system(
    probabilities: Array, answers: Array, systems: Sequence[Hashable]
) -> tuple[float, dict[Hashable, float]]:
    """The common slope of the log odds and each system's intercept beside the common one."""
    places = {system: place for place, system in enumerate(dict.fromkeys(systems))}
    belongs = np.zeros((len(answers), len(places)))
    belongs[np.arange(len(answers)), [places[system] for system in systems]] = 1.0
    columns = np.column_stack([_log_odds(probabilities), np.ones(len(answers)), belongs])
    prior = np.array([1.0, 0.0, *[0.0] * len(places)])
    strength = np.array([_PRIOR, _PRIOR, *[_SYSTEM_PRIOR] * len(places)])
    slope, _, *found = _line(columns, answers, prior, strength).tolist()
    return max(0.0, slope), dict(zip(places, found, strict=True))


def _moved(
    probabilities: Array, systems: Sequence[Hashable], slope: float, intercepts: Mapping[Hashable, float]
) -> Array:
    added = np.array([intercepts.get(system, 0.0) for system in systems], dtype=np.float64)
    moved: Array = scipy.special.expit(slope * _log_odds(probabilities) + added)
    return moved


def _rising(probabilities: Array, answers: Array) -> tuple[tuple[float, float], ...]:
    """Pool adjacent violators; equal probabilities are one point."""
    places, group = np.unique(probabilities, return_inverse=True)
    counts = np.bincount(group).astype(np.float64)
    means = np.bincount(group, weights=answers) / counts
    heights = np.asarray(scipy.optimize.isotonic_regression(means, weights=counts).x, dtype=np.float64)
    return tuple(zip(places.tolist(), np.clip(heights, 0.0, 1.0).tolist(), strict=True))


def _straight(
    probabilities: Array, answers: Array, method: CalibrationMethod
) -> tuple[tuple[float, float], ...]:
    """A line on the log odds, or on the logarithms of both odds, as points close enough to be drawn through."""
    columns = _slopes(probabilities, method)
    kept = list(range(columns.shape[1]))
    while True:
        prior = np.array([1.0] * len(kept) + [0.0])
        lines = np.column_stack([columns[:, kept], np.ones(len(answers))])
        found = _line(lines, answers, prior, np.full(len(prior), _PRIOR))
        rising = [place for place, slope in zip(kept, found[:-1], strict=True) if slope >= 0]
        if len(rising) == len(kept):
            break
        kept = rising
    odds = np.linspace(_log_odds(np.zeros(1))[0], _log_odds(np.ones(1))[0], 101)
    places = scipy.special.expit(odds)
    heights = scipy.special.expit(_slopes(places, method)[:, kept] @ found[:-1] + found[-1])
    return tuple(zip(places.tolist(), heights.tolist(), strict=True))


def _slopes(probabilities: Array, method: CalibrationMethod) -> Array:
    """What slopes are fitted to: the log odds, or of both answers the logarithms, whose difference these are."""
    odds = _log_odds(probabilities)
    if method == "platt":
        return odds[:, np.newaxis]
    return np.column_stack([-np.logaddexp(0.0, -odds), np.logaddexp(0.0, odds)])


def _line(columns: Array, answers: Array, prior: Array, strength: Array) -> Array:
    """The coefficients of a logistic line, by Newton's method, with a normal prior.

    The prior keeps them finite where all answers are alike or the judge parts them without error.
    """
    found = prior.copy()
    for _ in range(_STEPS):
        chance = scipy.special.expit(columns @ found)
        slope = columns.T @ (answers - chance) - strength * (found - prior)
        bend = columns.T @ (columns * (chance * (1 - chance))[:, None]) + np.diag(strength)
        step = np.linalg.solve(bend, slope)
        # Far out the curve is nearly level, and a full step would leap.
        step /= max(1.0, float(np.abs(step).max()))
        found = found + step
        if np.abs(step).max() < _CLOSE:
            break
    return found


def _log_odds(probabilities: Array) -> Array:
    odds: Array = scipy.special.logit(np.clip(probabilities, _EDGE, 1 - _EDGE))
    return odds
