"""Paired permutation tests between systems, and the groups of systems that do not differ.

Permutations flip the signs of whole clusters.
"""

import string
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from evaluation._guards import check_choice, checked_share
from evaluation._means import mean
from evaluation.errors import EvaluationError
from evaluation.statistics._resampling import Floats, Integers, checked_finite, sums_by

PERMUTATION_DRAWS = 10_000
DRAWS_PER_PAIR = 100
EXACT_CLUSTERS = 14
"""Up to this number of clusters, all 2^n flips of signs are enumerated."""

# The first round uses PERMUTATION_DRAWS flips, or DRAWS_PER_PAIR per pair if that is more. Pairs near the limit are
# tested again with more, new flips, unless the limits below allow no more flips than in the first round. The number of
# new flips depends only on the numbers of pairs and clusters, so each new p is a valid permutation p.
LOOKED_AT_AGAIN = 0.2
"""Pairs with a corrected p up to this value in the first round are tested again with more, new flips."""
FRESH_DRAWS_PER_PAIR = 8_000
"""The number of new flips is this times the number of pairs, unless the limits below allow only fewer."""

# The limits on the number of signs, and on the differences from new flips, in both rounds together.
_MOST_SIGNS = 60_000_000
_MOST_FLIPPED = 600_000_000

# The numbers of values and of flips in memory at once.
_NUMBERS_AT_ONCE = 1_000_000
_FLIPS_AT_ONCE = 8_192

# Equal means of flipped differences may differ by this part of the sum, because of rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class PairComparison:
    """A comparison of two systems; `difference` is first minus second, and `sets` counts document sets.

    `p` is two-sided. `adjusted_p` has Holm's correction over all pairs that were compared together. `difference`, `p`
    and `adjusted_p` are None if `compare_systems` finds no common set; `p` and `adjusted_p` are also None if the pair
    was not tested.
    """

    first: str
    second: str
    difference: float | None
    sets: int
    p: float | None
    adjusted_p: float | None
    is_exact: bool

    def is_different(self, level: float = 0.05) -> bool:
        """Return True if the difference is significant at this level after correction."""
        return self.adjusted_p is not None and self.adjusted_p <= level


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Compute Holm's adjusted p-values, which limit the probability of any false finding to the level.

    Each result is in [0, 1], at least the original p, and in the same order. None stays None and is not a test.
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
    """Compare every pair of systems by a paired permutation test on their common sets, with Holm's correction.

    `values[system][set]` is the system's mean within a document set. `clusters[set]` is a group of sets whose signs are
    flipped together; without clusters, each set is a group of its own. Means are over sets, so a group with more common
    sets weighs more. All pairs use the same flips, and `draws` sets their number. By default there are two rounds: the
    second tests pairs with a corrected p of at most 20 % again with more, new flips, unless there are too many pairs or
    clusters. The new p replaces the first. With up to 14 clusters, every test is exact. The result is in the order of
    the systems. Raises EvaluationError for a value that is not finite, a set without a cluster or fewer than one flip.
    Example: three systems give three comparisons; each p is corrected for three tests.
    """
    pairs = list(combinations(values, 2))
    if not pairs:
        return []
    columns, places, sets = _pair_columns(values, clusters)
    is_exact = len(columns) <= EXACT_CLUSTERS
    draws_of_first = max(PERMUTATION_DRAWS, DRAWS_PER_PAIR * len(pairs)) if draws is None else draws
    found = _p_values(columns, places, draws=draws_of_first, seed=seed)
    if draws is None and not is_exact:
        most = _MOST_SIGNS // len(columns) - draws_of_first, _MOST_FLIPPED // len(pairs)
        fresh = min(FRESH_DRAWS_PER_PAIR * len(pairs), *most)
        adjusted = holm([p if count else None for p, count in zip(found, sets, strict=True)])
        again = [place for place, p in enumerate(adjusted) if p is not None and p <= LOOKED_AT_AGAIN]
        if again and fresh > draws_of_first:
            found[again] = _p_values(columns, places[again], draws=fresh, seed=(seed, 1))
    p_of = [p if count else None for p, count in zip(found.tolist(), sets, strict=True)]
    differences = [
        mean(value - values[other][name] for name, value in values[one].items() if name in values[other])
        for one, other in pairs
    ]
    return [
        PairComparison(*pair, difference, count, p, adjusted, is_exact=is_exact)
        for pair, difference, count, p, adjusted in zip(
            pairs, differences, sets, p_of, holm(p_of), strict=True
        )
    ]


