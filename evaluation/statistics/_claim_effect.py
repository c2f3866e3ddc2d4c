"""What people said of a claim in other systems' summaries, beside what a judge says of it in this one.

One claim is checked against the summaries of many systems, and claims differ: some are in nearly every summary, some
in none. So log odds of yes are intercept + slope times the judge's log odds + effect of the claim, where effects come
from one normal distribution. Intercept and slope come from documents outside a fold, the effect from answers on other
systems' summaries of the claim's own document: what is expected of an item never looks at its own system's answers in
that document. Answers count the more, the more alike the judge finds the two summaries: systems that say the same are
right or wrong together.
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
"""Variance of the effects of claims, fixed beforehand: estimated from few answers it would err by itself."""

_FIRST_LINE = np.array([0.0, 1.0])
# How sure intercept and slope are beforehand: as of one undecided answer, and within a half.
_PRECISION_OF_LINE = np.array([0.25, 4.0])
_ROUNDS = 10
# Log odds of a judge that is surer than this say no more.
_SUREST = math.log(999)


@dataclass(frozen=True, slots=True)
class AskedItems:
    """Items of several systems as columns: `claims` numbers what they ask, `is_answered` tells whether people answered.

    `folds` are those of the documents, from 0; `last` is that of documents without an answer.
    """

    judge: Array
    claims: Numbers
    systems: Numbers
    folds: Numbers
    is_answered: NDArray[np.bool_]
    answers: Array
    last: int


def expected_by_fold(items: AskedItems) -> Iterator[Array]:
    """The probability of yes of every item, as each fold may know it: its own answers are not in the line.

    Source: effects by their posterior mode, found by the bound of Jaakkola and Jordan, Statistics and Computing 10,
    2000, which no step overshoots.
    """
    asked = np.flatnonzero(items.is_answered)
    known, claims = np.unique(items.claims[asked], return_inverse=True)
    odds = np.clip(scipy.special.logit(items.judge), -_SUREST, _SUREST)
    # The last row stands for the claims that nobody was asked of.
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
    """Answers to claims; `others` tells how much each counts for each system: 0 for its own."""

    claims: NDArray[np.intp]
    answers: Array
    others: Array
    sums: "scipy.sparse.csr_array"

    def given(self, odds: Array) -> Array:
        """Effect of each claim as each system may know it, shape (claims + 1, systems); the last row is 0."""
        effect = np.zeros((self.sums.shape[0], self.others.shape[1]))
        together = odds[:, None] + effect[self.claims]
        for _ in range(_ROUNDS):
            left = self.others * (self.answers[:, None] - _logistic(together))
            bound = self.sums @ (self.others * _curvature(together)) + 1 / PRIOR_VARIANCE
            effect = effect + (self.sums @ left - effect / PRIOR_VARIANCE) / bound
            together = odds[:, None] + effect[self.claims]
        return np.pad(effect, ((0, 1), (0, 0)))


def _line(odds: Array, claims: NDArray[np.intp], answers: Array) -> Array:
    """Intercept and slope of the log odds of yes on the judge's, beside effects of claims."""
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
    """What bounds the curvature of the logistic likelihood: tanh(z / 2) / 2z, a quarter at 0."""
    away = np.maximum(np.abs(odds), 1e-6)
    found: Array = np.tanh(away / 2) / (2 * away)
    return found


def _logistic(odds: Array) -> Array:
    chances: Array = scipy.special.expit(odds)
    return chances
