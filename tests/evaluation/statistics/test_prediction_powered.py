import math
from statistics import mean, stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from evaluation.errors import EvaluationError, InvalidPercent, LengthMismatch
from evaluation.statistics._prediction_powered import moments, prediction_powered_mean, slopes

HUMAN = [1.0, 0.0, 1.0, 1.0]
LABELLED = [0.8, 0.3, 0.6, 0.9]
UNLABELLED = [0.7, 0.5, 0.2, 0.9, 0.4, 0.6, 0.8, 0.1]
SHARES = st.floats(0, 1)


def test_untuned_it_is_the_first_prediction_powered_inference() -> None:
    # The mean of the unlabelled answers is 4.2 / 8 = .525. People's answers minus the judge's are .2, -.3, .4 and .1,
    # with the mean .1. So the estimate is .525 + .1 = .625. The variances over n are .555 / 8 = .069375 and .26 / 4 =
    # .065. The error is sqrt(.069375 / 8 + .065 / 4) = .157867, so half the interval is 1.644854 * .157867 = .259668.
    found = prediction_powered_mean(HUMAN, LABELLED, UNLABELLED, 0.9, tuning=1)
    assert (found.estimate, found.low, found.high) == pytest.approx((0.625, 0.365332, 0.884668), abs=1e-6)


def test_the_tuning_is_the_published_one() -> None:
    # The covariance of people's and the judge's four answers is .35 / 4 = .0875. The sample variance of the judge's
    # twelve answers is .806667 / 11 = .073333. So the tuning is .0875 / ((1 + 4 / 8) * .073333) = .795455, and the
    # estimate is .75 + .795455 * (.525 - .65) = .650568.
    found = prediction_powered_mean(HUMAN, LABELLED, UNLABELLED, 0.9)
    assert (found.tuning, found.estimate) == pytest.approx((0.795455, 0.650568), abs=1e-6)


def test_beside_it_stands_what_people_alone_say() -> None:
    # The mean is .75 and the variance over n is 3/16. The error is sqrt(3/64) = .216506, so half the interval is
    # 1.959964 * .216506 = .424344.
    found = prediction_powered_mean(HUMAN, LABELLED, UNLABELLED)
    assert found.classical_estimate == 0.75
    assert (found.classical_low, found.classical_high) == pytest.approx((0.325656, 1.174344), abs=1e-6)


def test_labels_saved_compare_the_two_variances() -> None:
    # The variance of people alone is (3/16) / 4 = .046875, and with the tuning 1 it is .069375 / 8 + .065 / 4 =
    # .024922. The ratio is 1.880878, so people alone need 4 * (1.880878 - 1) = 3.523511 more answers.
    found = prediction_powered_mean(HUMAN, LABELLED, UNLABELLED, tuning=1)
    assert found.labels_saved == pytest.approx(3.523511, abs=1e-6)


def test_small_samples_take_variances_over_n_less_one_and_students_t() -> None:
    found = prediction_powered_mean(HUMAN, LABELLED, UNLABELLED, small_sample=True, tuning=1)
    # The variance is .555 / 7 / 8 + .26 / 3 / 4 = .009911 + .021667.
    half = student.ppf(0.975, 3) * math.sqrt(0.555 / 7 / 8 + 0.26 / 3 / 4)
    assert (found.low, found.high) == pytest.approx((0.625 - half, 0.625 + half))
    assert found.classical_high == pytest.approx(0.75 + student.ppf(0.975, 3) * stdev(HUMAN) / 2)


