"""The published prediction-powered mean, the judge's weights, and the effects of claims.

`_estimates` uses the weights and effects for recorded samples with unequal probabilities.

The judge's weights (`slopes`). The slopes of the systems are treated as a sample from one normal distribution
(empirical Bayes by EM, Morris 1983). This distribution is fitted to all systems, and each system's own answers then
move its slopes away from the common mean. Finally, a system's slopes are multiplied by the share of their explained
variance that would remain on new documents (Efron 2004, covariance penalties).

The effects of claims (`expected_by_fold`). The model is: log odds of yes = intercept + slope times the judge's log odds
+ effect of the claim, with normally distributed effects. The intercept and the slope are fitted to answers outside a
fold. The effect is fitted to answers on other systems' summaries of the same document. An answer weighs more if the
judge answers similarly for both summaries.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from evaluation._guards import check_confidence, check_same_length, checked_share
from evaluation.errors import EvaluationError
from evaluation.statistics._ranges import quantile

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

FEWEST_ANSWERS = 2
"""Below this number of answers, or answered documents, there is no interval."""

PRIOR_VARIANCE = 2.0
"""Variance of the claims' effects. It is fixed, because an estimate from few answers would add its own error."""

_FIRST_LINE = np.array([0.0, 1.0])
# The prior's precision of the intercept is that of one undecided answer, .5 * .5 = .25. The precision of the slope is 1
# / .5^2 = 4, from a standard deviation of one half.
_PRECISION_OF_LINE = np.array([0.25, 4.0])
_ROUNDS_OF_EFFECTS = 10
# The limit of a judge's log odds.
_SUREST = math.log(999)

_ROUNDS_OF_SLOPES = 12
# The variance of each system's residuals is averaged with that of all systems, which gets the weight of this number of
# degrees of freedom.
_COMMON_VARIANCE = 8.0
_FIRST_SPREAD = 0.3
_LENT_SHARE = 0.3
_TINY = 1e-9


@dataclass(frozen=True, slots=True)
class PredictionPoweredMean:
    """A mean of people's answers with its interval, and the interval of people alone.

    `tuning` is the weight of the judge: 0 ignores the judge, 1 is the first version of prediction-powered inference.
    `labels_saved` is the number of further human answers that people alone would need for the same width. It is
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

    `human` and `judge_labelled` are answers to the same items; `judge_unlabelled` are the judge's answers to the other
    items. The labelled items must be a simple random sample of independent units: means of documents, not claims. By
    default the function follows the publication: variances over n, normal quantiles, and a tuning in [0, 1] from the
    same answers. `tuning` sets the weight of the judge; 0 uses people alone. `small_sample` uses variances over n - 1
    and Student's t. `cross_fit` computes the tuning of each answer from the other answers. Without a human answer,
    `tuning` is 0 and the other figures are None; with only one, the bounds and `labels_saved` are None. The judge is
    ignored if its answers do not vary or if there are no unlabelled items. Raises LengthMismatch, InvalidPercent for a
    confidence outside 0 to 1 or a tuning outside [0, 1], EvaluationError for a value that is not finite. Source:
    Angelopoulos, Duchi and Zrnic, PPI++, arXiv 2311.01453, with the variances of the package ppi_py. Example:
    `prediction_powered_mean([1, 0, 1, 1], [.8, .3, .6, .9], [.7, .5, .2, .9, .4, .6, .8, .1])` estimates 0.650568 with
    tuning 0.795455.
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
        count * (people_variance / variance - 1) if variance > 0 else None,
    )


def _tuning(y: Array, f: Array, unlabelled: Array, lost: int) -> float:
    spread = float(np.concatenate([f, unlabelled]).var(ddof=1)) if len(y) >= FEWEST_ANSWERS else 0.0
    if spread <= 0:
        return 0.0
    together = float(np.cov(y, f, ddof=lost)[0, 1])
    return min(1.0, max(0.0, together / ((1 + len(y) / len(unlabelled)) * spread)))


def moments(predictors: Array, answers: Array, weights: Array) -> Array:
    """Compute for each row its weight times the outer product of (1, predictors, answer) with itself.

    Shapes: predictors (rows, K), answers and weights (rows,); result (rows, K + 2, K + 2). The caller sums the matrices
    of the rows that it uses.
    """
    columns = np.column_stack([np.ones(len(answers)), predictors, answers])
    products: Array = weights[:, None, None] * columns[:, :, None] * columns[:, None, :]
    return products


def slopes(summed: Array) -> Array:
    """Fit slopes of the answers on the predictors, with an intercept, and shrink them across systems.

    `summed` has the shape (folds, systems, K + 2, K + 2): the `moments`, summed over the answers that each fold may
    use. The first entry of each sum is taken for the number of answers, so the weights should average 1. The result has
    the shape (folds, systems, K). The slopes of a system are 0 if it has fewer than K + 3 answers, or if its answers or
    predictors do not vary.
    """
    count = summed[..., 0, 0]
    centred = summed[..., 1:, 1:] - (
        summed[..., 1:, :1] * summed[..., :1, 1:] / np.maximum(count, _TINY)[..., None, None]
    )
    size = centred.shape[-1] - 1
    spread = _diagonal(centred)
    usable = (count >= size + 3) & (spread[..., -1] > _TINY) & (spread[..., :-1].sum(axis=-1) > _TINY)
    found: Array = np.zeros((*count.shape, size))
    some = usable.any(axis=-1)
    if some.any():
        found[some] = _shrunk(centred[some], count[some], usable[some])
    return found


def _shrunk(centred: Array, count: Array, usable: NDArray[np.bool_]) -> Array:
    """Fit the slopes of folds in which at least one system is usable.

    Predictors are scaled first; otherwise the start value of the slopes' spread would not fit all of them.
    """
    size = centred.shape[-1] - 1
    counted = usable.astype(np.float64)
    products, crossed = centred[..., :-1, :-1] * counted[..., None, None], centred[..., :-1, -1]
    crossed, total = crossed * counted[..., None], centred[..., -1, -1] * counted
    answers = (count * counted).sum(axis=-1)
    scale = np.sqrt(np.maximum(_diagonal(products).sum(axis=1) / answers[:, None], _TINY))
    products = products / (scale[:, None, :, None] * scale[:, None, None, :])
    crossed = crossed / scale[:, None, :]
    variance = _residual_variance(products, crossed, total, count, counted)
    precision, pull = products / variance[..., None, None], crossed / variance[..., None]
    own, uncertainty = _pooled(precision, pull, counted, _FIRST_SPREAD * total.sum(axis=-1) / answers)
    kept = _kept_share(products, crossed, variance, own, uncertainty)
    shrunk: Array = own * (kept * counted)[..., None] / scale[:, None, :]
    return shrunk.reshape(*count.shape, size)


def _pooled(precision: Array, pull: Array, counted: Array, first_spread: Array) -> tuple[Array, Array]:
    """Compute each system's slopes and their covariance, given all systems (posterior of the normal model, by EM)."""
    eye = np.eye(pull.shape[-1])
    systems = counted.sum(axis=-1)
    centre = np.linalg.solve(precision.sum(axis=1) + _TINY * eye, pull.sum(axis=1)[..., None])[..., 0]
    spread = first_spread[:, None, None] * eye
    own, uncertainty = np.zeros_like(pull), np.zeros_like(precision)
    for _ in range(_ROUNDS_OF_SLOPES):
        prior = np.linalg.inv(spread)
        uncertainty = np.linalg.inv(precision + prior[:, None])
        own = np.einsum("fskl,fsl->fsk", uncertainty, pull + np.einsum("fkl,fl->fk", prior, centre)[:, None])
        centre = (own * counted[..., None]).sum(axis=1) / systems[:, None]
        apart = (own - centre[:, None]) * counted[..., None]
        within = (uncertainty * counted[..., None, None]).sum(axis=1)
        spread = (np.einsum("fsk,fsl->fkl", apart, apart) + within) / systems[:, None, None] + _TINY * eye
    return own, uncertainty


