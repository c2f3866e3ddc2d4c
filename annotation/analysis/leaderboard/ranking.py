"""How sure the order of the systems is: ranges of ranks, letters and the leader, all from which differences hold."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotation.analysis.leaderboard.averages import SEED
from evaluation.statistics import (
    PairComparison,
    SettledOrder,
    compact_letters,
    compare_systems,
    indistinct_groups,
    settled_order,
)

if TYPE_CHECKING:
    from annotation.analysis.leaderboard.averages import Average, SetMeans

SIGNIFICANCE_LEVEL = 0.05
"""Differences hold where chance alone would show any so large in fewer than 5 of 100 such tables."""


@dataclass(frozen=True, slots=True)
class Place:
    """The ranks that the tests leave to a system, None twice where its mean has no interval, and its letters.

    Systems that share a letter are not significantly different; `group_marks` says of each group of the ranking in
    turn whether the system stands in it.
    """

    low: int | None
    high: int | None
    letters: str
    group_marks: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Front:
    """Who is first, and what the tests say of that.

    `level` are the systems with the highest mean, `others` counts the further ones, `sets` the document sets behind the
    first one's mean, `clusters` all that were compared. `near` is not significantly different from the
    first, `above` are better
    on common sets. With those near, else with all others, it was compared on `fewest` to `most` sets.
    """

    level: tuple[str, ...]
    others: int
    sets: int
    clusters: int
    near: tuple[str, ...]
    above: tuple[str, ...]
    fewest: int
    most: int


@dataclass(frozen=True, slots=True)
class Ranking:
    """The order of the systems by one score and how sure it is.

    `pairs` of systems were compared on their common document sets, and of `holding` the difference holds at `level`
    after Holm's correction. `places` has every system with a mean. `least_p` is the smallest p that the test could
    have given after correction: above the level no difference could hold. `sentence` says it in words.
    """

    score: str
    places: dict[str, Place]
    groups: tuple[tuple[str, ...], ...]
    pairs: int
    holding: int
    least_p: float | None
    front: Front | None
    level: float = SIGNIFICANCE_LEVEL

    @property
    def has_groups(self) -> bool:
        """Whether the tests tell any systems apart and leave others together: else letters say nothing."""
        return self.holding > 0


def ranking_of(found: SetMeans, averages: Mapping[str, Average], order: Sequence[str], score: str) -> Ranking:
    """The order of the systems by a score, compared on document sets.

    `order` names the systems that have a mean of the score, best first.
    """
    values = {system: of_system for system, of_system in found.of(score).items() if system in order}
    cluster_of = found.clusters_by_set()
    compared = compare_systems(values, cluster_of, seed=SEED)
    clusters = {cluster_of[name] for of_system in values.values() for name in of_system}
    return ranking_from(compared, averages, order, score, clusters=len(clusters))


def ranking_from(
    compared: Sequence[PairComparison],
    averages: Mapping[str, Average],
    order: Sequence[str],
    score: str,
    *,
    clusters: int,
    level: float = SIGNIFICANCE_LEVEL,
) -> Ranking:
    """The order of the systems by a score as comparisons over so many clusters leave it."""
    settled = settled_order({system: averages[system].mean or 0.0 for system in order}, compared, level=level)
    groups = indistinct_groups(order, settled.different)
    letters = compact_letters(order, settled.different)
    return Ranking(
        score=score,
        places={
            system: Place(
                low=settled.ranks(system)[0] if averages[system].low is not None else None,
                high=settled.ranks(system)[1] if averages[system].low is not None else None,
                letters=letters[system],
                group_marks=tuple(system in group for group in groups),
            )
            for system in order
        },
        groups=groups,
        pairs=len(compared),
        holding=len(settled.different),
        least_p=least_p(compared, clusters),
        front=_front(order, averages, compared, settled, clusters) if order else None,
        level=level,
    )


def least_p(compared: Sequence[PairComparison], clusters: int) -> float | None:
    """The smallest p that a difference could get after correction; None where nothing was compared.

    Of n clusters 2 of the 2^n flips of signs reach the largest difference there is; of B drawn flips it may be none.
    """
    tested = [pair for pair in compared if pair.p is not None]
    if not tested or clusters < 1:
        return None
    smallest = 2 / 2**clusters if tested[0].is_exact else 0.0
    return min(1.0, smallest * len(tested))


def _front(
    order: Sequence[str],
    averages: Mapping[str, Average],
    compared: Sequence[PairComparison],
    settled: SettledOrder,
    clusters: int,
) -> Front:
    first, *others = order
    # Both in the order of the others, so that those named of many are the next ones.
    near = [other for other in others if not settled.differ(first, other)]
    above = [other for other in others if (other, first) in settled.different]
    # A system that lacks some sets is compared on fewer.
    counts = [
        pair.sets
        for pair in compared
        if first in (pair.first, pair.second) and {pair.first, pair.second} & set(near or others)
    ]
    return Front(
        level=tuple(system for system in order if _is_same(averages[system], averages[first])),
        others=len(others),
        sets=averages[first].n,
        clusters=clusters,
        near=tuple(near),
        above=tuple(above),
        fewest=min(counts, default=0),
        most=max(counts, default=0),
    )


def _is_same(one: Average, other: Average) -> bool:
    return one.mean is not None and math.isclose(one.mean, other.mean or 0.0, abs_tol=1e-12)
