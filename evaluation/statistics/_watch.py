"""Watch a mean over time: alarms at a stated yearly rate, and a judge that is asked the same questions again."""

import math
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from evaluation._guards import check_confidence
from evaluation.errors import EvaluationError

WINDOWS: Mapping[int, float] = {1: 1 / 6, 3: 1 / 6, 6: 1 / 2, 12: 1 / 6}
"""The numbers of last periods that are compared with the reference, with their shares of the level.

If a period is a week, six weeks have half of the level: to detect a drop that matters, six weeks of answers are usually
enough, and three are too few.
"""
FEWEST_IN_WINDOW = 10
"""A window with fewer documents is not compared."""

_NO_ERROR = 1e-6
"""A standard error below this is only rounding of the sums of squares."""


@dataclass(frozen=True, slots=True)
class Period:
    """The documents of a period, each with a value and a group.

    Values are in [0, 1]. Only prediction-powered values may be outside, because a person's correction counts for many
    claims.
    """

    values: Mapping[Hashable, float]
    groups: Mapping[Hashable, str]


@dataclass(frozen=True, slots=True)
class SampledValue:
    """The judge's value of a document, and sums over its sampled checks.

    The judge's value, in [0, 1], is the sum of its answers, each times the check's share of the document. A sampled
    check counts with its share divided by its inclusion probability: `people` sums people's answers, `judge_again` the
    judge's answers to the same checks, and `sampled` the shares alone, of which 1 is expected.
    """

    judge: float
    people: float = 0.0
    judge_again: float = 0.0
    sampled: float = 0.0


@dataclass(frozen=True, slots=True)
class Correction:
    """The people's answer to a check as predicted from the judge's: `base + slope * judge`."""

    base: float
    slope: float

    def of(self, value: SampledValue) -> float:
        """Return the document's prediction-powered value, without bias whatever the correction is."""
        return value.people + self.base * (1 - value.sampled) + self.slope * (value.judge - value.judge_again)


@dataclass(frozen=True, slots=True)
class Look:
    """The comparison of the last periods with the reference at the end of a period.

    - `window`: the number of last periods with the smallest p-value, among the windows with an alarm if there are any;
      0 if no window can be compared
    - `drop`: the reference's mean minus the mean of that window, at the reference's shares of groups
    - `p`: the one-sided p-value of the drop in that window
    - `detectable`: the smallest drop that some window would report now; None without a window
    - `is_alarm`: True if the drop is significant at the level of one look, and at least `smallest_drop`
    """

    window: int
    drop: float | None
    p: float | None
    detectable: float | None
    is_alarm: bool


def fit_correction(reference: Sequence[SampledValue]) -> Correction:
    """Return the correction with which the values of these documents vary least.

    It is fixed from the reference and used for all periods. Documents whose samples do not vary give 0 and 0.
    Source: Angelopoulos, Duchi and Zrnic, PPI++, 2023 (a power-tuned prediction), by least squares.
    """
    if not reference:
        return Correction(0.0, 0.0)
    errors = np.array([(each.sampled - 1, each.judge_again - each.judge) for each in reference])
    people = np.array([each.people for each in reference])
    (base, slope), *_ = np.linalg.lstsq(errors - errors.mean(axis=0), people - people.mean(), rcond=None)
    return Correction(float(base), float(slope))


def mean_interval(values: Sequence[float]) -> tuple[float | None, float | None, float | None]:
    """Return the mean with its 95 % interval by Student's t. The interval is None below FEWEST_IN_WINDOW values."""
    if not values:
        return None, None, None
    mean = math.fsum(values) / len(values)
    if len(values) < FEWEST_IN_WINDOW:
        return mean, None, None
    error = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values))
    half = float(scipy.special.stdtrit(len(values) - 1, 0.975)) * error
    return mean, mean - half, mean + half


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
) -> list[Look]:
    """Compare the last periods with the reference at the end of every period.

    `level` is that of one look (`watch_level`); the windows have shares of it. By the union bound, a steady
    series alarms with at most the stated rate, however often somebody looks. Means are compared at the reference's
    shares of groups, so a changed mix of groups is no drop; groups with fewer than two documents on either side are
    left out. p is Student's t with Satterthwaite's degrees of freedom. Documents are independent. A window without
    variation is not compared.
    Source: Cochran, Sampling Techniques, 1977, 5.4 (shares of groups); the union bound is Bonferroni's.
    """
    check_confidence(level)
    base = _sum_groups(reference)
    sums = [_sum_groups([period]) for period in periods]
    return [_look(base, sums[: number + 1], level, smallest_drop, windows) for number in range(len(sums))]


