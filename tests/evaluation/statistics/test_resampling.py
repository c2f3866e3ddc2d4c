"""Intervals of statistics of sums: the same in law however rows are grouped, and exact where shares are 0 or 1."""

import numpy as np
import pytest

from evaluation.errors import EvaluationError, InvalidPercent
from evaluation.statistics._resampling import Floats, estimates, places_of, sums_by


def ratio(sums: Floats) -> Floats:
    return sums[:, 1:] / sums[:, :1]


def rows(*values: float) -> Floats:
    return np.array([[1.0, value] for value in values])


def test_equal_rows_may_be_put_together() -> None:
    # 400 rows, half 0 and half 1: error .5 / 20 = .025, so 95 % is .5 -+ 1.96 * .025, one by one or in two kinds.
    (apart,) = estimates(rows(*[0.0] * 200, *[1.0] * 200), ratio, draws=4000)
    (together,) = estimates(rows(0, 1), ratio, sizes=np.array([200, 200]), draws=4000)
    for interval in (apart, together):
        assert interval.clusters == 400
        assert interval.low == pytest.approx(0.451, abs=0.004)
        assert interval.high == pytest.approx(0.549, abs=0.004)


def test_a_few_equal_rows_among_many_are_drawn_as_often_as_they_occur() -> None:
    # Values 0 to 59, of which 0 stands for two of 61 rows: more kinds than half the rows, so rows are drawn one by one.
    values, sizes = np.arange(60.0), np.array([2, *[1] * 59])
    rows_apart = np.repeat(values, sizes)
    (interval,) = estimates(rows(*values), ratio, sizes=sizes, draws=4000)
    assert interval.value == pytest.approx(rows_apart.mean())
    assert interval.low is not None
    assert interval.high is not None
    assert interval.high - interval.low == pytest.approx(2 * 2 * rows_apart.std(ddof=1) / 61**0.5, rel=0.06)


def test_draws_without_a_value_are_left_out() -> None:
    # A statistic of the first row alone: of draws of two rows a quarter lack it.
    table = np.array([[1.0, 3.0], [0.0, 0.0]])
    (interval,) = estimates(table, lambda sums: np.where(sums[:, :1] > 0, ratio(sums), np.nan), draws=2000)
    assert (interval.value, interval.low, interval.high) == (3, 3, 3)
    assert interval.undefined == pytest.approx(500, abs=80)


def test_a_share_of_1_has_an_exact_bound() -> None:
    # Ten clusters, all 1: Clopper and Pearson's lower bound is .025 ** .1 = .6915; one not in it leaves nine: .6637.
    (interval,) = estimates(rows(*[1.0] * 10), ratio, shares=[0])
    assert (interval.low, interval.high) == (pytest.approx(0.6915, abs=5e-5), 1)
    empty = np.vstack([rows(*[1.0] * 9), [[0.0, 0.0]]])
    (interval,) = estimates(empty, ratio, shares=[0])
    assert interval.low == pytest.approx(0.6637, abs=5e-5)


def test_a_share_of_0_has_an_exact_bound() -> None:
    (interval,) = estimates(rows(*[0.0] * 10), ratio, shares=[0])
    assert (interval.low, interval.high) == (0, pytest.approx(1 - 0.6915, abs=5e-5))


def test_one_cluster_has_no_interval() -> None:
    (interval,) = estimates(rows(1), ratio, shares=[0])
    assert (interval.value, interval.low, interval.high) == (1, None, None)


def test_no_cluster_has_no_value() -> None:
    (interval,) = estimates(np.empty((0, 2)), ratio, shares=[0])
    assert (interval.value, interval.low, interval.clusters) == (None, None, 0)


def test_sums_by_cluster() -> None:
    places, width = places_of(["b", "a", "b"])
    assert (places.tolist(), width) == ([1, 0, 1], 2)
    assert sums_by(places, width, rows(1, 2, 4)).tolist() == [[1, 2], [2, 5]]


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(InvalidPercent, match="between 0 and 1"):
        estimates(rows(1, 2), ratio, confidence=1.5)
    with pytest.raises(EvaluationError, match="at least 1, got 0"):
        estimates(rows(1, 2), ratio, draws=0)
