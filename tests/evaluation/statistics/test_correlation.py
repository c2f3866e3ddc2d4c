"""Correlations of a metric with people: second opinions by SciPy, both levels, gaps and constants."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evaluation.errors import EvaluationError, InvalidPercent, LengthMismatch
from evaluation.statistics.systems._correlation import kendall_tau, metric_correlation, pearson

Scores = dict[str, dict[str, float]]
SERIES = st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), max_size=9)


def test_by_hand() -> None:
    # Pairs of 1 2 3 and 1 3 2: two in the same order, one not: 1/3. Deviations -1 0 1 and -1 1 0: 1 / 2.
    assert kendall_tau([1, 2, 3], [1, 3, 2]) == pytest.approx(1 / 3)
    assert pearson([1, 2, 3], [1, 3, 2]) == pytest.approx(1 / 2)


def test_they_equal_scipys_on_random_series_with_ties_and_gaps() -> None:
    chance = random.Random(17)
    for _ in range(200):
        size = chance.randint(2, 12)
        one, other = ([chance.choice([None, 0.1, 0.2, 0.3, 0.7]) for _ in range(size)] for _ in range(2))
        both = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
        columns = [[a for a, _ in both], [b for _, b in both]]
        if min(len(set(column)) for column in columns) < 2:
            assert kendall_tau(one, other) is pearson(one, other) is None
            continue
        assert kendall_tau(one, other) == pytest.approx(stats.kendalltau(*columns).statistic)
        assert pearson(one, other) == pytest.approx(stats.pearsonr(*columns).statistic)


@pytest.mark.parametrize(("one", "other"), [([], []), ([1], [2]), ([1, 1], [1, 2]), ([1, None], [None, 1])])
def test_without_two_pairs_or_variation_there_is_none(
    one: list[float | None], other: list[float | None]
) -> None:
    assert kendall_tau(one, other) is None
    assert pearson(one, other) is None


def test_what_differs_only_by_rounding_is_constant() -> None:
    # .1 + .2 is not .3 in binary.
    assert kendall_tau([0.1 + 0.2, 0.3], [1, 2]) is None
    assert pearson([0.1 + 0.2, 0.3], [1, 2]) is None


def test_tiny_numbers_vary_too() -> None:
    assert pearson([1e-200, 2e-200], [1, 2]) == pytest.approx(1)


@given(SERIES)
def test_they_are_symmetric_bounded_and_turn_with_a_sign(pairs: list[tuple[int, int]]) -> None:
    one, other = [a for a, _ in pairs], [b for _, b in pairs]
    for correlation in (kendall_tau, pearson):
        value = correlation(one, other)
        assert correlation(other, one) == pytest.approx(value)
        if value is not None:
            assert -1 <= value <= 1
            assert correlation([-a for a in one], other) == pytest.approx(-value)


def scores(noise: float, *, systems: int = 6, sets: int = 40, seed: int = 1) -> Scores:
    chance = random.Random(seed)
    return {
        f"s{system}": {f"d{number}": system / 10 + chance.gauss(0, noise) for number in range(sets)}
        for system in range(systems)
    }


def test_system_level_is_that_of_means_and_summary_level_the_mean_within_sets() -> None:
    metric, people = scores(0.3, seed=1), scores(0.3, seed=2)
    result = metric_correlation(metric, people, draws=200)
    means = [[np.mean(list(side[name].values())) for name in metric] for side in (metric, people)]
    assert result.system_kendall.value == pytest.approx(stats.kendalltau(*means).statistic)
    assert result.system_pearson.value == pytest.approx(stats.pearsonr(*means).statistic)
    within = [
        stats.kendalltau(*([side[name][key] for name in metric] for side in (metric, people))).statistic
        for key in metric["s0"]
    ]
    assert result.summary_kendall.value == pytest.approx(np.mean(within))
    assert (result.systems, result.documents, result.constant, result.left_out) == (6, 40, 0, 0)


def test_intervals_take_the_same_sets_for_both_sides() -> None:
    # The metric is people's score plus 1: whatever is drawn, both agree wholly.
    people = scores(0.5)
    metric = {name: {key: 1 + value for key, value in column.items()} for name, column in people.items()}
    result = metric_correlation(metric, people, draws=300)
    for estimate in (result.system_kendall, result.system_pearson, result.summary_kendall):
        assert estimate.value == pytest.approx(1)
        assert estimate.low == pytest.approx(1)


def test_the_summary_level_interval_has_the_width_of_its_standard_error() -> None:
    metric, people = scores(0.3, sets=400, seed=1), scores(0.3, sets=400, seed=2)
    result = metric_correlation(metric, people)
    within = [
        stats.pearsonr(*([side[name][key] for name in metric] for side in (metric, people))).statistic
        for key in metric["s0"]
    ]
    estimate, error = result.summary_pearson, np.std(within, ddof=1) / 20
    assert estimate.low is not None
    assert estimate.high is not None
    assert estimate.high - estimate.low == pytest.approx(2 * 1.96 * error, rel=0.08)


def test_sets_in_which_a_side_is_constant_are_dropped_and_counted() -> None:
    metric = {"a": {"x": 1.0, "y": 0.5, "z": 1.0}, "b": {"x": 2.0, "y": 0.5}}
    people = {"a": {"x": 0.1, "y": 0.2, "z": 0.3}, "b": {"x": 0.4, "y": 0.5}}
    result = metric_correlation(metric, people, draws=50)
    # Only x has a value, 1; y is constant, and z has one system alone.
    assert result.summary_kendall.value == 1
    assert result.summary_kendall.clusters == 1
    assert (result.documents, result.constant) == (3, 2)


def test_only_what_both_scored_enters() -> None:
    metric = {"a": {"x": 1.0, "y": 2.0}, "b": {"x": 2.0}, "c": {"x": 9.0}}
    people = {"a": {"x": 0.1}, "b": {"x": 0.2, "z": 0.9}}
    result = metric_correlation(metric, people, draws=50)
    assert (result.systems, result.documents, result.left_out) == (2, 1, 3)
    assert result.system_kendall.value == 1


def test_draws_that_lack_a_system_are_left_out_and_counted() -> None:
    # b stands in one of two sets: a quarter of the draws take the other one twice.
    metric, people = (
        {"a": {"x": 1.0, "y": 2.0}, "b": {"x": 3.0}},
        {"a": {"x": 1.0, "y": 2.0}, "b": {"x": 3.0}},
    )
    result = metric_correlation(metric, people, draws=2000)
    assert result.system_pearson.undefined == pytest.approx(500, abs=80)


def test_nothing_in_common_says_nothing() -> None:
    result = metric_correlation({"a": {"x": 1.0}}, {"b": {"x": 1.0}}, draws=10)
    assert (result.system_kendall.value, result.summary_pearson.value, result.left_out) == (None, None, 2)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(LengthMismatch):
        pearson([1], [])
    with pytest.raises(EvaluationError, match="inf"):
        kendall_tau([1, float("inf")], [1, 2])
    with pytest.raises(InvalidPercent):
        metric_correlation({}, {}, confidence=0)
