"""Ranks of systems that say how sure they are, and groups of systems that cannot be told apart."""

import string
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation._guards import check_choice
from evaluation._means import mean
from evaluation.errors import EvaluationError
from evaluation.statistics._intervals import (
    DEFAULT_CONFIDENCE,
    DEFAULT_DRAWS,
    FEWEST_CLUSTERS,
    bootstrap_means,
    expanded_tails,
)
from evaluation.statistics._resampling import (
    Floats,
    check_resampling,
    checked_finite,
    places_in_clusters,
    sums_by,
)

SAME = 1e-12
"""Means closer than this, in units of the largest, are tied: they differ by how they were added up."""


@dataclass(frozen=True, slots=True)
class RankRange:
    """A system's rank, 1 being best, and the ranks that it may really have.

    All are None for a system without a value, `low` and `high` also where nothing can be said of them.
    """

    rank: int | None
    low: int | None
    high: int | None


def rank_ranges(
    values: Mapping[str, Mapping[str, float]],
    clusters: Mapping[str, str] | None = None,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    draws: int = DEFAULT_DRAWS,
    seed: int = 0,
) -> dict[str, RankRange]:
    """Ranks of systems by their means, with the range that they take over resampled document sets.

    `values[system][set]` is the system's mean within that set; higher is better. Equal means share the better
    rank. Each draw takes the same sets for all systems, whole groups of them where `clusters[set]` names the group of
    each, and ranks those that have any; `low` and `high` hold the middle `confidence` of a system's ranks, and
    somewhat more where sets are few, as in every interval here. No range with fewer than two clusters. Overlapping
    ranges do not say that two systems cannot be told apart: ask `compare_systems`.
    Raises InvalidPercent for a confidence outside 0 to 1, EvaluationError for a value that is not finite, a set without
    a cluster or fewer than one draw.
    Source: percentiles of bootstrapped ranks, as in Hall and Miller, Using the bootstrap to quantify the authority of
    an empirical ranking, 2009.
    Example: a system that is best on every set has the rank 1 and the range 1 to 1.
    """
    check_resampling(confidence, draws)
    if not values:
        return {}
    names = sorted({name for column in values.values() for name in column})
    of_set, width = places_in_clusters(names, clusters)
    shape = (len(names), len(values))
    columns = values.values()
    present = np.array([[name in column for column in columns] for name in names], dtype=np.bool_)
    matrix = np.array([[checked_finite(column.get(name, 0.0)) for column in columns] for name in names])
    means = [mean(column.values()) for column in values.values()]
    known = np.array([[value is not None for value in means]])
    ranks = _ranks(np.array([[0.0 if value is None else value for value in means]]), known)[0]
    bounds: list[tuple[int | None, int | None]] = [(None, None)] * len(values)
    if width >= FEWEST_CLUSTERS:
        sums = sums_by(of_set, width, matrix.reshape(shape))
        sizes = sums_by(of_set, width, present.reshape(shape).astype(np.float64))
        drawn, counted = bootstrap_means(sums, sizes, draws=draws, seed=seed)
        places = _ranks(drawn, counted)
        held = (sizes > 0).sum(axis=0).tolist()
        bounds = [
            _middle(places[counted[:, system], system], confidence, own) if own else (None, None)
            for system, own in enumerate(held)
        ]
    return {
        system: RankRange(rank=int(rank) if value is not None else None, low=low, high=high)
        for system, value, rank, (low, high) in zip(values, means, ranks, bounds, strict=True)
    }


def indistinct_groups(
    order: Sequence[str], different: Collection[tuple[str, str]]
) -> tuple[tuple[str, ...], ...]:
    """The largest groups of systems in which no two differ: what a line beside a table joins.

    `order` names all systems, best first; `different` the pairs that do differ, in either order. Every two systems that
    do not differ stand together in some group, and no two that differ in any; a group need not be a run of `order`.
    Groups come in the order of their best members, then of their next.
    Raises EvaluationError for a pair with a system that `order` does not name, or a name that it has twice.
    Source: Piepho, An algorithm for a letter-based representation of all-pairwise comparisons, 2004
    (insert and absorb).
    Example: of a, b and c with only a and c different: (a, b) and (b, c).
    """
    _check_order(order, [name for pair in different for name in pair])
    groups = [frozenset(order)] if order else []
    for one, other in different:
        split = [group for group in groups if {one, other} <= group]
        kept = [group for group in groups if not {one, other} <= group]
        parts = {part for group in split for part in (group - {one}, group - {other})}
        groups = _absorbed([*kept, *parts])
    places = {system: place for place, system in enumerate(order)}
    ordered = sorted(tuple(sorted(places[system] for system in group)) for group in groups)
    return tuple(tuple(order[place] for place in group) for group in ordered)


def compact_letters(order: Sequence[str], different: Collection[tuple[str, str]]) -> dict[str, str]:
    """Letters per system, such that two systems share a letter exactly if they do not differ.

    Letters stand for `indistinct_groups`, "a" for the first. Beyond 26 groups they are "a1", "b1" and so on.
    Errors as `indistinct_groups`.
    Example: of a, b and c with only a and c different: "a", "ab" and "b".
    """
    letters = dict.fromkeys(order, "")
    for number, group in enumerate(indistinct_groups(order, different)):
        round_, place = divmod(number, len(string.ascii_lowercase))
        for system in group:
            letters[system] += string.ascii_lowercase[place] + (str(round_) if round_ else "")
    return letters


def _ranks(means: Floats, counted: NDArray[np.bool_]) -> NDArray[np.int64]:
    """One more than the number of systems with a higher mean, in each row; only where counted."""
    scale = np.abs(means).max(axis=1, initial=0, keepdims=True)
    held = np.where(counted, means, -np.inf)
    above = means + SAME * scale
    ranks: NDArray[np.int64] = np.stack(
        [1 + (held > above[:, [system]]).sum(axis=1) for system in range(means.shape[1])], axis=1
    )
    return ranks


def _middle(ranks: NDArray[np.int64], confidence: float, clusters: int) -> tuple[int, int]:
    low, high = np.quantile(ranks, expanded_tails(confidence, clusters), method="inverted_cdf")
    return int(low), int(high)


def _absorbed(groups: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """The groups that lie in no other."""
    distinct = set(groups)
    return [group for group in distinct if not any(group < other for other in distinct)]


def _check_order(order: Sequence[str], named: Sequence[str]) -> None:
    if len(set(order)) < len(order):
        raise EvaluationError(f"A system stands twice in the order {list(order)!r}.")
    for name in dict.fromkeys(named):
        check_choice("A compared system", name, order)
