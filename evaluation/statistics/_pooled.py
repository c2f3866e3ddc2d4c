"""Pooled estimates: each system's estimate also uses the other systems and the judge's means."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from evaluation._guards import check_confidence
from evaluation.statistics._estimates import SampleEstimate
from evaluation.statistics._ranges import Precision, interval_within_range

Array = NDArray[np.float64]

FEWEST_SYSTEMS = 5
"""Below this number of systems, nothing is pooled."""
LIMIT = 0.5
"""No estimate moves by more than this number of its own standard errors."""
MISFIT_LEVEL = 0.05
"""The level of the test that leaves out systems."""

_SPREADS = np.linspace(0.0, 0.5, 101)
"""The standard deviations between systems over which the model integrates; values in [0, 1] allow at most .5."""
_OWN_SHARE = 0.5
"""The weight of a system's own variance; the rest comes from all systems."""
_WIDER = 1.05
"""A factor on the model's errors, chosen by simulation, because the judge's means have errors of their own."""
_MOST_CORRELATED = 0.9
"""The largest correlation of errors that is used.

At a correlation of 1, all systems would have one common error, and differences between their smoothed variances would
count as information about this error.
"""
_TINY = 1e-12


@dataclass(frozen=True, slots=True)
class PooledEstimates:
    """The estimates of all systems after pooling.

    - `systems`: every system. The estimates of the systems in `pooled` are pooled, others are direct.
    - `pooled`: the systems that the model describes; empty if nothing is pooled
    - `misfits`: the systems that the model does not fit
    """

    systems: Mapping[str, SampleEstimate]
    pooled: tuple[str, ...] = ()
    misfits: tuple[str, ...] = ()


def pool_estimates(found: Mapping[str, SampleEstimate], *, confidence: float = 0.95) -> PooledEstimates:
    """Move the estimates of at least five systems towards a line through the judge's means.

    The model: a system's true mean is intercept + slope times the judge's mean + a normal deviation. The direct
    estimate adds a normal error. Errors are correlated between systems, because systems share documents. The slope and
    the standard deviation of the deviations have flat priors (the latter on [0, .5]) and are integrated over. If a
    judge's mean is missing or all are equal, the line is a constant.

    A system too far from the line of the other systems keeps its direct estimate (`misfits`; level `MISFIT_LEVEL`,
    Holm, the farthest system first). No other system moves by more than `LIMIT` standard errors; a system that is
    stopped by this limit keeps the error of its direct estimate. `compare_estimates` tests pairs of the results. The
    `parts` of the results do not belong to single documents.

    Intervals hold on average over systems, not for each system. The model fails for a system that the judge favours
    over others: its estimate is too high by up to `LIMIT` errors. It also fails if systems form groups with different
    lines, or if errors of the direct estimates are far from normal. With fewer than `FEWEST_SYSTEMS` systems that have
    an error above 0 and fit, all estimates are direct. docs/intervals.md has simulations. Raises InvalidPercent for a
    confidence outside 0 to 1. Source: Fay and Herriot, Estimates of income for small places, 1979; Rao and Molina,
    Small area estimation, 2015, ch. 10 (hierarchical Bayes); Efron and Morris, Limiting the risk of Bayes and empirical
    Bayes estimators, 1972. Example: all errors are e, the line is a constant, and the deviations have the standard
    deviation s. An estimate then moves to the mean of the systems by e^2 / (e^2 + s^2) of its distance.
    """
    check_confidence(confidence)
    names = [name for name, each in found.items() if each.error]
    if len(names) < FEWEST_SYSTEMS:
        return PooledEstimates(found)
    judge = np.array([found[name].judge_mean for name in names], dtype=np.float64)
    line = np.ones((len(names), 1))
    if np.isfinite(judge).all() and np.ptp(judge) > 0:
        line = np.column_stack([line, judge - judge.mean()])
    direct = np.array([found[name].estimate for name in names], dtype=np.float64)
    degrees = np.array([found[name].degrees for name in names])
    covariance = _covariance(direct, [found[name] for name in names])
    kept, misfits = list(range(len(names))), list[str]()
    while len(kept) >= FEWEST_SYSTEMS:
        of_kept = covariance[np.ix_(kept, kept)]
        means, spread, chances = _fitted(direct[kept], of_kept, line[kept], degrees[kept])
        farthest = int(chances.argmin())
        if chances[farthest] * len(kept) > MISFIT_LEVEL:
            moved = _moved({names[place]: found[names[place]] for place in kept}, means, spread, confidence)
            return replace(moved, systems={**found, **moved.systems}, misfits=tuple(misfits))
        misfits.append(names[kept.pop(farthest)])
    return PooledEstimates(found)


