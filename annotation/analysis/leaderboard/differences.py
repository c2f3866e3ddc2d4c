"""Every pair of systems compared by permutation, with Holm's correction."""

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
"""Steps of shading in the matrix of differences."""


@dataclass(frozen=True, slots=True)
class SystemPair:
    """Two systems on the document sets that both have; `difference` is first minus second.

    `p` and `adjusted_p` (Holm's) come of the permutation test, of estimates of Student's t; a difference `holds` by it,
    or because it follows from others (`settled_order`). None where nothing can be said.
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
    """All pairs of systems by one score at one target length.

    `has_gaps` says that some system lacks sets, so that differences may not be those of the leaderboard's means, which
    are over all sets of each system. `by_group` says that groups of sets were flipped together, `is_exact` that all
    flips were enumerated. The surest difference comes first.
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
        """How many differences hold after Holm's correction."""
        return sum(pair.holds for pair in self.pairs)


def differences(project: Project, *, score: str, target_words: int | None) -> Differences:
    """All pairs of systems by a score, the surest difference first. Raises Invalid for what is no score."""
    if score not in RANKABLE:
        raise Invalid(f"Systems cannot be compared by {score!r}.", field="score", code="unknown_score")
    if score in SIDES:
        return _of_estimates(project, score, target_words)
    found = means_at(project, target_words)
    values = {system: of_system for system, of_system in found.of(score).items() if of_system}
    # The better system comes first, so that differences are mostly positive.
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
    """All pairs of estimates."""
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
    """Where two systems meet: their difference, row minus column, above the diagonal, its corrected p below.

    `heat` says from 1 to 5 how large a difference is that holds, beside the largest one; 0 where it does not hold.
    """

    pair: SystemPair
    is_above: bool
    heat: int


def matrix(found: Differences) -> list[tuple[str, list[MatrixCell | None]]]:
    """The systems, the best first, each against all; None on the diagonal."""
    # Pairs name the better system first: who is named first more often has the higher mean.
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
    """The key under which the differences are stored."""
    return f"{score} {target_word(target_words)}"


def target_word(target_words: int | None) -> str:
    """How a key or an address names a target length."""
    return WITHOUT_TARGET if target_words is None else str(target_words)


def named(words: str) -> dict[str, Any]:
    """The differences that `key` names, as `differences` takes them."""
    score, _, target = words.partition(" ")
    return {"score": score, "target_words": None if target == WITHOUT_TARGET else int(target)}


def _surest_first(pair: SystemPair) -> tuple[float, float, str, str]:
    adjusted = 2.0 if pair.adjusted_p is None else pair.adjusted_p
    return adjusted, -abs(pair.difference or 0.0), pair.first, pair.second
