"""Two-way analysis of variance of systems and document sets, with Tukey's honest differences, as DUC did."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy

from evaluation._guards import check_confidence
from evaluation.errors import EvaluationError
from evaluation.statistics._intervals import DEFAULT_CONFIDENCE
from evaluation.statistics._resampling import Floats

FEWEST_LEVELS = 2

# Nodes of the two integrals of the studentised range; at these its error is below 1e-9.
_Z_NODES, _S_NODES = 192, 96
_SURE = 1e-14
_HALVINGS = 40


@dataclass(frozen=True, slots=True)
class VarianceRow:
    """One source of variance: sum of squares, degrees of freedom, mean square; F and p where it is tested.

    `f` and `p` are None for the error, and where the error's mean square is 0.
    """

    squares: float
    freedom: int
    mean_square: float
    f: float | None = None
    p: float | None = None


@dataclass(frozen=True, slots=True)
class TukeyPair:
    """Two systems: first minus second, its simultaneous interval, and p corrected for all pairs."""

    first: str
    second: str
    difference: float
    low: float
    high: float
    p: float


@dataclass(frozen=True, slots=True)
class SystemAnova:
    """What of the variance lies between systems, between document sets, and in neither.

    `sets` are the document sets that all systems have, `left_out` those that some system lacks. `pairs` are Tukey's
    comparisons; empty where the error is 0.
    """

    systems: VarianceRow
    documents: VarianceRow
    error: VarianceRow
    sets: int
    left_out: int
    pairs: tuple[TukeyPair, ...]
    confidence: float = DEFAULT_CONFIDENCE


def system_anova(
    values: Mapping[str, Mapping[str, float]], *, confidence: float = DEFAULT_CONFIDENCE
) -> SystemAnova | None:
    """Two-way analysis of variance without interaction: does the system matter, once the document set is accounted for?

    `values[system][cluster]` is the system's mean within that document set. Only sets that every system has enter;
    the others are left out and counted, for with gaps the two factors could not be told apart. Residuals are taken
    as normal and equally spread, which scores in [0, 1] are not near their ends: `compare_systems` needs neither.
    None with fewer than two systems or common sets.
    Raises InvalidPercent for a confidence outside 0 to 1, EvaluationError for a value that is not finite.
    Source: Tukey, The problem of multiple comparisons, 1953; as Nenkova used it on DUC coverage, 2005.
    Example: systems a 1, 2, 3 and b 2, 4, 3 on three sets: squares 1.5 between systems, 3 between sets and 1 left.
    """
    check_confidence(confidence)
    columns = list(values.values())
    every = sorted({name for column in columns for name in column})
    common = [name for name in every if all(name in column for column in columns)]
    if len(columns) < FEWEST_LEVELS or len(common) < FEWEST_LEVELS:
        return None
    table = np.array([[column[name] for name in common] for column in columns], dtype=np.float64)
    if not np.isfinite(table).all():
        raise EvaluationError("Every value must be finite, or left out where there is none.")
    systems, documents, error = _rows(table)
    return SystemAnova(
        systems=systems,
        documents=documents,
        error=error,
        sets=len(common),
        left_out=len(every) - len(common),
        pairs=_tukey(
            dict(zip(values, table.mean(axis=1).tolist(), strict=True)), len(common), error, confidence
        ),
        confidence=confidence,
    )


def _rows(table: Floats) -> tuple[VarianceRow, VarianceRow, VarianceRow]:
    systems, sets = table.shape
    centred = table - table.mean()
    by_system, by_set = centred.mean(axis=1, keepdims=True), centred.mean(axis=0, keepdims=True)
    residual = centred - by_system - by_set
    # What rounding leaves of a table that the two factors explain is no error.
    squares = float((residual**2).sum())
    squares = squares if squares > 1e-20 * max(1.0, float((table**2).sum())) else 0.0
    freedom = (systems - 1) * (sets - 1)
    error = VarianceRow(squares=squares, freedom=freedom, mean_square=squares / freedom)
    return (
        _tested(sets * float((by_system**2).sum()), systems - 1, error),
        _tested(systems * float((by_set**2).sum()), sets - 1, error),
        error,
    )


def _tested(squares: float, freedom: int, error: VarianceRow) -> VarianceRow:
    mean_square = squares / freedom
    if error.mean_square == 0:
        return VarianceRow(squares=squares, freedom=freedom, mean_square=mean_square)
    f = mean_square / error.mean_square
    p = float(scipy.special.fdtrc(freedom, error.freedom, f))
    return VarianceRow(squares=squares, freedom=freedom, mean_square=mean_square, f=f, p=p)


def _tukey(
    means: Mapping[str, float], sets: int, error: VarianceRow, confidence: float
) -> tuple[TukeyPair, ...]:
    if error.mean_square == 0:
        return ()
    pairs = list(combinations(means, 2))
    spread = (error.mean_square / sets) ** 0.5
    differences = np.array([means[first] - means[second] for first, second in pairs])
    p_values = studentized_range_sf(np.abs(differences) / spread, len(means), error.freedom)
    half = spread * studentized_range_ppf(confidence, len(means), error.freedom)
    return tuple(
        TukeyPair(
            first=first,
            second=second,
            difference=difference,
            low=difference - half,
            high=difference + half,
            p=p,
        )
        for (first, second), difference, p in zip(pairs, differences.tolist(), p_values.tolist(), strict=True)
    )


def studentized_range_sf(q: Floats, groups: int, freedom: int) -> Floats:
    """The chance that the range of `groups` normal means, in units of an estimated error, is q or more.

    In [0, 1], to about 1e-9. SciPy's own takes some 50 ms a value, and 25 systems have 300 pairs.
    Source: the double integral of Lund and Lund, AS 190, 1983, by Gauss-Legendre quadrature.
    """
    # The estimated error over the true one is the root of chi-square over its degrees of freedom.
    half = freedom / 2
    low, high = np.sqrt(scipy.special.gammaincinv(half, [_SURE, 1 - _SURE]) / half)
    s, s_weight = _nodes(low, high, _S_NODES)
    density = 2 * np.exp(
        half * np.log(half) + (freedom - 1) * np.log(s) - half * s**2 - scipy.special.gammaln(half)
    )
    z, z_weight = _nodes(-8.5, 8.5, _Z_NODES)
    z_density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) * z_weight
    below = scipy.special.ndtr(z)
    inside = np.empty((len(q), len(s)))
    for place, width in enumerate(np.multiply.outer(q, s)):
        # The lowest of the means at z, all others within the width above it.
        between = scipy.special.ndtr(z[:, np.newaxis] + width) - below[:, np.newaxis]
        inside[place] = groups * (z_density @ between ** (groups - 1))
    tail: Floats = np.clip(((1 - inside) * (density * s_weight)).sum(axis=1), 0, 1)
    return tail


def studentized_range_ppf(confidence: float, groups: int, freedom: int) -> float:
    """The q that the range stays below with this probability."""

    def is_below(q: float) -> bool:
        return float(studentized_range_sf(np.array([q]), groups, freedom)[0]) > 1 - confidence

    low, high = 0.0, 16.0
    while is_below(high):
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return (low + high) / 2


def _nodes(low: float, high: float, count: int) -> tuple[Floats, Floats]:
    x, weight = np.polynomial.legendre.leggauss(count)
    return (high - low) / 2 * x + (high + low) / 2, (high - low) / 2 * weight