def may_be_best(
    values: Mapping[str, Mapping[str, float]],
    clusters: Mapping[str, str] | None = None,
    *,
    level: float = 0.05,
    draws: int = PERMUTATION_DRAWS,
    seed: int = 0,
) -> frozenset[str]:
    """Return the systems that may have the highest mean, at the confidence 1 - `level`.

    `values` and `clusters` are as in `compare_systems`. Each system has one one-sided test against all its rivals
    together, which allows for their correlation. For each rival j, t_j is the sum over clusters of j's differences from
    the system, divided by the root of the sum of squares. Flips of signs give other values of the largest t_j. The
    system is left out if at most `level` of the flips reach the observed largest t_j. Pairs without a common set or
    without any difference are not compared. With fewer than five clusters, a level of 5 % leaves no system out.
    Raises EvaluationError for a value that is not finite, a set without a cluster or fewer than one flip.
    Source: Hsu, Constrained simultaneous confidence intervals for multiple comparisons with the best, 1984; with
    the distribution of the maximum by permutation, Westfall and Young, Resampling-based multiple testing, 1993.
    Example: two systems differ by 1 in each of five sets. One flip in 32 reaches the sum, so p is .031 and only the
    better system may be best. The two-sided p of `compare_systems` is .0625.
    """
    if len(values) < 2:
        return frozenset(values)
    columns, places, _ = _pair_columns(values, clusters)
    rows = columns.T
    pairs = [
        (pair, place, norm)
        for pair, place in zip(combinations(range(len(values)), 2), places, strict=True)
        if (norm := float(np.linalg.norm(rows[place[0]] - rows[place[1]]))) > _ROUNDING
    ]

    def largest(sums: Floats) -> Floats:
        found = np.full((len(values), sums.shape[1]), -np.inf)
        for (one, other), place, norm in pairs:
            ahead = (sums[place[0]] - sums[place[1]]) / norm
            np.maximum(found[other], ahead, out=found[other])
            np.maximum(found[one], -ahead, out=found[one])
        return found

    unflipped = rows.sum(axis=1, keepdims=True)
    least = largest(unflipped) - _ROUNDING * len(columns)
    drawn = int(len(columns) > EXACT_CLUSTERS)
    reached, made = np.full(len(values), drawn), drawn
    for flips in _flips(len(columns), draws, seed):
        reached += (largest(unflipped - 2 * (rows @ flips.T)) >= least).sum(axis=1)
        made += len(flips)
    return frozenset(name for name, p in zip(values, reached / made, strict=True) if p > level)


def _pair_columns(
    values: Mapping[str, Mapping[str, float]], clusters: Mapping[str, str] | None
) -> tuple[Floats, Integers, list[int]]:
    """Return the sums over clusters, and for each pair its two columns and its number of common sets."""
    names = sorted({name for column in values.values() for name in column})
    if missing := [name for name in names if clusters is not None and name not in clusters]:
        raise EvaluationError(f"{missing[0]!r} belongs to no cluster.")
    cluster_of = [name if clusters is None else clusters[name] for name in names]
    known = {cluster: place for place, cluster in enumerate(sorted(set(cluster_of)))}
    in_clusters = np.array([known[cluster] for cluster in cluster_of], dtype=np.intp)
    cells = [
        [checked_finite(column[name]) if name in column else np.nan for column in values.values()]
        for name in names
    ]
    matrix = np.array(cells).reshape(len(names), len(values))
    places = np.array(list(combinations(range(len(values)), 2)))
    common = np.isfinite(matrix)[:, places].all(axis=2)
    if not common.all():
        # Some systems lack sets, so one column per system is not enough. Make one column per pair, with the
        # differences on the common sets, and a column of zeros as the second column of every pair.
        apart = np.where(common, matrix[:, places[:, 0]] - matrix[:, places[:, 1]], 0.0)
        matrix = np.column_stack([apart, np.zeros(len(names))])
        places = np.column_stack([np.arange(len(places)), np.full(len(places), len(places))])
    return sums_by(in_clusters, len(known), matrix), places, common.sum(axis=0).tolist()


def _p_values(columns: Floats, places: Integers, *, draws: int, seed: int | tuple[int, ...]) -> Floats:
    """Compute the p of each pair: the share of flips with at least the observed difference between the two columns'
    sums.
    """
    rows = np.ascontiguousarray(columns.T)
    unflipped = rows.sum(axis=1, keepdims=True)
    slack = _ROUNDING * np.abs(rows).sum(axis=1)[places].sum(axis=1)
    least = np.abs(unflipped[places[:, 0], 0] - unflipped[places[:, 1], 0]) - slack
    drawn = int(len(columns) > EXACT_CLUSTERS)
    reached, made = np.full(len(places), drawn), drawn
    for flips in _flips(len(columns), draws, seed):
        sums = unflipped - 2 * (rows @ flips.T)
        reached += [
            np.count_nonzero(np.abs(sums[one] - sums[other]) >= bar)
            for (one, other), bar in zip(places, least, strict=True)
        ]
        made += len(flips)
    found: Floats = reached / made
    return found


