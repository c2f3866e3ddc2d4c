import random

import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import EvaluationError, InvalidPercent
from evaluation.statistics import (
    Correction,
    Period,
    SampledValue,
    fit_correction,
    judge_change_p,
    mean_interval,
    watch,
    watch_level,
)


def period(values: list[float]) -> Period:
    return {"all": values}


def test_the_level_of_a_look_worked_out() -> None:
    assert watch_level(0.05, 4, 52) == pytest.approx(0.05 / 208)


@pytest.mark.parametrize(("rate", "series", "looks"), [(0.05, 0, 52), (0.05, 1, 0)])
def test_a_watch_of_nothing_is_refused(rate: float, series: int, looks: int) -> None:
    with pytest.raises(EvaluationError):
        watch_level(rate, series, looks)
    with pytest.raises(InvalidPercent):
        watch_level(1.0, 1, 52)


def test_one_group_is_welchs_test() -> None:
    before, now = (
        [0.9, 0.8, 0.7, 0.9, 0.8, 0.9, 0.7, 0.8, 0.9, 0.6],
        [0.5, 0.4, 0.6, 0.5, 0.3, 0.5, 0.4, 0.6, 0.5, 0.4],
    )
    (look,) = watch([period(before)], [period(now)], level=0.05)
    assert look is not None
    welch = scipy.stats.ttest_ind(before, now, equal_var=False, alternative="greater")
    assert (look.window, look.is_alarm) == (1, True)
    assert look.drop == pytest.approx(0.8 - 0.47)
    assert look.p == pytest.approx(welch.pvalue)


def test_a_changed_mix_is_no_drop() -> None:
    # Easy documents have .85 or .95 and hard ones .35 or .45. The share of hard ones rises from a fifth to four
    # fifths.
    easy, hard = [0.85, 0.95], [0.35, 0.45]

    def mixed(easy_pairs: int, hard_pairs: int) -> Period:
        return {"easy": easy * easy_pairs, "hard": hard * hard_pairs}

    (look,) = watch([mixed(16, 4)], [mixed(4, 16)], level=0.05)
    assert look is not None
    assert look.drop == pytest.approx(0.0)
    assert not look.is_alarm


def test_a_drop_below_the_smallest_that_matters_is_no_alarm() -> None:
    before, now = period([0.80, 0.82] * 50), period([0.78, 0.80] * 50)
    found = [watch([before], [now], level=0.05, smallest_drop=drop)[0] for drop in (0.0, 0.05)]
    assert [look and look.is_alarm for look in found] == [True, False]


@pytest.mark.parametrize("now", [[0.1] * 3, []])
def test_few_documents_are_not_compared(now: list[float]) -> None:
    assert watch([period([0.8, 0.9] * 10)], [period(now)], level=0.05) == [None]


def test_a_series_without_spread_is_not_compared() -> None:
    assert watch([period([0.8] * 20)], [period([0.2] * 20)], level=0.05) == [None]


def year(seed: int, *, falls_at: int = 99, by: float = 0.0) -> list[bool]:
    numbers = random.Random(seed)

    def week(mean: float) -> Period:
        return period([min(1.0, max(0.0, numbers.gauss(mean, 0.2))) for _ in range(20)])

    reference = [week(0.6) for _ in range(13)]
    weeks = [week(0.6 - (by if number >= falls_at else 0.0)) for number in range(52)]
    return [bool(look and look.is_alarm) for look in watch(reference, weeks, level=watch_level(0.05, 1, 52))]


def test_steady_years_are_quiet() -> None:
    # The rate is at most 5 %, so at most 3 + 3 * sqrt(60 * .05 * .95) = 8 of 60 years have an alarm.
    assert sum(any(year(seed)) for seed in range(60)) <= 8


def test_a_drop_is_found_within_six_weeks() -> None:
    found = [any(year(seed, falls_at=20, by=0.15)[20:26]) for seed in range(20)]
    assert sum(found) >= 18


def test_flips_worked_out() -> None:
    # Three of six answers changed; all three are recent with a probability of 1 / C(6, 3) = .05.
    assert judge_change_p(3, 3, 0, 3) == pytest.approx(0.05)
    assert judge_change_p(0, 150, 20, 1950) == 1.0


@given(st.integers(0, 30), st.integers(0, 30))
def test_more_flips_have_a_smaller_p(flips: int, before: int) -> None:
    assert judge_change_p(flips + 1, 40, before, 400) <= judge_change_p(flips, 40, before, 400)


def test_counts_outside_their_range_are_refused() -> None:
    with pytest.raises(EvaluationError):
        judge_change_p(4, 3, 0, 3)


def test_a_corrected_value_worked_out() -> None:
    # One of four checks of a document is sampled with probability .5, so it counts .25 / .5 = .5. The person says yes
    # and the judge .8; the judge's value of the document is .6. With base .1 and slope .5: .5 * 1 + .1 * (1 - .5) +
    # .5 * (.6 - .5 * .8) = .5 + .05 + .1 = .65.
    value = SampledValue(judge=0.6, people=0.5, judge_again=0.4, sampled=0.5)
    assert Correction(0.1, 0.5).of(value) == pytest.approx(0.65)


def test_a_correction_is_a_regression_of_people_on_both_errors() -> None:
    # The relation people = .5 + .2 * (sampled - 1) + .7 * (judge_again - judge) is exact, so all corrected values are
    # .5.
    values = [
        SampledValue(judge, 0.5 + 0.2 * (sampled - 1) + 0.7 * (again - judge), again, sampled)
        for judge, again, sampled in ((0.6, 0.0, 0.0), (0.8, 1.6, 2.0), (0.4, 0.1, 1.0), (0.5, 0.9, 1.0))
    ]
    found = fit_correction(values)
    assert (found.base, found.slope) == pytest.approx((0.2, 0.7))
    assert [found.of(value) for value in values] == pytest.approx([0.5] * 4)


def test_a_correction_without_samples_is_none() -> None:
    assert fit_correction([]) == Correction(0.0, 0.0)
    assert fit_correction([SampledValue(0.6, 0.0, 0.0, 1.0)] * 3) == Correction(0.0, 0.0)


def test_corrected_means_are_people_s_whatever_the_judge_says() -> None:
    source = random.Random(1)
    values = []
    for _ in range(20_000):
        truth = source.random()
        weight = source.choice((0.0, 1.0, 2.0))
        said = max(0.0, truth - 0.3)
        values.append(SampledValue(said, weight * (source.random() < truth), weight * said, weight))
    correction = fit_correction(values[:2_000])
    # Uniform true values have the mean .5.
    assert mean_interval([correction.of(value) for value in values])[0] == pytest.approx(0.5, abs=0.02)


def test_an_interval_worked_out() -> None:
    # The mean is .5 and the squared deviations add up to 10 * .01 = .1, so the variance of the mean is .1 / 9 / 10 =
    # .00111, the error .03333, and t(9, .975) = 2.262.
    mean, low, high = mean_interval([0.4, 0.6] * 5)
    assert (mean, low, high) == pytest.approx((0.5, 0.5 - 2.262 * 0.033333, 0.5 + 2.262 * 0.033333), abs=1e-4)
    assert mean_interval([0.4, 0.6]) == (0.5, None, None)
    assert mean_interval([]) == (None, None, None)
