"""People's answers to a claim in other systems' summaries, combined with a judge's answer in this one.

Each claim is checked in the summaries of many systems, and claims differ: some are expressed by nearly all summaries,
some by none. The model is: log odds of yes = intercept + slope times the judge's log odds + effect of the claim, with
normally distributed effects. The intercept and the slope are fitted to documents outside a fold. The effect is fitted
to answers on other systems' summaries of the same document, so the prediction of an item never uses its own system's
answers in that document. An answer weighs more if the judge answers similarly for both summaries, because similar
systems are right or wrong together.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

PRIOR_VARIANCE = 2.0
"""Variance of the claims' effects, fixed in advance: an estimate from few answers would add its own error."""

_FIRST_LINE = np.array([0.0, 1.0])
# The prior's precision of intercept and slope: one undecided answer, and a standard deviation of one half.
_PRECISION_OF_LINE = np.array([0.25, 4.0])
_ROUNDS = 10
# The limit of a judge's log odds, so that a nearly certain judge does not dominate.
_SUREST = math.log(999)


@dataclass(frozen=True, slots=True)
class AskedItems:
    """The items of several systems as columns.

    `claims` numbers the items' claims, and `is_answered` marks items with a person's answer. `folds` has the fold of
    each item's document, from 0; `last` is the fold of all documents without an answer.
    """

    judge: Array
    claims: Numbers
    systems: Numbers
    folds: Numbers
    is_answered: NDArray[np.bool_]
    answers: Array
    last: int


def expected_by_fold(items: AskedItems) -> Iterator[Array]:
    """Yield for each fold the probability of yes of every item, fitted without the answers in that fold.

    Effects are posterior modes. Source of the method: the bound of Jaakkola and Jordan, Statistics and Computing 10,
    2000, whose steps never overshoot.
    """
    asked = np.flatnonzero(items.is_answered)
    known, claims = np.unique(items.claims[asked], return_inverse=True)
    odds = np.clip(scipy.special.logit(items.judge), -_SUREST, _SUREST)
    # The last row represents claims without an answer.
    rows = np.searchsorted(known, items.claims)
    rows[~np.isin(items.claims, known)] = len(known)
    systems = np.arange(int(items.systems.max()) + 1)
    own = np.zeros((len(known) + 1, len(systems)))
    own[rows, items.systems] = odds
    likeness = np.exp(-((odds[asked][:, None] - own[claims]) ** 2) / 2)
    effects = _Effects(
        claims=claims,
        answers=items.answers[asked],
        others=likeness * (items.systems[asked][:, None] != systems),
        sums=scipy.sparse.csr_array(
            (np.ones(len(asked)), (claims, np.arange(len(asked)))), shape=(len(known), len(asked))
        ),
    )
    for fold in range(items.last + 1):
        seen = items.folds[asked] != fold
        line = _line(odds[asked][seen], claims[seen], items.answers[asked][seen])
        before = line[0] + line[1] * odds
        effect = effects.given(before[asked])
        together = before + effect[rows, items.systems]
        yield _logistic(together)


@dataclass(frozen=True, slots=True)
class _Effects:
    """Answers to claims. `others` has the weight of each answer for each system; it is 0 for the
    answer's own system.
    """

    claims: NDArray[np.intp]
    answers: Array
    others: Array
    sums: "scipy.sparse.csr_array"

    def given(self, odds: Array) -> Array:
        """Compute the effect of each claim for each system, of shape (claims + 1, systems). The last row is 0."""
        effect = np.zeros((self.sums.shape[0], self.others.shape[1]))
        together = odds[:, None] + effect[self.claims]
        for _ in range(_ROUNDS):
            left = self.others * (self.answers[:, None] - _logistic(together))
            bound = self.sums @ (self.others * _curvature(together)) + 1 / PRIOR_VARIANCE
            effect = effect + (self.sums @ left - effect / PRIOR_VARIANCE) / bound
            together = odds[:, None] + effect[self.claims]
        return np.pad(effect, ((0, 1), (0, 0)))


def _line(odds: Array, claims: NDArray[np.intp], answers: Array) -> Array:
    columns = np.column_stack([np.ones(len(odds)), odds])
    size = int(claims.max(initial=-1)) + 1
    line, effect = _FIRST_LINE, np.zeros(size)
    for _ in range(_ROUNDS):
        together = columns @ line + effect[claims]
        bound = np.bincount(claims, weights=_curvature(together), minlength=size) + 1 / PRIOR_VARIANCE
        left = np.bincount(claims, weights=answers - _logistic(together), minlength=size)
        effect = effect + (left - effect / PRIOR_VARIANCE) / bound
        together = columns @ line + effect[claims]
        bounds = columns.T @ (_curvature(together)[:, None] * columns) + np.diag(_PRECISION_OF_LINE)
        pull = columns.T @ (answers - _logistic(together)) - _PRECISION_OF_LINE * (line - _FIRST_LINE)
        line = line + np.linalg.solve(bounds, pull)
    return line


def _curvature(odds: Array) -> Array:
    """Bound the curvature of the logistic likelihood: tanh(z / 2) / 2z, a quarter at 0."""
    away = np.maximum(np.abs(odds), 1e-6)
    found: Array = np.tanh(away / 2) / (2 * away)
    return found


def _logistic(odds: Array) -> Array:
    chances: Array = scipy.special.expit(odds)
    return chances