def test_cross_fitted_each_answer_is_corrected_by_the_others_tuning() -> None:
    tunings = []
    for left_out in range(4):
        rest = [place for place in range(4) if place != left_out]
        y, f = [HUMAN[place] for place in rest], [LABELLED[place] for place in rest]
        together = sum((a - mean(y)) * (b - mean(f)) for a, b in zip(y, f, strict=True)) / 3
        spread = stdev([*f, *UNLABELLED]) ** 2
        tunings.append(min(1, max(0, together / ((1 + 3 / 8) * spread))))
    corrected = [y - tuning * (f - 0.525) for y, f, tuning in zip(HUMAN, LABELLED, tunings, strict=True)]
    found = prediction_powered_mean(HUMAN, LABELLED, UNLABELLED, cross_fit=True)
    assert len(set(tunings)) > 1
    assert found.estimate == pytest.approx(mean(corrected))
    assert found.tuning == pytest.approx(mean(tunings))


def test_an_answer_does_not_tune_its_own_correction() -> None:
    # The tuning of the first answer comes from the other answers. These are all equal, so that tuning is 0.
    found = prediction_powered_mean([0.0, 1, 1, 1], [0.1, 0.5, 0.7, 0.9], UNLABELLED, cross_fit=True)
    rest = prediction_powered_mean([0.0, 1, 1, 1], [0.1, 0.5, 0.7, 0.9], UNLABELLED)
    assert found.tuning < rest.tuning


@pytest.mark.parametrize(
    ("labelled", "unlabelled"), [([0.5] * 4, [0.5] * 8), (LABELLED, [])], ids=["constant", "none unlabelled"]
)
@pytest.mark.parametrize("cross_fit", [True, False])
def test_a_judge_that_says_nothing_leaves_what_people_say(
    labelled: list[float], unlabelled: list[float], cross_fit: bool
) -> None:
    found = prediction_powered_mean(HUMAN, labelled, unlabelled, cross_fit=cross_fit)
    assert found.tuning == 0
    assert (found.estimate, found.low, found.high) == pytest.approx(
        (found.classical_estimate, found.classical_low, found.classical_high)
    )
    assert found.labels_saved == 0


def test_a_judge_that_errs_the_wrong_way_round_is_not_used() -> None:
    assert prediction_powered_mean(HUMAN, [1 - value for value in LABELLED], UNLABELLED).tuning == 0


def test_one_answer_has_no_interval() -> None:
    found = prediction_powered_mean([0.4], [0.5], UNLABELLED)
    assert (found.estimate, found.low, found.classical_high, found.labels_saved) == (0.4, None, None, None)


def test_no_answer_says_nothing() -> None:
    assert prediction_powered_mean([], [], UNLABELLED).estimate is None


def test_one_unlabelled_item_adds_no_spread_that_cannot_be_told() -> None:
    found = prediction_powered_mean(HUMAN, LABELLED, [0.5], small_sample=True)
    assert math.isfinite(found.low)


@pytest.mark.parametrize(
    ("human", "judge", "options", "error"),
    [
        ([1.0], [0.1, 0.2], {}, LengthMismatch),
        ([1.0, math.nan], [0.1, 0.2], {}, EvaluationError),
        (HUMAN, LABELLED, {"confidence": 1}, InvalidPercent),
        (HUMAN, LABELLED, {"tuning": 1.2}, InvalidPercent),
    ],
)
def test_refuses(
    human: list[float], judge: list[float], options: dict[str, float], error: type[EvaluationError]
) -> None:
    with pytest.raises(error):
        prediction_powered_mean(human, judge, UNLABELLED, **options)  # type: ignore[arg-type]


@given(
    st.lists(st.tuples(SHARES, SHARES), min_size=2, max_size=12),
    st.lists(SHARES, max_size=12),
    st.booleans(),
    st.booleans(),
)
def test_never_anything_but_numbers_in_order(
    pairs: list[tuple[float, float]], unlabelled: list[float], small_sample: bool, cross_fit: bool
) -> None:
    human, judge = zip(*pairs, strict=True)
    found = prediction_powered_mean(human, judge, unlabelled, small_sample=small_sample, cross_fit=cross_fit)
    assert found.low <= found.estimate <= found.high
    assert 0 <= found.tuning <= 1
    assert math.isfinite(found.low)
    assert math.isfinite(found.high)


