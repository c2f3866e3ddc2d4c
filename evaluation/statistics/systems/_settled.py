"""What tests of pairs settle of an order: who is better for sure, and which ranks each system may have.

Ranks, ranges of ranks, letters and what is said of the leader all rest on this, so that none contradicts another.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.statistics.systems._significance import PairComparison


@dataclass(frozen=True, slots=True)
class SettledOrder:
    """`different` are the pairs that differ, the better first. `worse` are those that a system is surely ahead of.

    A pair of which the one with the lower mean is better on the sets that both have differs, and settles no rank.
    """

    different: frozenset[tuple[str, str]]
    worse: Mapping[str, frozenset[str]]

    def differ(self, one: str, other: str) -> bool:
        """Whether the two are told apart."""
        return (one, other) in self.different or (other, one) in self.different

    def ranks(self, system: str) -> tuple[int, int]:
        """The best and the worst rank that the system may have: behind all that are better, ahead of all worse."""
        better = sum(system in worse for worse in self.worse.values())
        return 1 + better, len(self.worse) - len(self.worse[system])


def settled_order(
    means: Mapping[str, float], compared: Sequence[PairComparison], *, level: float = 0.05
) -> SettledOrder:
    """What comparisons of systems settle of their order by mean, at this level after correction.

    What is better than one that is better than a third is better than the third too, whatever its own test says: where
    the first two are right, which after correction they are together, so is this. Hence of two systems that are not
    told apart the ranges of ranks overlap.
    Source: simultaneous intervals of ranks from tests of all pairs, Al Mohamad, Goeman and van Zwet, Simultaneous
    confidence intervals for ranks, 2022.
    Example: of a, b and c in that order with a better than b, and b than c: ranks 1, 2 and 3, and a differs from c.
    """
    pairs = [pair for pair in compared if pair.is_different(level) and pair.difference is not None]
    tested = [
        (pair.first, pair.second) if (pair.difference or 0.0) > 0 else (pair.second, pair.first)
        for pair in pairs
    ]
    worse: dict[str, frozenset[str]] = {}
    # From the lowest mean up, so that what is better than a worse one is known already.
    for system in sorted(means, key=means.__getitem__):
        own = {lesser for better, lesser in tested if better == system and means[lesser] < means[system]}
        worse[system] = frozenset(own.union(*(worse[lesser] for lesser in own)))
    ahead = {(system, lesser) for system, behind in worse.items() for lesser in behind}
    return SettledOrder(
        different=frozenset(ahead | {pair for pair in tested if pair[::-1] not in ahead}), worse=worse
    )
