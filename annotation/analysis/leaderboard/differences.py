"""Every pair of systems compared by permutation tests with Holm's correction."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from annotation.analysis.estimates.estimates import SIDES, estimates
from annotation.analysis.figures import Computed
from annotation.analysis.leaderboard.averages import CONFIDENCE, SEED
from annotation.analysis.leaderboard.leaderboard import RANKABLE, means_at
from annotation.analysis.leaderboard.ranking import SIGNIFICANCE_LEVEL
from annotation.core.refusals import Invalid
from evaluation.statistics import PairComparison, compare_systems, settled_order

if TYPE_CHECKING:
    from annotation.models import Project

WITHOUT_TARGET = "none"
HEATS = 5
"""The number of shades in the matrix of differences."""


@dataclass(frozen=True, slots=True)
class SystemPair:
    """Two systems on their common document sets; `difference` is first minus second.

    `p` and `adjusted_p` (Holm) come from the permutation test, or for estimates from Student's t. `holds`
    is True if the difference is significant by the test or follows from others (`settled_order`). Figures
    are None without a result.
    """

    first: str
    second: str
    sets: int
    difference: float | None
    p: float | None
    adjusted_p: float | None
    holds: bool


@dataclass(frozen=True, slots=True)
class Differences(Computed):
    """All pairs of systems by one score at one target length, smallest p first.

    `has_gaps` is True if a system lacks sets, so that differences may not match those of the leaderboard's means.
    `by_group` is True if groups of sets were flipped together, `is_exact` if all flips were enumerated.
    """

    score: str
    target_words: int | None
    pairs: tuple[SystemPair, ...]
    is_exact: bool
    has_gaps: bool
    by_group: bool
    level: float = SIGNIFICANCE_LEVEL
    confidence: float = CONFIDENCE
    seed: int = SEED

    @property
    def holding(self) -> int:
        """The number of differences that hold after Holm's correction."""
        return sum(pair.holds for pair in self.pairs)


def differences(project: Project, *, score: str, target_words: int | None) -> Differences:
    """Compare all pairs of systems by a score, smallest p first. Raises Invalid for an unknown score."""
    if score not in RANKABLE:
        raise Invalid(f"Systems cannot be compared by {score!r}.", field="score", code="unknown_score")
    if score in SIDES:
        return _of_estimates(project, score, target_words)
    found = means_at(project, target_words)
    values = {system: of_system for system, of_system in found.of(score).items() if of_system}
    # With the better system first, most differences are positive.
    order = sorted(values, key=lambda system: (-fmean(values[system].values()), system))
    values = {system: values[system] for system in order}
    cluster_of = found.clusters_by_set()
    compared = compare_systems(values, cluster_of, seed=SEED)
    settled = settled_order({system: fmean(of.values()) for system, of in values.items()}, compared)
    return Differences(
        score=score,
        target_words=target_words,
        pairs=_pairs(compared, settled),
        is_exact=all(pair.is_exact for pair in compared),
        has_gaps=len({frozenset(of_system) for of_system in values.values()}) > 1,
        by_group=len(set(found.clusters)) < len(found.sets),
    )


def _of_estimates(project: Project, score: str, target_words: int | None) -> Differences:
    table = estimates(project, SIDES[score]).at(target_words)
    means = {system: table.average(system).mean or 0.0 for system in table.systems or {}}
    settled = settled_order(means, table.compared, level=table.level)
    return Differences(
        score=score,
        target_words=target_words,
        pairs=_pairs(table.compared, settled),
        is_exact=False,
        has_gaps=False,
        by_group=False,
        level=table.level,
    )


def _pairs(compared: Iterable[PairComparison], settled: frozenset[tuple[str, str]]) -> tuple[SystemPair, ...]:
    pairs = (
        SystemPair(
            first=pair.first,
            second=pair.second,
            sets=pair.sets,
            difference=pair.difference,
            p=pair.p,
            adjusted_p=pair.adjusted_p,
            holds=bool({(pair.first, pair.second), (pair.second, pair.first)} & settled),
        )
        for pair in compared
    )
    return tuple(sorted(pairs, key=_surest_first))


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """A cell of the matrix. Above the diagonal: the difference, row minus column; below it: its corrected p.

    `heat` (1 to 5) is the size of a significant difference relative to the largest one, 0 for other
    differences.
    """

    pair: SystemPair
    is_above: bool
    heat: int


def matrix(found: Differences) -> list[tuple[str, list[MatrixCell | None]]]:
    """The systems, best first, each compared with all; None on the diagonal."""
    # The better system of a pair is named first, so a system that is first more often has the higher mean.
    leads = Counter(pair.first for pair in found.pairs)
    names = {name for pair in found.pairs for name in (pair.first, pair.second)}
    order = sorted(names, key=lambda name: (-leads[name], name))
    largest = max((abs(pair.difference or 0.0) for pair in found.pairs), default=0.0)
    cells: dict[tuple[str, str], MatrixCell] = {}
    for pair in found.pairs:
        heat = math.ceil(HEATS * abs(pair.difference or 0.0) / largest) if pair.holds else 0
        cells[pair.first, pair.second] = MatrixCell(pair, True, heat)
        cells[pair.second, pair.first] = MatrixCell(pair, False, heat)
    return [(row, [cells.get((row, column)) for column in order]) for row in order]


def key(score: str, target_words: int | None) -> str:
    """The key of the stored differences."""
    return f"{score} {target_word(target_words)}"


def target_word(target_words: int | None) -> str:
    """The name of a target length in keys and addresses."""
    return WITHOUT_TARGET if target_words is None else str(target_words)


def named(words: str) -> dict[str, Any]:
    """The arguments of `differences` for a key."""
    score, _, target = words.partition(" ")
    return {"score": score, "target_words": None if target == WITHOUT_TARGET else int(target)}


def _surest_first(pair: SystemPair) -> tuple[float, float, str, str]:
    adjusted = 2.0 if pair.adjusted_p is None else pair.adjusted_p
    return adjusted, -abs(pair.difference or 0.0), pair.first, pair.second
