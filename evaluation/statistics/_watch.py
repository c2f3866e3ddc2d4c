"""Watch a mean over time: alarms at a stated yearly rate, and a judge's repeated answers to the same checks.

The reference is the first periods of a series, with which the later periods are compared. Anchors are checks that the
judge answers again in each period.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from evaluation._guards import check_confidence
from evaluation.errors import EvaluationError

WINDOWS: Mapping[int, float] = {1: 1 / 6, 3: 1 / 6, 6: 1 / 2, 12: 1 / 6}
"""The numbers of last periods that are compared with the reference, with their shares of the level."""
FEWEST_IN_WINDOW = 10
"""A window with fewer documents is not compared."""

_NO_ERROR = 1e-6
"""A standard error below this is only rounding."""

Period = Mapping[str, Sequence[float]]
"""The values of the documents of a period, by group.

Values are in [0, 1]. Only prediction-powered values may be outside.
"""


@dataclass(frozen=True, slots=True)
class SampledValue:
    """The judge's value of a document, and sums over its sampled checks.

    The judge's value, in [0, 1], is the sum of its answers, each times the check's share of the document. A sampled
    check counts with its share divided by its inclusion probability. `people` sums people's answers, and `judge_again`
    the judge's answers to the same checks. `sampled` sums only the shares, with an expected value of 1.
    """

    judge: float
    people: float = 0.0
    judge_again: float = 0.0
    sampled: float = 0.0


@dataclass(frozen=True, slots=True)
class Correction:
    """A prediction of people's answer to a check from the judge's answer: `base + slope * judge`."""

    base: float
    slope: float

    def of(self, value: SampledValue) -> float:
        """Return the document's prediction-powered value, which is unbiased for any base and slope."""
        return value.people + self.base * (1 - value.sampled) + self.slope * (value.judge - value.judge_again)


@dataclass(frozen=True, slots=True)
class Look:
    """The comparison of the last periods with the reference at the end of a period.

    - `window`: the number of last periods with the smallest p-value, among the windows with an alarm if there are any
    - `drop`: the reference's mean minus the mean of that window, at the reference's shares of groups
    - `p`: the one-sided p-value of the drop in that window
    - `detectable`: the smallest drop in that window that would be an alarm
    - `is_alarm`: True if `p` is at most the window's share of the level, and the drop at least `smallest_drop`
    """

    window: int
    drop: float
    p: float
    detectable: float
    is_alarm: bool


def fit_correction(reference: Sequence[SampledValue]) -> Correction:
    """Return the correction with which the values of these documents vary least.

    Documents whose samples do not vary give 0 and 0. Source: Angelopoulos, Duchi and Zrnic, PPI++, 2023 (a power-tuned
    prediction), by least squares.
    """
    if not reference:
        return Correction(0.0, 0.0)
    errors = np.array([(each.sampled - 1, each.judge_again - each.judge) for each in reference])
    people = np.array([each.people for each in reference])
    (base, slope), *_ = np.linalg.lstsq(errors - errors.mean(axis=0), people - people.mean(), rcond=None)
    return Correction(float(base), float(slope))


def mean_interval(values: Sequence[float]) -> tuple[float | None, float | None, float | None]:
    """Return the mean with its 95 % interval by Student's t, within [0, 1].

    Corrected values may lie outside of [0, 1]. The mean is None without values, the interval below FEWEST_IN_WINDOW
    values.
    """
    if not values:
        return None, None, None
    mean = min(1.0, max(0.0, math.fsum(values) / len(values)))
    if len(values) < FEWEST_IN_WINDOW:
        return mean, None, None
    half = float(scipy.special.stdtrit(len(values) - 1, 0.975)) * math.sqrt(_error(np.asarray(values)))
    return mean, max(0.0, mean - half), min(1.0, mean + half)


