"""Paired permutation tests of systems: all pairs with Holm's correction, and each system against the best.

The sign of a whole cluster is flipped. Judgments of one document depend on each other, so flips of single judgments
would report differences that do not exist.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from evaluation._guards import checked_share
from evaluation._means import mean
from evaluation.errors import EvaluationError
from evaluation.statistics._resampling import Floats, Integers, checked_finite, places_in_clusters, sums_by

PERMUTATION_DRAWS = 10_000
DRAWS_PER_PAIR = 100
EXACT_CLUSTERS = 14
"""Up to so many clusters all 2^n flips of signs are gone through, and nothing is left to chance."""

# The first round has the larger of PERMUTATION_DRAWS and DRAWS_PER_PAIR for each pair, so that even the
# smallest p can stand after correction; but a corrected p of 5 % then hangs on five flips or so, and on the
# seed. Hence fresh flips, unless the limits below allow no more than the first round had. That keeps what Holm
# promises at any level up to 20 %: how many fresh flips there are depends on the numbers of pairs and clusters
# alone, so each fresh p is a permutation p whatever the first flips gave; and pairs without one stay above 20
# %, for they follow the others.
LOOKED_AT_AGAIN = 0.2
"""Pairs whose corrected p is at most this by the first flips are tested by fresh ones, and more of them."""
FRESH_DRAWS_PER_PAIR = 8_000
"""Of so many flips for each pair compared 400 reach a difference whose p is 5 % after correction."""

# Both rounds together draw at most so many signs, and fresh flips give at most so many differences.
_MOST_SIGNS = 60_000_000
_MOST_FLIPPED = 600_000_000

# Flips are held for so many numbers at once, and for so many draws.
_NUMBERS_AT_ONCE = 1_000_000
_FLIPS_AT_ONCE = 8_192

# Means of flipped differences that are equal on paper may differ by this share of what was added up.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class PairComparison:
    """Two systems on the document sets that both have: `difference` is first minus second.

    `p` is two-sided and `adjusted_p` is Holm's, over all pairs compared together; all are None without a common set.
    """

    first: str
    second: str
    difference: float | None
    sets: int
    p: float | None
    adjusted_p: float | None
    is_exact: bool

    def is_different(self, level: float = 0.05) -> bool:
        """Whether the difference holds at this level after correction."""
        return self.adjusted_p is not None and self.adjusted_p <= level


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """The p-values adjusted so that the chance of any false finding among them stays below the level.

    Each in [0, 1] and never below what went in, in the same order. None stays None and is not counted as a test.
    Raises InvalidPercent for a value outside 0 to 1.
    Source: Holm, A simple sequentially rejective multiple test procedure, 1979.
    Example: `holm([0.01, 0.04, 0.03, 0.005])` is 0.03, 0.06, 0.06 and 0.02.
    """
    tested = [(checked_share("A p-value", p), place) for place, p in enumerate(p_values) if p is not None]
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, place) in enumerate(sorted(tested)):
        highest = max(highest, min(1.0, (len(tested) - rank) * p))
        adjusted[place] = highest
    return adjusted


def compare_systems(
    values: Mapping[str, Mapping[str, float]],
    clusters: Mapping[str, str] | None = None,
    *,
    draws: int | None = None,
    seed: int = 0,
) -> list[PairComparison]:
    """Every pair of systems by a paired permutation test on their common sets, corrected after Holm.

    `values[system][set]` is the system's mean within that document set, and `clusters[set]` the group that it belongs
    to: the signs of a whole group are flipped together. Without them each set is by itself. Means are over sets, so
    that a group weighs as much as it has sets in common. All pairs see the same flips.

    `draws` flips are drawn where it is given. By default there are two rounds: pairs whose corrected p is at most 20 %
    by the first are tested by more and fresh flips, whose p replaces the first one's.
    In the order of the systems. Up to 14 clusters in all, every test is exact.
    Raises EvaluationError for a value that is not finite, a set without a cluster or fewer than one draw.
    Example: three systems give three comparisons, each corrected for three.
    """
    pairs = list(combinations(values, 2))
    if not pairs:
        return []
    columns, columns_of, counts = _pair_columns(values, clusters)
    sets = counts.tolist()
    p_of = _pair_p_values(columns, columns_of, [count > 0 for count in sets], draws=draws, seed=seed)
    return [
        PairComparison(
            first=first,
            second=second,
            difference=mean(values[first][name] - values[second][name] for name in shared),
            sets=count,
            p=p,
            adjusted_p=adjusted,
            is_exact=len(columns) <= EXACT_CLUSTERS,
        )
        for (first, second), count, p, adjusted in zip(pairs, sets, p_of, holm(p_of), strict=True)
        for shared in [values[first].keys() & values[second].keys()]
    ]


def may_be_best(
    values: Mapping[str, Mapping[str, float]],
    clusters: Mapping[str, str] | None = None,
    *,
    level: float = 0.05,
    draws: int = PERMUTATION_DRAWS,
    seed: int = 0,
) -> frozenset[str]:
    """The systems that may have the highest mean: the best one is among them in 1 - `level` of studies.

    `values` and `clusters` as in `compare_systems`. For each system, t_j is the sum over clusters of the differences of
    another system j from it, divided by the root of the sum of their squares. The system is left out if at most `level`
    of the flips of signs reach the largest t_j by their own largest: one one-sided test per system, which covers all
    its rivals together and allows for their correlation. Pairs without a common set or any difference are not compared.
    Fewer than five clusters at a level of 5 % leave no system out.
    Raises EvaluationError for a value that is not finite, a set without a cluster or fewer than one draw.
    Source: Hsu, Constrained simultaneous confidence intervals for multiple comparisons with the best, 1984; with the
    distribution of the maximum by permutation, Westfall and Young, Resampling-based multiple testing, 1993.
    Example: of two systems that differ by 1 in each of five sets one flip in 32 reaches the sum: .031, so only the
    better one may be best. By all pairs the same difference has a two-sided p of .0625.
    """
    names = list(values)
    if len(names) < 2:
        return frozenset(names)
    columns, columns_of, _ = _pair_columns(values, clusters)
    pairs = list(zip(combinations(range(len(names)), 2), columns_of, strict=True))
    norms = [float(np.linalg.norm(_signed(columns.T, place))) for _, place in pairs]
    tested = [
        (pair, place, norm) for (pair, place), norm in zip(pairs, norms, strict=True) if norm > _ROUNDING
    ]

    def largest(sums: Floats) -> Floats:
        found = np.full((len(names), sums.shape[1]), -np.inf)
        for (one, other), place, norm in tested:
            ahead = _signed(sums, place) / norm
            np.maximum(found[other], ahead, out=found[other])
            np.maximum(found[one], -ahead, out=found[one])
        return found

    unflipped = columns.sum(axis=0)[:, np.newaxis]
    least = largest(unflipped) - _ROUNDING * len(columns)
    reached = np.zeros(len(names))
    for flips in _flips(len(columns), draws, seed):
        reached += (largest(unflipped - 2 * (columns.T @ flips.T)) >= least).sum(axis=1)
    drawn = 0 if len(columns) <= EXACT_CLUSTERS else 1
    made = draws + 1 if drawn else 2 ** len(columns)
    return frozenset(name for name, p in zip(names, (reached + drawn) / made, strict=True) if p > level)


def _pair_columns(
    values: Mapping[str, Mapping[str, float]], clusters: Mapping[str, str] | None
) -> tuple[Floats, Integers, Integers]:
    """Sums over clusters; by pair the column or the two columns of its difference, and the number of common sets."""
    names = sorted({name for column in values.values() for name in column})
    shape = (len(names), len(values))
    cells = [[column.get(name) for column in values.values()] for name in names]
    matrix = np.array([[checked_finite(cell or 0.0) for cell in row] for row in cells]).reshape(shape)
    present = np.array([[cell is not None for cell in row] for row in cells], dtype=np.bool_).reshape(shape)
    places = np.array(list(combinations(range(len(values)), 2)))
    common = np.asarray(present[:, places].all(axis=2))
    in_clusters, sets = places_in_clusters(names, clusters), common.sum(axis=0)
    if common.all():
        # A flip of a difference is the difference of two flips: one product per system instead of one per pair.
        return sums_by(*in_clusters, matrix), places, sets
    apart = np.where(common, matrix[:, places[:, 0]] - matrix[:, places[:, 1]], 0.0)
    return sums_by(*in_clusters, apart), np.arange(len(places))[:, np.newaxis], sets


def _pair_p_values(
    columns: Floats, places: Integers, is_tested: Sequence[bool], *, draws: int | None, seed: int
) -> list[float | None]:
    """The p of each pair, None where it is not tested, by one round of flips or by two."""
    clusters, pairs = len(columns), len(places)

    def tested(p_values: Sequence[float]) -> list[float | None]:
        return [p if is_one else None for p, is_one in zip(p_values, is_tested, strict=True)]

    if draws is not None:
        return tested(_p_values(columns, places, draws=draws, seed=seed))
    first = max(PERMUTATION_DRAWS, DRAWS_PER_PAIR * pairs)
    found = tested(_p_values(columns, places, draws=first, seed=seed))
    fresh = _fresh_draws(clusters, pairs, first)
    again = [place for place, p in enumerate(holm(found)) if fresh and p is not None and p <= LOOKED_AT_AGAIN]
    for place, p in zip(
        again, _p_values(columns, places[again], draws=fresh, seed=(seed, 1)) if again else (), strict=True
    ):
        found[place] = p
    return found


def _fresh_draws(clusters: int, pairs: int, first: int) -> int:
    """How many flips the second round has: none where all were gone through, or it would have no more than the first.

    Of what the numbers are it depends on nothing, so that p stays a permutation p whatever they are.
    """
    if clusters <= EXACT_CLUSTERS:
        return 0
    fresh = min(FRESH_DRAWS_PER_PAIR * pairs, _MOST_SIGNS // clusters - first, _MOST_FLIPPED // pairs)
    return fresh if fresh > first else 0


def _p_values(columns: Floats, places: Integers, *, draws: int, seed: int | tuple[int, ...]) -> list[float]:
    """The p of each place: that of one column's sum, or of the difference between two columns' sums."""
    clusters = len(columns)
    slack = _ROUNDING * np.abs(columns).sum(axis=0)[places].sum(axis=1)
    unflipped = columns.sum(axis=0)[:, np.newaxis]
    seen = [
        float(abs(_signed(unflipped, place)[0])) - slip for place, slip in zip(places, slack, strict=True)
    ]
    reached = np.zeros(len(places), dtype=np.int64)
    made = 0
    rows = np.ascontiguousarray(columns.T)
    for flips in _flips(clusters, draws, seed):
        sums = unflipped - 2 * (rows @ flips.T)
        # Pair by pair: what a comparison needs stays within a processor's cache.
        reached += [
            np.count_nonzero(np.abs(_signed(sums, place)) >= least)
            for place, least in zip(places, seen, strict=True)
        ]
        made += len(flips)
    drawn = 0 if clusters <= EXACT_CLUSTERS else 1
    p_values: list[float] = ((reached + drawn) / (made + drawn)).tolist()
    return p_values


def _signed(sums: Floats, place: Integers) -> Floats:
    """One row of sums, or the first of two less the second."""
    signed: Floats = sums[place[0]] if len(place) == 1 else sums[place[0]] - sums[place[1]]
    return signed


def _flips(clusters: int, draws: int, seed: int | tuple[int, ...]) -> Iterator[Floats]:
    """1 where a cluster's sign is flipped, shape (some draws, clusters): all ways where they are few, else drawn."""
    if draws < 1:
        raise EvaluationError(f"The number of draws must be at least 1, got {draws}.")
    if clusters <= EXACT_CLUSTERS:
        yield (np.arange(2**clusters)[:, np.newaxis] >> np.arange(clusters) & 1).astype(np.float64)
        return
    generator = np.random.default_rng(seed)
    # Whole words of random bits, so that how much is held at once changes no draw.
    step = max(1, min(_FLIPS_AT_ONCE, _NUMBERS_AT_ONCE // clusters) // 32) * 32
    for start in range(0, draws, step):
        rows = min(step, draws - start)
        bits = np.unpackbits(np.frombuffer(generator.bytes(-(-rows * clusters // 8)), dtype=np.uint8))
        yield bits[: rows * clusters].reshape(rows, clusters).astype(np.float64)