def _moved(
    found: Mapping[str, SampleEstimate], means: Array, spread: Array, confidence: float
) -> PooledEstimates:
    direct = np.array([each.estimate for each in found.values()], dtype=np.float64)
    errors = np.array([each.error for each in found.values()], dtype=np.float64)
    moved = np.clip(means, direct - LIMIT * errors, direct + LIMIT * errors)
    is_limited = moved != means
    own = np.sqrt(np.maximum(np.diag(spread), _TINY))
    final = np.where(is_limited, errors, np.minimum(_WIDER * own, errors))
    # The squares of a row's parts add up to the square of its error, the products of two rows to their covariance.
    values, vectors = np.linalg.eigh(spread)
    parts = vectors * np.sqrt(np.maximum(values, 0.0)) * (final / own)[:, None]
    # A smoothed variance weighs the system's own variance with _OWN_SHARE and the mean of all systems' with the rest.
    # This number is the sum of the squared weights. The degrees of freedom are divided by it, because averaging makes
    # the variance more certain.
    divisor = _OWN_SHARE**2 + (1 - _OWN_SHARE**2) / len(found)
    made = {}
    for row, (name, each) in enumerate(found.items()):
        mean, error = float(np.clip(moved[row], 0.0, 1.0)), float(final[row])
        low, high = interval_within_range(
            mean, Precision.of_answers(mean, error**2, each.degrees), confidence
        )
        made[name] = replace(
            each,
            estimate=mean,
            low=low,
            high=high,
            error=error,
            degrees=int(each.degrees / divisor),
            parts={("pooled", column): part for column, part in enumerate(parts[row].tolist())},
        )
    return PooledEstimates(made, pooled=tuple(made))


def _covariance(direct: Array, found: Sequence[SampleEstimate]) -> Array:
    """Compute the covariance of the direct estimates' errors, smoothed over systems.

    All pairs of systems have the same correlation. A smoothed variance is half the system's own, and half the variance
    of all systems in proportion to m (1 - m). Here m is halfway between the system's estimate and the mean estimate: an
    estimate that is too low by chance also has too small a variance.
    """
    documents = dict.fromkeys(document for each in found for document in each.parts)
    parts = np.array([[each.parts.get(document, 0.0) for document in documents] for each in found])
    variances = (parts**2).sum(axis=1)
    together = (parts / np.sqrt(variances)[:, None]).sum(axis=0)
    pairs = len(found) * (len(found) - 1)
    correlation = float(np.clip(((together**2).sum() - len(found)) / pairs, 0.0, _MOST_CORRELATED))
    middle = (direct + direct.mean()) / 2
    common = variances.sum() / max(float((direct * (1 - direct)).sum()), _TINY)
    roots = np.sqrt(_OWN_SHARE * variances + (1 - _OWN_SHARE) * common * middle * (1 - middle))
    covariance: Array = (correlation + (1 - correlation) * np.eye(len(found))) * np.outer(roots, roots)
    return covariance


def _fitted(
    direct: Array, covariance: Array, line: Array, degrees: NDArray[np.int64]
) -> tuple[Array, Array, Array]:
    """Compute the systems' means, their covariance, and each system's p of fitting the other systems' line.

    For a standard deviation s between systems, V is the covariance plus s^2 on the diagonal. P is the inverse of V,
    projected so that the line has no effect. With C for the covariance, the means are direct - C P direct, with the
    covariance C - C P C. (P direct)_i / P_ii is the distance of system i from the line of the others, with the variance
    1 / P_ii. Leaving i out divides the likelihood of s by the density of this distance.
    """
    values, vectors = np.linalg.eigh(covariance)
    inverse = 1 / (np.maximum(values, _TINY) + _SPREADS[:, None] ** 2)
    turned, seen = vectors.T @ line, vectors.T @ direct
    weighted = inverse[:, :, None] * turned
    inner = turned.T @ weighted
    projected = inverse[:, :, None] * np.eye(len(direct)) - weighted @ np.linalg.solve(
        inner, weighted.transpose(0, 2, 1)
    )
    logs = (np.log(inverse).sum(axis=1) - np.linalg.slogdet(inner)[1] - projected @ seen @ seen) / 2
    projected = vectors @ projected @ vectors.T
    left = projected @ direct
    weights = scipy.special.softmax(logs)
    each = direct - left @ covariance
    means = weights @ each
    apart = each - means
    within = covariance - covariance @ np.tensordot(weights, projected, 1) @ covariance
    # A system that alone determines the slope has no distance.
    own = np.maximum(np.diagonal(projected, axis1=1, axis2=2), 1e-6)
    distances = left / np.sqrt(own)
    without = scipy.special.softmax(logs[:, None] - (np.log(own) - distances**2) / 2, axis=0)
    chances = (without * 2 * scipy.special.stdtr(degrees, -np.abs(distances))).sum(axis=0)
    return means, within + (weights[:, None] * apart).T @ apart, chances
