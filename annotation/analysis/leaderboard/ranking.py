"""How sure the order of the systems is: ranges of ranks, and which differences hold after correction."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotation.analysis.leaderboard.averages import CONFIDENCE, DRAWS, SEED
from evaluation.statistics import (
    PairComparison,
    compact_letters,
    compare_systems,
    indistinct_groups,
    rank_ranges,
)

if TYPE_CHECKING:
    from annotation.analysis.leaderboard.averages import Average, SetMeans

SIGNIFICANCE_LEVEL = 0.05
"""Differences hold where chance alone would show any so large in fewer than 5 of 100 such tables."""


@dataclass(frozen=True, slots=True)
class Place:
    """A system's range of ranks, None twice where its mean has no interval, and its letters.

    Systems that share a letter are not significantly different; `group_marks` says of each group of the
    ranking in turn whether
    the system stands in it.
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
    """The order of the systems by a score, held against chance.

    `order` names the systems that have a mean of the score, best first.
    """
    values = {system: of_system for system, of_system in found.of(score).items() if system in order}
    cluster_of = found.cluster_of
    ranges = rank_ranges(values, cluster_of, confidence=CONFIDENCE, draws=DRAWS, seed=SEED)
    compared = compare_systems(values, cluster_of, seed=SEED)
    different = [(pair.first, pair.second) for pair in compared if pair.is_different(SIGNIFICANCE_LEVEL)]
    groups = indistinct_groups(order, different)
    letters = compact_letters(order, different)
    clusters = {cluster_of[name] for of_system in values.values() for name in of_system}
    return Ranking(
        score=score,
        places={
            system: Place(
                low=ranges[system].low if averages[system].low is not None else None,
                high=ranges[system].high if averages[system].low is not None else None,
                letters=letters[system],
                group_marks=tuple(system in group for group in groups),
            )
            for system in order
        },
        groups=groups,
        pairs=len(compared),
        holding=len(different),
        least_p=least_p(compared, len(clusters)),
        front=_front(order, averages, compared, len(clusters)) if order else None,
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
    order: Sequence[str], averages: Mapping[str, Average], compared: Sequence[PairComparison], clusters: int
) -> Front:
    first, *others = order
    near, above = _near_and_above(first, others, compared)
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


def _near_and_above(
    first: str, others: Sequence[str], compared: Sequence[PairComparison]
) -> tuple[list[str], list[str]]:
    """The systems that is not significantly different from this one, and those that are better than it on common sets.

    Both in the order of `others`, so that those named of many are the next ones.
    """
    near, above = set(), set()
    for pair in compared:
        if first not in (pair.first, pair.second):
            continue
        other = pair.second if pair.first == first else pair.first
        ahead = (pair.difference or 0.0) * (1 if pair.first == first else -1)
        if not pair.is_different(SIGNIFICANCE_LEVEL):
            near.add(other)
        elif ahead < 0:
            above.add(other)
    return [other for other in others if other in near], [other for other in others if other in above]


def _is_same(one: Average, other: Average) -> bool:
    return one.mean is not None and math.isclose(one.mean, other.mean or 0.0, abs_tol=1e-12)
