"""How a metric ranks systems and summaries, compared with people's judgments of the same ones."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation._guards import check_same_length
from evaluation.statistics._intervals import DEFAULT_CONFIDENCE, FEWEST_CLUSTERS, bootstrap_means
from evaluation.statistics._resampling import (
    STATISTIC_DRAWS,
    Estimate,
    Floats,
    check_resampling,
    checked_finite,
    estimate_of,
    estimates,
)

SAME = 1e-12
"""Means closer than this, in units of the largest, are tied: they differ by how they were added up."""

# Comparisons of all pairs of systems are held for so many draws times pairs at once.
_COMPARISONS_AT_ONCE = 1_000_000

_Correlation = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True, slots=True)
class MetricCorrelation:
    """Agreement of a metric with people, at two levels, each with intervals over document sets.

    At the system level, the correlation of the systems' means; at the summary level, the mean over document sets of
    the correlation over the systems within each. `documents` are the sets with any system scored by both, `constant`
    those of them in which either side gave all systems the same, or scored fewer than two: they have no summary-level
    value. `left_out` counts scores that lack their partner.
    """

    system_kendall: Estimate
    system_pearson: Estimate
    summary_kendall: Estimate
    summary_pearson: Estimate
    systems: int
    documents: int
    constant: int
    left_out: int


def kendall_tau(first: Sequence[float | None], second: Sequence[float | None]) -> float | None:
    """Kendall's tau-b: do two series order the same things alike?

    From -1, opposite order, to 1, the same; ties count for neither. Pairs that lack a side are left out. None with
    fewer than two pairs, and where either side is constant.
    Raises LengthMismatch; EvaluationError for a value that is not finite.
    Source: Kendall, The treatment of ties in ranking problems, 1945.
    Example: `kendall_tau([1, 2, 3], [1, 3, 2])` is 1/3: two pairs in the same order, one in the other.
    """
    return _value(_kendalls, first, second)


def pearson(first: Sequence[float | None], second: Sequence[float | None]) -> float | None:
    """Pearson's r: do two series lie on a line?

    From -1 to 1. Pairs that lack a side are left out. None with fewer than two pairs, and where either is constant.
    Raises LengthMismatch; EvaluationError for a value that is not finite.
    Example: `pearson([1, 2, 3], [1, 3, 2])` is 0.5.
    """
    return _value(_pearsons, first, second)


def metric_correlation(
    metric: Mapping[str, Mapping[str, float]],
    people: Mapping[str, Mapping[str, float]],
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    draws: int = STATISTIC_DRAWS,
    seed: int = 0,
) -> MetricCorrelation:
    """Correlation of a metric with people over systems, at system and summary level, with bootstrap intervals.

    Both are `[system][document set]`; only what both scored enters. Intervals resample document sets; the systems are
    taken as they are. Draws in which a system has no set, or either side is constant, are left out and counted. A draw
    repeats sets, so its means are noisier than the sample's: system-level intervals lean low, and where few sets leave
    the means of close systems uncertain they may even lie below the value itself.
    Raises InvalidPercent for a confidence outside 0 to 1, EvaluationError for a value that is not finite.
    Source: Deutsch, Dror and Roth, A statistical analysis of summarization evaluation metrics, 2021.
    Example: a metric that orders all systems as people do has a system-level tau of 1, however small its differences.
    """
    check_resampling(confidence, draws)
    systems = [name for name in metric if name in people and metric[name].keys() & people[name].keys()]
    names = sorted({name for system in systems for name in metric[system].keys() & people[system].keys()})
    shape = (len(names), len(systems))
    present = np.array(
        [[name in metric[system] and name in people[system] for system in systems] for name in names],
        dtype=np.bool_,
    ).reshape(shape)
    one, other = (
        np.array(
            [[checked_finite(side[system].get(name, 0.0)) for system in systems] for name in names]
        ).reshape(shape)
        for side in (metric, people)
    )
    one, other = np.where(present, one, 0.0), np.where(present, other, 0.0)
    both = (_kendalls, _pearsons)
    within = [_within(one, other, present, correlation) for correlation in both]
    across = _across(one, other, present, confidence=confidence, draws=draws, seed=seed)
    summary = [
        _mean_estimate(values[~np.isnan(values)], confidence=confidence, draws=draws, seed=seed)
        for values in within
    ]
    scored = sum(len(column) for side in (metric, people) for column in side.values())
    return MetricCorrelation(
        system_kendall=across[0],
        system_pearson=across[1],
        summary_kendall=summary[0],
        summary_pearson=summary[1],
        systems=len(systems),
        documents=len(names),
        constant=int(np.isnan(within[0]).sum()),
        left_out=scored - 2 * int(present.sum()),
    )


def _value(
    correlation: _Correlation, first: Sequence[float | None], second: Sequence[float | None]
) -> float | None:
    check_same_length("first", first, "second", second)
    pairs = [
        (checked_finite(one), checked_finite(other))
        for one, other in zip(first, second, strict=True)
        if one is not None and other is not None
    ]
    columns = np.array(pairs, dtype=np.float64).reshape(-1, 2)
    value = float(correlation(columns[np.newaxis, :, 0], columns[np.newaxis, :, 1])[0])
    return None if np.isnan(value) else value


def _within(one: Floats, other: Floats, present: NDArray[np.bool_], correlation: _Correlation) -> Floats:
    """The correlation over the systems of each document set; NaN where there is none."""
    values = [
        correlation(one[np.newaxis, place, held], other[np.newaxis, place, held])[0]
        for place, held in enumerate(present)
    ]
    return np.array(values, dtype=np.float64)


def _across(
    one: Floats, other: Floats, present: NDArray[np.bool_], *, confidence: float, draws: int, seed: int
) -> list[Estimate]:
    """Correlations of the systems' means, with intervals from the same draws of document sets for both sides."""
    held = present.sum(axis=0)
    means = [side.sum(axis=0, keepdims=True) / held for side in (one, other)]
    drawn = [np.empty((0, len(held)))] * 2
    is_said: NDArray[np.bool_] = np.empty(0, dtype=np.bool_)
    if len(one) >= FEWEST_CLUSTERS:
        both, counted = bootstrap_means(
            np.hstack([one, other]), np.hstack([present, present]), draws=draws, seed=seed
        )
        drawn, is_said = np.split(both, 2, axis=1), np.asarray(counted.all(axis=1))
    return [
        estimate_of(
            float(correlation(*means)[0]),
            np.where(is_said, correlation(*drawn), np.nan),
            clusters=len(one),
            confidence=confidence,
            draws=draws,
            seed=seed,
        )
        for correlation in (_kendalls, _pearsons)
    ]