def _flips(clusters: int, draws: int, seed: int | tuple[int, ...]) -> Iterator[Floats]:
    """Yield arrays of shape (some draws, clusters) with 1 for flipped clusters.

    All flips are enumerated if there are few, otherwise they are drawn at random.
    """
    if draws < 1:
        raise EvaluationError(f"The number of draws must be at least 1, got {draws}.")
    if clusters <= EXACT_CLUSTERS:
        yield (np.arange(2**clusters)[:, np.newaxis] >> np.arange(clusters) & 1).astype(np.float64)
        return
    generator = np.random.default_rng(seed)
    # Draw flips in multiples of 32, so that the size of parts does not change the flips.
    step = max(1, min(_FLIPS_AT_ONCE, _NUMBERS_AT_ONCE // clusters) // 32) * 32
    for start in range(0, draws, step):
        rows = min(step, draws - start)
        bits = np.unpackbits(np.frombuffer(generator.bytes(-(-rows * clusters // 8)), dtype=np.uint8))
        yield bits[: rows * clusters].reshape(rows, clusters).astype(np.float64)


def settled_order(
    means: Mapping[str, float], compared: Sequence[PairComparison], *, level: float = 0.05
) -> frozenset[tuple[str, str]]:
    """Return the pairs of systems that differ at this level after correction, each with the better system first.

    A pair also differs if a chain connects it: if a is better than b and b is better than c, then a is better than c.
    Chains use only pairs in which the better system has the higher mean. If the system with the lower mean is better on
    the common sets, the pair differs as tested, but extends no chain. If a chain gives the opposite order, the chain's
    order is returned. Source: simultaneous intervals of ranks from tests of all pairs, Al Mohamad, Goeman and van Zwet,
    Simultaneous confidence intervals for ranks, 2022. Example: the order is a, b, c; a is better than b, and b than c.
    Then a also differs from c.
    """
    pairs = [pair for pair in compared if pair.is_different(level) and pair.difference is not None]
    tested = [
        (pair.first, pair.second) if (pair.difference or 0.0) > 0 else (pair.second, pair.first)
        for pair in pairs
    ]
    worse: dict[str, frozenset[str]] = {}
    # Start with the lowest mean, so that `worse[lesser]` is complete before a better system needs it.
    for system in sorted(means, key=means.__getitem__):
        own = {lesser for better, lesser in tested if better == system and means[lesser] < means[system]}
        worse[system] = frozenset(own.union(*(worse[lesser] for lesser in own)))
    ahead = {(system, lesser) for system, behind in worse.items() for lesser in behind}
    return frozenset(ahead | {pair for pair in tested if pair[::-1] not in ahead})


def indistinct_groups(
    order: Sequence[str], different: Collection[tuple[str, str]]
) -> tuple[tuple[str, ...], ...]:
    """Find the largest groups of systems in which no two systems differ, as lines beside a table show them.

    `order` names all systems, best first; `different` has the pairs that differ, in either order. Two systems share a
    group exactly if they do not differ. The members of a group need not be neighbours in `order`. Groups are ordered
    by their best members, then by their second-best, and so on.
    Raises EvaluationError for a pair with a system that `order` does not name, or a duplicate name.
    Source: Piepho, An algorithm for a letter-based representation of all-pairwise comparisons, 2004 (insert and
    absorb).
    Example: of a, b and c, only a and c differ. The groups are (a, b) and (b, c).
    """
    if len(set(order)) < len(order):
        raise EvaluationError(f"A system stands twice in the order {list(order)!r}.")
    for pair in different:
        for name in pair:
            check_choice("A compared system", name, order)
    bit = {system: 1 << place for place, system in enumerate(order)}
    groups = [(1 << len(order)) - 1] if order else []
    for one, other in sorted(different, key=lambda pair: sorted((bit[pair[0]], bit[pair[1]]))):
        both = bit[one] | bit[other]
        kept = [group for group in groups if group & both != both]
        parts = [group ^ bit[own] for group in groups if group & both == both for own in (one, other)]
        # No group contains another group, so only a group in `kept` can contain a part.
        groups = [*kept, *(part for part in parts if all(part & group != part for group in kept))]
    named = [[place for place in range(len(order)) if group >> place & 1] for group in groups]
    return tuple(tuple(order[place] for place in group) for group in sorted(named))


def compact_letters(order: Sequence[str], groups: Sequence[Collection[str]]) -> dict[str, str]:
    """Assign letters to systems, such that two systems share a letter exactly if they share a group.

    "a" belongs to the first of the groups, which `indistinct_groups` makes. After 26 groups the letters are "a1",
    "b1" and so on. A system that is in no group gets no letters.
    Raises KeyError for a system that `order` does not name.
    Example: of a, b and c in the groups (a, b) and (b, c): "a", "ab" and "b".
    """
    letters = dict.fromkeys(order, "")
    for number, group in enumerate(groups):
        round_, place = divmod(number, len(string.ascii_lowercase))
        for system in group:
            letters[system] += string.ascii_lowercase[place] + (str(round_) if round_ else "")
    return letters