def summed(systems: list[tuple[list[list[float]], list[float]]]) -> np.ndarray:
    found = [
        moments(np.array(predictors), np.array(answers), np.ones(len(answers))).sum(axis=0)
        for predictors, answers in systems
    ]
    return np.array([found])


def line(slope: float, count: int, noise: float, seed: int) -> tuple[list[list[float]], list[float]]:
    random = np.random.default_rng(seed)
    x = random.random(count)
    y = slope * x + 0.3 + random.normal(0, noise, count)
    return [[float(value)] for value in x], y.tolist()


def test_moments_are_sums_of_products() -> None:
    # The rows are (1, 2, 5) and (1, 3, 4) with weights 1 and 2; the products of the last two columns are 10 + 2 * 12
    # = 34.
    found = moments(np.array([[2.0], [3.0]]), np.array([5.0, 4.0]), np.array([1.0, 2.0])).sum(axis=0)
    assert found[0].tolist() == [3, 2 + 6, 5 + 8]
    assert found[1, 2] == 34


def test_one_system_with_much_to_go_by_keeps_its_own_slope() -> None:
    found = slopes(summed([line(0.7, 400, 0.02, 1)]))
    assert found[0, 0, 0] == pytest.approx(0.7, abs=0.02)


def test_few_noisy_answers_are_drawn_towards_the_other_systems() -> None:
    others = [line(1.0, 300, 0.05, seed) for seed in range(6)]
    lonely = line(-1.0, 6, 0.5, 9)
    alone = slopes(summed([lonely]))[0, 0, 0]
    among = slopes(summed([*others, lonely]))[0, -1, 0]
    assert abs(among - 1) < abs(alone - 1)


def test_systems_that_differ_are_left_to_differ() -> None:
    found = slopes(summed([line(1.0, 300, 0.05, 1), line(0.1, 300, 0.05, 2), line(0.6, 300, 0.05, 3)]))
    assert found[0, :, 0] == pytest.approx([1.0, 0.1, 0.6], abs=0.05)


def test_a_judge_of_no_use_gets_next_to_nothing() -> None:
    useless = [line(0.0, 10, 0.3, seed) for seed in range(20)]
    assert np.abs(slopes(summed(useless))[0, :, 0]).mean() < 0.15


@pytest.mark.parametrize(
    "system",
    [
        ([[0.1], [0.5], [0.9]], [0.0, 0.5, 1.0]),
        ([[0.5]] * 6, [0.0, 1, 0, 1, 0, 1]),
        ([[0.1], [0.3], [0.5], [0.7], [0.9]], [0.4] * 5),
    ],
    ids=["few answers", "constant judge", "constant answers"],
)
def test_where_nothing_can_be_told_the_slope_is_none(system: tuple[list[list[float]], list[float]]) -> None:
    assert slopes(summed([system]))[0, 0, 0] == 0
    among = slopes(summed([system, line(0.8, 200, 0.05, 1)]))[0, :, 0]
    assert among[0] == 0
    assert among[1] == pytest.approx(0.8, abs=0.05)


def test_the_scale_of_a_predictor_does_not_matter() -> None:
    predictors, answers = line(0.7, 30, 0.1, 4)
    scaled = [[1000 * value] for (value,) in predictors]
    one = slopes(summed([(predictors, answers)]))[0, 0, 0]
    other = slopes(summed([(scaled, answers)]))[0, 0, 0]
    assert other * 1000 == pytest.approx(one, rel=1e-4)


def test_predictors_that_repeat_each_other_do_no_harm() -> None:
    predictors, answers = line(0.7, 30, 0.1, 4)
    doubled = [[value, value] for (value,) in predictors]
    found = slopes(summed([(doubled, answers)]))[0, 0]
    assert np.isfinite(found).all()
    assert found.sum() == pytest.approx(0.7, abs=0.15)