def judge_change_p(flips: int, anchors: int, reference_flips: int, reference_answers: int) -> float:
    """Return the one-sided p-value of Fisher's exact test that more anchors flip now than when asked again before.

    `flips` of `anchors` verdicts differ from those at the start; while the judge was steady, `reference_flips` of
    `reference_answers` differed. Anchors that flip by chance more often than others make the test conservative.
    Raises EvaluationError for counts outside their range.
    Source: Fisher, Statistical Methods for Research Workers, 1934.
    Example: 3 of 3 flips after 0 of 3 have p = 1 / C(6, 3) = .05.
    """
    if not (0 <= flips <= anchors and 0 <= reference_flips <= reference_answers):
        raise EvaluationError("Flips are counted among the answers.")
    total, flipped = anchors + reference_answers, flips + reference_flips
    return float(scipy.stats.hypergeom.sf(flips - 1, total, flipped, anchors))


@dataclass(frozen=True, slots=True)
class _Sums:
    count: int = 0
    total: float = 0.0
    squares: float = 0.0

    def __add__(self, other: "_Sums") -> "_Sums":
        return _Sums(self.count + other.count, self.total + other.total, self.squares + other.squares)

    @property
    def mean(self) -> float:
        return self.total / self.count

    @property
    def error(self) -> float:
        """The variance of the mean."""
        spread = max(0.0, self.squares - self.total**2 / self.count)
        return spread / (self.count - 1) / self.count


_Groups = Mapping[str, _Sums]


def _sum_groups(periods: Sequence[Period]) -> _Groups:
    values: defaultdict[str, list[float]] = defaultdict(list)
    for period in periods:
        for document, value in period.values.items():
            values[period.groups[document]].append(value)
    return {
        group: _Sums(len(found), math.fsum(found), math.fsum(value**2 for value in found))
        for group, found in values.items()
    }


def _together(sums: Sequence[_Groups]) -> _Groups:
    found: defaultdict[str, _Sums] = defaultdict(_Sums)
    for of_period in sums:
        for group, added in of_period.items():
            found[group] += added
    return found


def _look(
    base: _Groups, sums: Sequence[_Groups], level: float, smallest_drop: float, windows: Mapping[int, float]
) -> Look:
    compared = [
        (window, level * share, _compare(base, _together(sums[-window:]), level * share))
        for window, share in windows.items()
        if window <= len(sums)
    ]
    found = [(window, own, *made) for window, own, made in compared if made is not None]
    if not found:
        return Look(0, None, None, None, is_alarm=False)
    alarms = [each for each in found if each[3] <= each[1] and each[2] >= smallest_drop]
    window, _, drop, p, _ = min(alarms or found, key=lambda each: each[3])
    return Look(window, drop, p, min(each[4] for each in found), is_alarm=bool(alarms))


def _compare(base: _Groups, now: _Groups, level: float) -> tuple[float, float, float] | None:
    """Return drop, p and detectable drop; None with too few documents, or if they do not vary."""
    common = [group for group, there in base.items() if min(there.count, now.get(group, _Sums()).count) > 1]
    if sum(now[group].count for group in common) < FEWEST_IN_WINDOW:
        return None
    total = sum(base[group].count for group in common)
    drop, terms = 0.0, []
    for group in common:
        share = base[group].count / total
        drop += share * (base[group].mean - now[group].mean)
        terms += [(share**2 * side[group].error, side[group].count - 1) for side in (base, now)]
    variance = math.fsum(term for term, _ in terms)
    if variance < _NO_ERROR**2:
        return None
    degrees = variance**2 / math.fsum(term**2 / free for term, free in terms)
    error = math.sqrt(variance)
    p = float(scipy.special.stdtr(degrees, -drop / error))
    return drop, p, float(-scipy.special.stdtrit(degrees, level)) * error