def _residual_variance(products: Array, crossed: Array, total: Array, count: Array, counted: Array) -> Array:
    size = products.shape[-1]
    plain = np.linalg.solve(products + _TINY * np.eye(size), crossed[..., None])[..., 0]
    left = np.maximum(total - (plain * crossed).sum(axis=-1), 0.0)
    free = np.maximum(count - 1 - size, 0.0) * counted
    common = (left.sum(axis=-1) / free.sum(axis=-1))[:, None]
    variance: Array = (left + common * _COMMON_VARIANCE) / (free + _COMMON_VARIANCE)
    return np.maximum(variance, _TINY)


def _kept_share(products: Array, crossed: Array, variance: Array, own: Array, uncertainty: Array) -> Array:
    """Compute the factor, in [0, 1], by which each system's slopes are shrunk.

    The factor divides the variance that the slopes explain, corrected for overfitting, by the variance of the
    predictions. Both variances get a part of the mean over systems, because the ratio of one system is unstable with
    few answers.
    """
    parameters = np.einsum("fskl,fslk->fs", uncertainty, products) / variance
    explained = (own * crossed).sum(axis=-1) - parameters * variance
    said = np.einsum("fsk,fskl,fsl->fs", own, products, own)
    lent = _LENT_SHARE * said.mean(axis=-1, keepdims=True)
    share: Array = np.clip((explained + lent) / np.maximum(said + lent, _TINY), 0.0, 1.0)
    return share


def _diagonal(matrices: Array) -> Array:
    found: Array = np.diagonal(matrices, axis1=-2, axis2=-1)
    return found


@dataclass(frozen=True, slots=True)
class AskedItems:
    """The items of several systems as columns.

    `claims` numbers the items' claims (-1 without a claim), and `is_answered` marks items with a person's answer.
    `folds` has the fold of each item's document, from 0; `last` is the fold of all documents without an answer.
    """

    judge: Array
    claims: Numbers
    systems: Numbers
    folds: Numbers
    is_answered: NDArray[np.bool_]
    answers: Array
    last: int


def expected_by_fold(items: AskedItems) -> Iterator[Array]:
    """Yield for each fold the probability of yes of every item.

    The intercept and the slope of the judge's log odds are fitted without the answers in that fold. The effect of an
    item's claim is the posterior mode given the other systems' answers to the claim, in any fold.

    Source: the bound of Jaakkola and Jordan, Statistics and Computing 10, 2000.
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
        """Compute the effect of each claim for each system, of shape (claims + 1, systems). The last row is 0, for
        claims without an answer.
        """
        effect = np.zeros((self.sums.shape[0], self.others.shape[1]))
        together = odds[:, None] + effect[self.claims]
        for _ in range(_ROUNDS_OF_EFFECTS):
            left = self.others * (self.answers[:, None] - _logistic(together))
            bound = self.sums @ (self.others * _curvature(together)) + 1 / PRIOR_VARIANCE
            effect = effect + (self.sums @ left - effect / PRIOR_VARIANCE) / bound
            together = odds[:, None] + effect[self.claims]
        return np.pad(effect, ((0, 1), (0, 0)))


def _line(odds: Array, claims: NDArray[np.intp], answers: Array) -> Array:
    columns = np.column_stack([np.ones(len(odds)), odds])
    size = int(claims.max(initial=-1)) + 1
    line, effect = _FIRST_LINE, np.zeros(size)
    for _ in range(_ROUNDS_OF_EFFECTS):
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