def _mean_estimate(values: Floats, *, confidence: float, draws: int, seed: int) -> Estimate:
    rows = np.column_stack([np.ones(len(values)), np.sort(values)])
    (estimate,) = estimates(
        rows,
        lambda sums: (sums[:, 1] / sums[:, 0])[:, np.newaxis],
        confidence=confidence,
        draws=draws,
        seed=seed,
    )
    return estimate


def _kendalls(one: Floats, other: Floats) -> Floats:
    """tau-b of each row of both, shape (rows, things); NaN where a row is constant."""
    things = one.shape[1]
    first, second = np.triu_indices(things, 1)
    step = max(1, _COMPARISONS_AT_ONCE // max(1, len(first)))
    taus = [
        _tau(*(_signs(side[start : start + step], first, second) for side in (one, other)))
        for start in range(0, len(one), step)
    ]
    return np.concatenate([np.empty(0), *taus])


def _tau(one: Floats, other: Floats) -> Floats:
    untied = np.sqrt((one**2).sum(axis=1) * (other**2).sum(axis=1))
    return np.where(untied > 0, (one * other).sum(axis=1) / np.where(untied > 0, untied, 1), np.nan)


def _signs(rows: Floats, first: NDArray[np.int64], second: NDArray[np.int64]) -> Floats:
    apart = rows[:, first] - rows[:, second]
    scale = np.abs(rows).max(axis=1, initial=0, keepdims=True)
    return np.where(np.abs(apart) > SAME * scale, np.sign(apart), 0.0)


def _pearsons(one: Floats, other: Floats) -> Floats:
    """Pearson's r of each row of both, shape (rows, things); NaN where a row is constant."""
    if one.shape[1] < FEWEST_CLUSTERS:
        return np.full(len(one), np.nan)
    width, other_width = np.ptp(one, axis=1), np.ptp(other, axis=1)
    varies = (width > SAME * np.abs(one).max(axis=1)) & (other_width > SAME * np.abs(other).max(axis=1))
    # In units of its range no series is so small that its squares vanish.
    x, y = _centred(one, width), _centred(other, other_width)
    spread = np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
    r = np.clip((x * y).sum(axis=1) / np.where(varies, spread, 1), -1, 1)
    return np.where(varies, r, np.nan)


def _centred(rows: Floats, width: Floats) -> Floats:
    scaled = rows / np.where(width > 0, width, 1)[:, np.newaxis]
    centred: Floats = scaled - scaled.mean(axis=1, keepdims=True)
    return centred
