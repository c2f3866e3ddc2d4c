"""How sure the order of the systems is: ranges of ranks, and which differences hold after correction."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from annotation.queries.averages import CONFIDENCE, DRAWS, SEED
from annotation.queries.intervals import has_interval
from evaluation import PairComparison, compact_letters, compare_systems, indistinct_groups, rank_ranges

if TYPE_CHECKING:
    from annotation.queries.averages import Average, SetMeans

LEVEL = 0.05
"""Differences hold where chance alone would show any so large in fewer than 5 of 100 such tables."""
NAMED_AT_MOST = 3


@dataclass(frozen=True, slots=True)
class Place:
    """A system's range of ranks, None twice where its mean has no interval, and its letters.

    Systems that share a letter cannot be told apart; `group_marks` says of each group of the ranking in turn whether
    the system stands in it.
    """

    low: int | None
    high: int | None
    letters: str
    group_marks: tuple[bool, ...]

    @classmethod
    def read(cls, stored: dict[str, Any]) -> Place:
        return cls(**stored | {"group_marks": tuple(stored["group_marks"])})


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
    sentence: str
    level: float = LEVEL

    @classmethod
    def read(cls, stored: dict[str, Any]) -> Ranking:
        return cls(
            **stored
            | {
                "places": {name: Place.read(place) for name, place in stored["places"].items()},
                "groups": tuple(tuple(group) for group in stored["groups"]),
            }
        )

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
    different = [(pair.first, pair.second) for pair in compared if pair.is_different(LEVEL)]
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
        sentence=sentence(order, averages, compared, clusters=len(clusters)),
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


def sentence(
    order: Sequence[str],
    averages: Mapping[str, Average],
    compared: Sequence[PairComparison],
    *,
    clusters: int,
) -> str:
    """What the order says in words: who leads, and whom the tests cannot tell from the leader."""
    if not order:
        return "No system has this score yet."
    first, *others = order
    if not others:
        return f"{first} is the only system with this score."
    level = [system for system in order if _is_same(averages[system], averages[first])]
    if len(level) > 1:
        return f"{listed(level)} are level in front."
    return _too_little(averages[first], compared, clusters, first) or _told_apart(first, others, compared)


def _too_little(best: Average, compared: Sequence[PairComparison], clusters: int, first: str) -> str:
    """Why nothing can be said of how surely the first is ahead; empty where something can."""
    if not has_interval(best.n):
        told = "1 document set is" if best.n == 1 else f"{best.n} document sets are"
        return f"{first} is ahead, but {told} too few to say how surely."
    least = least_p(compared, clusters)
    if least is None or least <= LEVEL:
        return ""
    return (
        f"{first} is ahead, but with {clusters} document sets and {len(compared):,} "
        f"{'pair' if len(compared) == 1 else 'pairs'} of systems no difference could hold after correction."
    )


def _told_apart(first: str, others: Sequence[str], compared: Sequence[PairComparison]) -> str:
    near, above = _near_and_above(first, others, compared)
    if above:
        return (
            f"{first} has the highest mean, but on the document sets that both have {listed(above)} "
            f"{'is' if len(above) == 1 else 'are'} better."
        )
    if not near:
        over = _sets_in_words(first, others, compared)
        return f"{first} leads: over {over} its difference from every other system holds."
    near_words = "any other system" if len(near) == len(others) else listed(near)
    over = _sets_in_words(first, near, compared)
    return f"{first} is ahead, but over {over} it cannot be told apart from {near_words}."


def _sets_in_words(first: str, others: Collection[str], compared: Sequence[PairComparison]) -> str:
    """On how many sets the first was compared with these: a system that lacks some is compared on fewer."""
    counts = {
        pair.sets
        for pair in compared
        if (pair.first == first and pair.second in others) or (pair.second == first and pair.first in others)
    }
    if len(counts) == 1:
        return f"{counts.pop()} document sets"
    return f"the document sets that both have ({min(counts)} to {max(counts)})"


def _near_and_above(
    first: str, others: Sequence[str], compared: Sequence[PairComparison]
) -> tuple[list[str], list[str]]:
    """The systems that cannot be told apart from this one, and those that are better than it on common sets.

    Both in the order of `others`, so that those named of many are the next ones.
    """
    near, above = set(), set()
    for pair in compared:
        if first not in (pair.first, pair.second):
            continue
        other = pair.second if pair.first == first else pair.first
        ahead = (pair.difference or 0.0) * (1 if pair.first == first else -1)
        if not pair.is_different(LEVEL):
            near.add(other)
        elif ahead < 0:
            above.add(other)
    return [other for other in others if other in near], [other for other in others if other in above]


def _is_same(one: Average, other: Average) -> bool:
    return one.mean is not None and math.isclose(one.mean, other.mean or 0.0, abs_tol=1e-12)


def listed(names: Sequence[str]) -> str:
    """Names as words, of many the first few."""
    shown = list(names[:NAMED_AT_MOST])
    rest = len(names) - len(shown)
    if rest:
        return f"{', '.join(shown)} and {rest} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]
