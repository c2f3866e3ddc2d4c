"""Which systems tests of pairs tell apart. Letters and the headline rest on this, so that none contradicts another."""

from collections.abc import Mapping, Sequence

from evaluation.statistics.systems._significance import PairComparison


def settled_order(
    means: Mapping[str, float], compared: Sequence[PairComparison], *, level: float = 0.05
) -> frozenset[tuple[str, str]]:
    """The pairs of systems that differ at this level after correction, the better one first.

    What is better than one that is better than a third is better than the third too, whatever its own test says: if
    the first two are right, which after correction they are together, so is this. A pair of which the one with the
    lower mean is better on the sets that both have differs, too.
    Source: simultaneous intervals of ranks from tests of all pairs, Al Mohamad, Goeman and van Zwet, Simultaneous
    confidence intervals for ranks, 2022.
    Example: of a, b and c in that order with a better than b, and b than c: a differs from c.
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
    return frozenset(ahead | {pair for pair in tested if pair[::-1] not in ahead})
