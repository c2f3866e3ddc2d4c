"""Macro means of systems over document sets, with bootstrap intervals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from annotation.analysis.intervals import NO_SPREAD, has_interval
from evaluation.statistics import FEWEST_FOR_INTERVAL, bootstrap_means, expanded_tails

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

CONFIDENCE = 0.95
DRAWS = 10_000
SEED = 0

# The number of columns that are resampled at once. The limit saves memory.
_COLUMNS_AT_ONCE = 512


@dataclass(frozen=True, slots=True)
class Average:
    """A macro mean over document sets with its interval.

    `mean` is None without a value, and `low` and `high` are None without an interval (see `intervals`). `n` counts the
    document sets with a value, and `left_out` the summaries without one. For estimates, `n` counts documents, and
    `left_out` is 0.
    """

    mean: float | None
    low: float | None
    high: float | None
    n: int
    left_out: int


class Observation(NamedTuple):
    """The scores of one summary in the order of the columns; None means a missing score."""

    system: str
    document_set: str
    cluster: str
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class SetMeans:
    """The mean over each system's summaries in each document set, by column.

    `means` and `has_value` have the shape (sets, systems, columns); a mean is valid only if its `has_value` is True.
    `scored` counts the summaries with a value, by system and column; `summaries` counts all summaries by system.
    """

    systems: tuple[str, ...]
    columns: tuple[str, ...]
    sets: tuple[str, ...]
    clusters: tuple[str, ...]
    means: Floats
    has_value: NDArray[np.bool_]
    scored: NDArray[np.int64]
    summaries: dict[str, int]

    def of(self, column: str) -> dict[str, dict[str, float]]:
        """Return the means of one column, by system and document set."""
        place = self.columns.index(column)
        return {
            system: {
                name: float(mean)
                for name, mean, is_there in zip(
                    self.sets, self.means[:, number, place], self.has_value[:, number, place], strict=True
                )
                if is_there
            }
            for number, system in enumerate(self.systems)
        }

    def clusters_by_set(self) -> dict[str, str]:
        """Return the cluster of each document set."""
        return dict(zip(self.sets, self.clusters, strict=True))


def compared_by(averages: Mapping[str, Average]) -> list[str]:
    """Return the systems that a score compares: those with enough document sets for an interval.

    If no system has enough, these are all systems with a mean.
    """
    held = [system for system, average in averages.items() if average.mean is not None]
    return [system for system in held if has_interval(averages[system].n)] or held


def averages(
    observations: Sequence[Observation],
    columns: Sequence[str],
    *,
    confidence: float = CONFIDENCE,
    draws: int = DRAWS,
    seed: int = SEED,
) -> dict[str, dict[str, Average]]:
    """Average each system and column over the summaries of a set, then over the sets.

    Intervals come from a bootstrap over clusters. For a system, resamples without any of its clusters are ignored.
    """
    return averages_of(set_means(observations, columns), confidence=confidence, draws=draws, seed=seed)


def set_means(observations: Sequence[Observation], columns: Sequence[str]) -> SetMeans:
    """Average each system's summaries within each document set."""
    systems = tuple(sorted({seen.system for seen in observations}))
    clusters = {seen.document_set: seen.cluster for seen in observations}
    sets = tuple(sorted(clusters))
    shape = (len(sets), len(systems), len(columns))
    # Here NaN replaces None; the next two lines replace NaN by 0 and a mask.
    values = np.array([seen.values for seen in observations], dtype=np.float64).reshape(-1, len(columns))
    is_there = ~np.isnan(values)
    values[~is_there] = 0.0
    set_places = {name: place for place, name in enumerate(sets)}
    system_places = {name: place for place, name in enumerate(systems)}
    places = np.array(
        [set_places[seen.document_set] * len(systems) + system_places[seen.system] for seen in observations],
        dtype=np.int64,
    )
    sums = _sums_at(places, values, shape)
    counts = _sums_at(places, is_there.astype(np.float64), shape)
    return SetMeans(
        systems=systems,
        columns=tuple(columns),
        sets=sets,
        clusters=tuple(clusters[name] for name in sets),
        means=sums / np.maximum(counts, 1.0),
        has_value=counts > 0,
        scored=counts.sum(axis=0).astype(np.int64),
        summaries=Counter(seen.system for seen in observations),
    )


def averages_of(
    found: SetMeans, *, confidence: float = CONFIDENCE, draws: int = DRAWS, seed: int = SEED
) -> dict[str, dict[str, Average]]:
    """Compute the results of `averages` from given means. With `draws` 0 there are no intervals."""
    width = len(found.columns)
    shape = (len(found.sets), len(found.systems) * width)
    means, has_value = found.means.reshape(shape), found.has_value.reshape(shape)
    sums, sizes = _by_cluster(means, has_value, found.clusters)
    bounds = _bounds(sums, sizes, confidence=confidence, draws=draws, seed=seed)
    made: dict[str, dict[str, Average]] = {system: {} for system in found.systems}
    for place, (low, high) in enumerate(bounds):
        number, column = divmod(place, width)
        system, name = found.systems[number], found.columns[column]
        values = means[has_value[:, place], place]
        made[system][name] = Average(
            mean=math.fsum(values) / len(values) if len(values) else None,
            low=low,
            high=high,
            n=len(values),
            left_out=found.summaries[system] - int(found.scored[number, column]),
        )
    return made


