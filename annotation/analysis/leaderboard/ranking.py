"""Group letters and the leader, both from the differences that are significant."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotation.analysis.leaderboard.averages import SEED
from evaluation.statistics import (
    PairComparison,
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
    """A system's letters: systems that share one are not significantly different.

    `group_marks` says of each group of the ranking in turn whether the system stands in it.
    """

    letters: str
    group_marks: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Front:
    """Who is first, and what the tests say of that.

    `level` are the systems with the highest mean over `sets` document sets, `others` counts the further ones, `near`
    are those of them that the first is not significantly better than.
    """

    level: tuple[str, ...]
    others: int
    sets: int
    near: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The order of the systems by one score and how sure it is.

    `pairs` of systems were compared on their common document sets, and of `holding` the difference holds at `level`
    after Holm's correction. `places` has every system with a mean.
    """

    score: str
    places: dict[str, Place]
    groups: tuple[tuple[str, ...], ...]
    pairs: int
    holding: int
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
    compared = compare_systems(values, found.clusters_by_set(), seed=SEED)
    return ranking_from(compared, averages, order, score)


def ranking_from(
    compared: Sequence[PairComparison],
    averages: Mapping[str, Average],
    order: Sequence[str],
    score: str,
    *,
    level: float = SIGNIFICANCE_LEVEL,
) -> Ranking:
    """The order of the systems by a score as comparisons leave it."""
    settled = settled_order({system: averages[system].mean or 0.0 for system in order}, compared, level=level)
    groups = indistinct_groups(order, settled)
    letters = compact_letters(order, settled)
    return Ranking(
        score=score,
        places={
            system: Place(
                letters=letters[system],
                group_marks=tuple(system in group for group in groups),
            )
            for system in order
        },
        groups=groups,
        pairs=len(compared),
        holding=len(settled),
        front=_front(order, averages, settled) if order else None,
        level=level,
    )


def _front(
    order: Sequence[str], averages: Mapping[str, Average], settled: frozenset[tuple[str, str]]
) -> Front:
    first, *others = order
    return Front(
        level=tuple(system for system in order if _is_same(averages[system], averages[first])),
        others=len(others),
        sets=averages[first].n,
        near=tuple(other for other in others if (first, other) not in settled),
    )


def _is_same(one: Average, other: Average) -> bool:
    return one.mean is not None and math.isclose(one.mean, other.mean or 0.0, abs_tol=1e-12)
