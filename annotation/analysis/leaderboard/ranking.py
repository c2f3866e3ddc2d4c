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
"""The level of the tests."""


@dataclass(frozen=True, slots=True)
class Place:
    """The letters of a system: two systems that share a letter are not significantly different.

    `group_marks` has an entry per group of the ranking, which is True if the group contains the system.
    """

    letters: str
    group_marks: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Front:
    """The systems at the top of a ranking.

    - `level`: the systems with the highest mean
    - `sets`: the `n` of the first of them
    - `others`: the number of systems in the ranking, minus one
    - `may_be_best`: `level`, and the systems that are not significantly worse, best mean first
    - `ruled_out`: the other systems, which are significantly worse
    - `mean`: the highest mean
    - `next_mean`: the next mean below it; None if there is none
    """

    level: tuple[str, ...]
    others: int
    sets: int
    may_be_best: tuple[str, ...]
    ruled_out: tuple[str, ...]
    mean: float
    next_mean: float | None

    @property
    def margin(self) -> str:
        """Return the highest mean and the next one in words; "" if there is no next one."""
        if self.next_mean is None:
            return ""
        if self.mean > 1:
            return f" ({self.mean:.2f}, next {self.next_mean:.2f})"
        first, second = 100 * self.mean, 100 * self.next_mean
        digits = int(round(first) == round(second))
        return f" ({first:.{digits}f} %, next {second:.{digits}f} %)"


@dataclass(frozen=True, slots=True)
class SystemPair:
    """Two systems; `difference` is first minus second, and first does not rank below second.

    `p` and `adjusted_p` (Holm) come from a permutation test or, for estimates, from Student's t test. `holds` is True
    if the difference is significant or follows from other differences (`settled_order`). All three figures are None if
    there is no difference, or if it contradicts the order of the means.
    """

    first: str
    second: str
    sets: int
    difference: float | None
    p: float | None
    adjusted_p: float | None
    holds: bool


@dataclass(frozen=True, slots=True)
class Ranking:
    """The order of the systems by one score, and the significance of their differences.

    `compared` has all pairs, smallest adjusted p first. `places` has every ranked system.
    """

    score: str
    places: dict[str, Place]
    groups: tuple[tuple[str, ...], ...]
    compared: tuple[SystemPair, ...]
    front: Front | None
    level: float = SIGNIFICANCE_LEVEL

    @property
    def holding(self) -> int:
        """Return the number of pairs whose difference `holds` (see `SystemPair`)."""
        return sum(pair.holds for pair in self.compared)

    def sentence(self, by: str = "") -> str:
        """Write a sentence that names the leading systems and the systems that could be as good.

        `by` describes a judge whose mistakes the intervals ignore. The sentence then calls no system the best.
        """
        front = self.front
        if front is None:
            return "No system has this score yet."
        first, by = front.level[0], f", judged by {by}" if by else ""
        if not front.others:
            return f"{first} is the only system with this score."
        near = [system for system in front.may_be_best if system not in front.level]
        tied = f"{listed(front.level)} are tied for first" if len(front.level) > 1 else ""
        ahead = (tied or f"{first} is ahead{front.margin}") + by
        if not has_interval(front.sets):
            return f"{ahead}. There are too few document sets to test it."
        if tied:
            return f"{ahead}, and {listed(near)} could be as good." if near else f"{ahead}."
        if len(near) > NAMED_AT_MOST and len(near) < front.others:
            few_out = 0 < len(front.ruled_out) <= NAMED_AT_MOST
            ahead += f", but {len(near) + 1} of {front.others + 1} systems could be best"
            ahead += f"; {listed(front.ruled_out)} could not" if few_out else ""
        elif near:
            named = "any other system" if len(near) == front.others else listed(near)
            ahead += f", but {named} could be as good"
        ahead += "."
        if near or by:
            return ahead
        return f"{first} is best{front.margin}: every other system is significantly worse."