def watch_level(rate: float, series: int, looks_a_year: int) -> float:
    """Return the level of one look at one series, so that all looks of a year together alarm at most at this rate.

    Raises InvalidPercent for a rate outside 0 to 1, EvaluationError without series or looks.
    Example: a rate of .05 over 4 series and 52 looks leaves .05 / 208 = .00024.
    """
    check_confidence(rate)
    if series < 1 or looks_a_year < 1:
        raise EvaluationError("A watch needs at least one series and one look a year.")
    return rate / (series * looks_a_year)


def watch(
    reference: Sequence[Period],
    periods: Sequence[Period],
    *,
    level: float,
    smallest_drop: float = 0.0,
    windows: Mapping[int, float] = WINDOWS,
) -> list[Look | None]:
    """Compare the last periods with the reference at the end of every period; None if no window can be compared.

    `level` is that of one look (`watch_level`); the windows have shares of it. Means are compared at the reference's
    shares of groups, so a changed mix of groups is no drop. Groups with fewer than two documents on either side are
    left out. p is Student's t with Satterthwaite's degrees of freedom. Documents are treated as independent. A window
    without variation is not compared. Source: Cochran, Sampling Techniques, 1977, 5.4 (shares of groups); the union
    bound is Bonferroni's.
    """
    check_confidence(level)
    base, looks = _joined(reference), list[Look | None]()
    for now in range(1, len(periods) + 1):
        compared = [
            _compare(base, _joined(periods[now - window : now]), window, level * share, smallest_drop)
            for window, share in windows.items()
            if window <= now
        ]
        found = [each for each in compared if each]
        looks.append(min(found, key=lambda each: (not each.is_alarm, each.p), default=None))
    return looks


def judge_change_p(flips: int, anchors: int, reference_flips: int, reference_answers: int) -> float:
    """Return the one-sided p-value of Fisher's exact test that anchors flip more often now than in the reference.

    `flips` of `anchors` verdicts differ from those at the start; while the judge was steady, `reference_flips` of
    `reference_answers` differed. Raises EvaluationError for counts outside their range. Source: Fisher, Statistical
    Methods for Research Workers, 1934. Example: 3 of 3 flips after 0 of 3 have p = 1 / C(6, 3) = .05.
    """
    if not (0 <= flips <= anchors and 0 <= reference_flips <= reference_answers):
        raise EvaluationError("Flips are counted among the answers.")
    # Count with whole numbers: scipy.stats would keep 40 MB in each process that shows a watch.
    flipped, steady = flips + reference_flips, anchors - flips + reference_answers - reference_flips
    ways = (math.comb(flipped, of) * math.comb(steady, anchors - of) for of in range(flips, anchors + 1))
    return sum(ways) / math.comb(flipped + steady, anchors)


_Values = NDArray[np.float64]


def _joined(periods: Sequence[Period]) -> dict[str, _Values]:
    groups = dict.fromkeys(group for period in periods for group in period)
    return {group: np.concatenate([each.get(group, ()) for each in periods]) for group in groups}


def _error(values: _Values) -> float:
    return float(values.var(ddof=1)) / len(values)


def _compare(
    base: Mapping[str, _Values], now: Mapping[str, _Values], window: int, level: float, smallest_drop: float
) -> Look | None:
    common = [group for group, values in now.items() if min(len(values), len(base.get(group, ()))) > 1]
    if sum(len(now[group]) for group in common) < FEWEST_IN_WINDOW:
        return None
    total = sum(len(base[group]) for group in common)
    drop, terms = 0.0, []
    for group in common:
        share = len(base[group]) / total
        drop += share * float(base[group].mean() - now[group].mean())
        terms += [(share**2 * _error(side[group]), len(side[group]) - 1) for side in (base, now)]
    variance = math.fsum(term for term, _ in terms)
    if variance < _NO_ERROR**2:
        return None
    degrees, error = variance**2 / math.fsum(term**2 / free for term, free in terms), math.sqrt(variance)
    p = float(scipy.special.stdtr(degrees, -drop / error))
    detectable = max(smallest_drop, -float(scipy.special.stdtrit(degrees, level)) * error)
    return Look(window, drop, p, detectable, is_alarm=p <= level and drop >= smallest_drop)