def _sums_at(places: NDArray[np.int64], rows: Floats, shape: tuple[int, int, int]) -> Floats:
    cells = shape[0] * shape[1]
    columns = [np.bincount(places, weights=column, minlength=cells) for column in rows.T]
    sums: Floats = np.stack(columns, axis=1) if columns else np.zeros((cells, 0))
    return sums.reshape(shape)


def _by_cluster(
    means: Floats, has_value: NDArray[np.bool_], clusters: Sequence[str]
) -> tuple[Floats, Floats]:
    weights = has_value.astype(np.float64)
    places = {name: place for place, name in enumerate(sorted(set(clusters)))}
    if len(places) == len(clusters):
        # Each set is its own cluster. Sort the rows by cluster.
        order = np.argsort([places[name] for name in clusters])
        return (means * weights)[order], weights[order]
    of_set = np.array([places[name] for name in clusters], dtype=np.intp)
    sums = np.zeros((len(places), means.shape[1]))
    sizes = np.zeros_like(sums)
    np.add.at(sums, of_set, means * weights)
    np.add.at(sizes, of_set, weights)
    return sums, sizes


def _bounds(
    sums: Floats, sizes: Floats, *, confidence: float, draws: int, seed: int
) -> list[tuple[float | None, float | None]]:
    bounds: list[tuple[float | None, float | None]] = [(None, None)] * sums.shape[1]
    if not draws:
        return bounds
    held = (sizes > 0).sum(axis=0)
    wanted = np.flatnonzero((held >= FEWEST_FOR_INTERVAL) & (_spread(sums, sizes) > NO_SPREAD))
    for start in range(0, len(wanted), _COLUMNS_AT_ONCE):
        some = wanted[start : start + _COLUMNS_AT_ONCE]
        means, is_defined = _drawn_means(sums[:, some], sizes[:, some], draws=draws, seed=seed)
        for clusters in np.unique(held[some]):
            tails = expanded_tails(confidence, int(clusters))
            for columns, low_and_high in _quantiles(means, is_defined, held[some] == clusters, tails):
                for column, (low, high) in zip(columns, low_and_high, strict=True):
                    bounds[some[column]] = (float(low), float(high))
    return bounds


def _spread(sums: Floats, sizes: Floats) -> Floats:
    """Compute the range of cluster means by column; it is negative if there are no values."""
    is_there = sizes > 0
    means = sums / np.where(is_there, sizes, 1.0)
    highest = np.where(is_there, means, -np.inf).max(axis=0, initial=-np.inf)
    lowest = np.where(is_there, means, np.inf).min(axis=0, initial=np.inf)
    spread: Floats = highest - lowest
    return spread


def _drawn_means(sums: Floats, sizes: Floats, *, draws: int, seed: int) -> tuple[Floats, NDArray[np.bool_]]:
    # Resample sums and sizes together, and each distinct column of sizes once.
    patterns, which = _patterns(sizes)
    both = np.hstack([sums, patterns])
    # Every cluster has the size 1 here, because the sizes are resampled as columns.
    drawn, _ = bootstrap_means(both, np.ones((len(both), 1), dtype=np.bool_), draws=draws, seed=seed)
    held = drawn[:, sums.shape[1] :]
    is_defined = held > 0
    weights = 1.0 / np.where(is_defined, held, 1.0)
    if patterns.shape[1] > 1:
        weights, is_defined = weights[:, which], is_defined[:, which]
    return drawn[:, : sums.shape[1]] * weights, np.broadcast_to(is_defined, (draws, sums.shape[1]))


def _patterns(sizes: Floats) -> tuple[Floats, NDArray[np.intp]]:
    if (sizes == sizes[:, :1]).all():
        return sizes[:, :1], np.zeros(sizes.shape[1], dtype=np.intp)
    patterns, which = np.unique(sizes, axis=1, return_inverse=True)
    return patterns, which.reshape(-1)


def _quantiles(
    means: Floats, is_defined: NDArray[np.bool_], chosen: NDArray[np.bool_], tails: tuple[float, float]
) -> list[tuple[NDArray[np.intp], Floats]]:
    full = is_defined.all(axis=0)
    found: list[tuple[NDArray[np.intp], Floats]] = []
    together = np.flatnonzero(chosen & full)
    if len(together):
        # Quantiles of contiguous rows are faster than quantiles across rows.
        rows = np.ascontiguousarray(means[:, together].T)
        found.append((together, np.quantile(rows, tails, axis=1, overwrite_input=True).T))
    found.extend(
        (np.array([column]), np.quantile(means[is_defined[:, column], column], tails)[np.newaxis])
        for column in np.flatnonzero(chosen & ~full)
    )
    return found