def ranking_of(found: SetMeans, averages: Mapping[str, Average], order: Sequence[str], score: str) -> Ranking:
    """Rank the systems by a score and test their differences over document sets.

    `found` has the means by document set, and `averages` the average of each system. `order` names the ranked systems,
    best first.
    """
    by_system = found.of(score)
    values = {system: by_system[system] for system in order}
    compared = compare_systems(values, found.clusters_by_set(), seed=SEED)
    best = may_be_best(values, found.clusters_by_set(), level=SIGNIFICANCE_LEVEL, seed=SEED)
    return _ranking(compared, averages, order, score, best=best)


def ranking_from(
    compared: Sequence[PairComparison], averages: Mapping[str, Average], order: Sequence[str], score: str
) -> Ranking:
    """Rank the systems by an estimate, from the comparisons of all pairs."""
    best = best_estimates(compared, level=SIGNIFICANCE_LEVEL)
    return _ranking(compared, averages, order, score, best=best)


def _ranking(
    compared: Sequence[PairComparison],
    averages: Mapping[str, Average],
    order: Sequence[str],
    score: str,
    *,
    best: frozenset[str],
) -> Ranking:
    means = {system: averages[system].mean or 0.0 for system in order}
    # Two systems may differ in one direction over all sets and in the other direction on their common sets. Count
    # such a pair as not different, because the page must not call a system worse and rank it higher.
    settled = frozenset(
        (better, worse)
        for better, worse in settled_order(means, compared, level=SIGNIFICANCE_LEVEL)
        if means[better] > means[worse]
    )
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
        compared=tuple(sorted((_pair(each, means, settled) for each in compared), key=_surest_first)),
        front=_front(order, averages, settled, best) if order else None,
    )


def _pair(
    found: PairComparison, means: Mapping[str, float], settled: frozenset[tuple[str, str]]
) -> SystemPair:
    first, second, difference = found.first, found.second, found.difference
    if means[first] < means[second]:
        first, second, difference = second, first, None if difference is None else -difference
    if difference is None or difference * (means[first] - means[second]) < 0:
        return SystemPair(first, second, found.sets, None, None, None, (first, second) in settled)
    return SystemPair(
        first, second, found.sets, difference, found.p, found.adjusted_p, (first, second) in settled
    )


def _surest_first(pair: SystemPair) -> tuple[float, float, str, str]:
    adjusted = 2.0 if pair.adjusted_p is None else pair.adjusted_p
    return adjusted, -abs(pair.difference or 0.0), pair.first, pair.second


def _front(
    order: Sequence[str],
    averages: Mapping[str, Average],
    settled: frozenset[tuple[str, str]],
    best: frozenset[str],
) -> Front:
    first, *others = order
    sets = averages[first].n
    level = tuple(system for system in order if _is_same(averages[system], averages[first]))
    # For two systems skip the test against the best, which is one-sided and could contradict the pair's test.
    is_compared = len(order) > 2 and has_interval(sets)
    left = (best if is_compared else frozenset(order)) - {worse for _, worse in settled}
    near = tuple(system for system in order if system in level or system in left)
    return Front(
        level=level,
        others=len(others),
        sets=sets,
        may_be_best=near,
        ruled_out=tuple(system for system in order if system not in near),
        mean=averages[first].mean or 0.0,
        next_mean=next((averages[system].mean for system in others if system not in level), None),
    )


def _is_same(one: Average, other: Average) -> bool:
    return one.mean is not None and math.isclose(one.mean, other.mean or 0.0, abs_tol=1e-12)


def listed(names: Sequence[str]) -> str:
    """Write a list of names in words; if it is long, the first three and the number of the others."""
    rest = len(names) - NAMED_AT_MOST
    return str(get_text_list([*names[:NAMED_AT_MOST], *([f"{rest} more"] if rest > 0 else [])], "and"))
