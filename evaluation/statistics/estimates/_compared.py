"""Differences between systems' estimates from recorded draws, paired by document."""

import math
from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations

import numpy as np
import scipy
from numpy.typing import NDArray

from evaluation.statistics.estimates._sample_estimates import SampleEstimate
from evaluation.statistics.systems._significance import PairComparison, holm

_NO_ERROR = 1e-12


def compare_estimates(found: Mapping[str, SampleEstimate]) -> list[PairComparison]:
    """Every pair of estimates by Student's t over the documents of both, corrected after Holm.

    What chance does to one document moves both systems' estimates: with u_d the part of document d in the error of one
    and v_d in that of the other, the difference has the error sqrt(sum of (u_d - v_d)^2), as many degrees of freedom as
    the estimate that has fewer. `sets` counts the documents with an answer of the system that has fewer. Pairs without
    two errors, or whose parts are all alike, are not tested. In the order of the systems.
    Example: estimates .6 and .4 with the parts .1, -.1 and .1, -.1 over the same two documents have no error that one
    has not, so nothing is tested; with .1, -.1 and -.1, .1 the error is sqrt(.04 + .04) = .28.
    """
    names = [name for name, estimate in found.items() if estimate.estimate is not None]
    parts = _as_rows([found[name].parts for name in names])
    tested: list[tuple[str, str, float, int, float | None]] = []
    for one, other in combinations(range(len(names)), 2):
        first, second = found[names[one]], found[names[other]]
        apart = (first.estimate or 0.0) - (second.estimate or 0.0)
        error = math.sqrt(float(((parts[one] - parts[other]) ** 2).sum()))
        degrees = min(first.degrees, second.degrees)
        sets = min(first.answered_documents, second.answered_documents)
        is_tested = first.error is not None and second.error is not None and error > _NO_ERROR
        p = 2 * float(scipy.special.stdtr(degrees, -abs(apart) / error)) if is_tested else None
        tested.append((names[one], names[other], apart, sets, p))
    return [
        PairComparison(first, second, apart, sets, p, adjusted, is_exact=False)
        for (first, second, apart, sets, p), adjusted in zip(
            tested, holm([p for *_, p in tested]), strict=True
        )
    ]


def best_estimates(compared: Sequence[PairComparison], *, level: float = 0.05) -> frozenset[str]:
    """The systems of these pairs that may be best: the best one is among them in 1 - `level` of studies.

    `compared` holds every pair of k systems. A system is left out if another one is ahead of it with a one-sided p of
    at most `level` / (k - 1), which is Bonferroni's correction over its rivals. A pair without a p leaves none out.
    Source: Hsu, Constrained simultaneous confidence intervals for multiple comparisons with the best, 1984.
    Example: of three systems, one that is behind another with a two-sided p of .05 is left out: .05 / 2 <= .05 / 2.
    """
    systems = {name for pair in compared for name in (pair.first, pair.second)}
    return frozenset(
        systems
        - {
            pair.second if (pair.difference or 0.0) > 0 else pair.first
            for pair in compared
            if pair.p is not None and pair.p / 2 * (len(systems) - 1) <= level
        }
    )


def _as_rows(parts: Sequence[Mapping[Hashable, float]]) -> NDArray[np.float64]:
    """What each document adds to each error; nothing where it has no part."""
    names = dict.fromkeys(name for own in parts for name in own)
    return np.array([[own.get(name, 0.0) for name in names] for own in parts], dtype=np.float64)
