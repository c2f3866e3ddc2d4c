"""The weight of a judge's answers: slopes that are fitted to people's answers and shrunk across systems.

A few documents say little about the slope of one system, but much about the slopes of all systems together. The
slopes of the systems are treated as a sample from one normal distribution (empirical Bayes by EM, Morris 1983). This
distribution is fitted to all systems, and each system's own answers then move its slopes away from the common mean.
Finally, all slopes of a system are multiplied by the share of their explained variance that would remain on new
documents (Efron 2004, covariance penalties), so that a useless judge gets no weight.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_ROUNDS = 12
# Each system's residual variance is averaged with the variance of all systems, which weighs as many documents as
# this.
_COMMON_VARIANCE = 8.0
_FIRST_SPREAD = 0.3
_LENT_SHARE = 0.3
_TINY = 1e-9


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

    `summed` has the shape (folds, systems, K + 2, K + 2): the sums of moments of the answers that each fold may use.
    Their weights must average 1, so that the first entry is the number of answers. The result has the shape (folds,
    systems, K). The slopes of a system are 0 if it has fewer than K + 3 answers, or if its answers or predictors do
    not vary.
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
    for _ in range(_ROUNDS):
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

    It is the variance that the slopes explain, corrected for overfitting, divided by the variance of their
    predictions. Both get a part of the mean over systems, because with few answers the ratio of one system is
    unstable.
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
