"""The systems that may be best, and groups of systems that are not significantly different."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.text import get_text_list

from annotation.analysis.intervals import has_interval
from annotation.analysis.leaderboard.averages import SEED
from evaluation.statistics import (
    PairComparison,
    best_estimates,
    compact_letters,
    compare_systems,
    indistinct_groups,
    may_be_best,
    settled_order,
)

if TYPE_CHECKING:
    from annotation.analysis.leaderboard.averages import Average, SetMeans

NAMED_AT_MOST = 3
SIGNIFICANCE_LEVEL = 0.05
"""The family-wise error rate of the tests."""


@dataclass(frozen=True, slots=True)
class Place:
    """A system's letters: two systems that share a letter are not significantly different.

    `group_marks` has one entry per group of the ranking, True if the group contains the system.
    """

    letters: str
    group_marks: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Front:
    """The systems at the top of a ranking.

    `level` are the systems with the highest mean over `sets` document sets, `others` is the number of the
    remaining ones. `may_be_best`, best mean first, also has the systems that are not significantly worse
    than the best. If there are only two systems, the test of that pair decides.
    """

    level: tuple[str, ...]
    others: int
    sets: int
    may_be_best: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The order of the systems by one score, with its significance.

    `pairs` is the number of pairs compared on their common document sets; `holding` of them differ at
    `level` after Holm's correction. `places` has every system with a mean.
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
        """True if the tests separate any systems; otherwise the letters give no information."""
        return self.holding > 0

    @property
    def sentence(self) -> str:
        """A sentence that names the leading systems and those that may be best."""
        front = self.front
        if front is None:
            return "No system has this score yet."
        first = front.level[0]
        if not front.others:
            return f"{first} is the only system with this score."
        near = [system for system in front.may_be_best if system not in front.level]
        if len(front.level) > 1:
            tied = f"{_listed(front.level)} are tied for first"
            return f"{tied}, and {_listed(near)} could be as good." if near else f"{tied}."
        if not has_interval(front.sets):
            return f"{first} is ahead, but there are too few document sets to test it."
        if not near:
            return f"{first} is best: every other system is significantly worse than the best."
        named = "any other system" if len(near) == front.others else _listed(near)
        return f"{first} is ahead, but {named} could be as good."


def ranking_of(found: SetMeans, averages: Mapping[str, Average], order: Sequence[str], score: str) -> Ranking:
    """Rank the systems by a score, compared on document sets.

    `order` names the systems with a mean of the score, best first.
    """
    values = {system: of_system for system, of_system in found.of(score).items() if system in order}
    compared = compare_systems(values, found.clusters_by_set(), seed=SEED)
    best = may_be_best(values, found.clusters_by_set(), level=SIGNIFICANCE_LEVEL, seed=SEED)
    return _ranking(compared, averages, order, score, level=SIGNIFICANCE_LEVEL, best=best)


def ranking_from(
    compared: Sequence[PairComparison],
    averages: Mapping[str, Average],
    order: Sequence[str],
    score: str,
    *,
    level: float,
) -> Ranking:
    """Rank the systems by an estimate, from the comparisons of all pairs."""
    best = best_estimates(compared, level=level)
    return _ranking(compared, averages, order, score, level=level, best=best)


def _ranking(
    compared: Sequence[PairComparison],
    averages: Mapping[str, Average],
    order: Sequence[str],
    score: str,
    *,
    level: float,
    best: frozenset[str],
) -> Ranking:
    settled = settled_order({system: averages[system].mean or 0.0 for system in order}, compared, level=level)
    groups = indistinct_groups(order, settled)
    letters = compact_letters(order, groups)
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
        front=_front(order, averages, settled, best) if order else None,
        level=level,
    )


def _front(
    order: Sequence[str],
    averages: Mapping[str, Average],
    settled: frozenset[tuple[str, str]],
    best: frozenset[str],
) -> Front:
    first, *others = order
    sets = averages[first].n
    level = tuple(system for system in order if _is_same(averages[system], averages[first]))
    # For two systems, the one-sided test against the best could contradict the two-sided test of the pair.
    is_compared = len(order) > 2 and has_interval(sets)
    left = (best if is_compared else frozenset(order)) - {worse for _, worse in settled}
    return Front(
        level=level,
        others=len(others),
        sets=sets,
        may_be_best=tuple(system for system in order if system in level or system in left),
    )


def _is_same(one: Average, other: Average) -> bool:
    return one.mean is not None and math.isclose(one.mean, other.mean or 0.0, abs_tol=1e-12)


def _listed(names: Sequence[str]) -> str:
    rest = len(names) - NAMED_AT_MOST
    return str(get_text_list([*names[:NAMED_AT_MOST], *([f"{rest} more"] if rest > 0 else [])], "and"))
