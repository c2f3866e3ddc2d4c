"""Slopes shrunk across systems: where they go with much and with little to go by."""

import numpy as np
import pytest

from evaluation.statistics._tuning import moments, slopes


def summed(systems: list[tuple[list[list[float]], list[float]]]) -> np.ndarray:
    """Moments of one fold that sees everything."""
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
    # Rows (1, 2, 5) and (1, 3, 4) with weights 1 and 2: the products of the last two columns are 10 + 2 * 12 = 34.
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
