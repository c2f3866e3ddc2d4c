import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.errors import EvaluationError, InvalidPercent, LengthMismatch
from evaluation.statistics._resampling import (
    Floats,
    IntervalMethod,
    bootstrap_interval,
    bootstrap_means,
    estimates,
    expanded_tails,
    places_of,
    sums_by,
)

VALUES = st.floats(0, 1)
DRAWS = 200


def test_the_mean_is_a_macro_mean_over_clusters() -> None:
    # Cluster a has (.2 + .4) / 2 = .3 and b .9: the macro mean is .6, while the plain mean would be .5.
    interval = bootstrap_interval([0.2, 0.4, 0.9], ["a", "a", "b"])
    assert interval.mean == pytest.approx(0.6)
    assert interval.clusters == 2


def test_two_clusters_span_all_that_can_be_drawn() -> None:
    # The resamples are aa, ab, ba, bb with the means .3, .6, .6, .9, so each end has a quarter of the resamples.
    interval = bootstrap_interval([0.2, 0.4, 0.9], ["a", "a", "b"])
    assert interval.low == pytest.approx(0.3)
    assert interval.high == pytest.approx(0.9)


def test_the_width_is_that_of_the_standard_error() -> None:
    # 400 clusters, half 0 and half 1, have the error .5 / 20 = .025, so 95 % is .5 -+ 1.96 * .025 = .451 to .549.
    interval = bootstrap_interval([0.0, 1.0] * 200)
    assert interval.low == pytest.approx(0.451, abs=0.004)
    assert interval.high == pytest.approx(0.549, abs=0.004)


def test_clusters_widen_an_interval() -> None:
    values = [0.0] * 50 + [1.0] * 50
    alone = bootstrap_interval(values)
    together = bootstrap_interval(values, [i // 10 for i in range(100)])
    # Ten clusters of ten equal values have the error .5 / sqrt(10) = .16 instead of .05.
    assert together.low < alone.low - 0.1


def test_missing_values_are_left_out_and_counted() -> None:
    interval = bootstrap_interval([0.2, None, 0.8, None], ["a", "a", "b", "c"])
    assert interval.mean == pytest.approx(0.5)
    assert (interval.clusters, interval.left_out) == (2, 2)


@pytest.mark.parametrize(
    ("values", "clusters", "mean"), [([], None, None), ([None], None, None), ([0.2, 0.4], ["a", "a"], 0.3)]
)
def test_fewer_than_two_clusters_give_no_interval(
    values: list[float | None], clusters: list[str] | None, mean: float | None
) -> None:
    interval = bootstrap_interval(values, clusters)
    assert interval.mean == pytest.approx(mean)
    assert (interval.low, interval.high) == (None, None)


def test_the_seed_decides_the_draws() -> None:
    values = [0.1, 0.15, 0.3, 0.32, 0.8, 0.83]
    one, same, other = (bootstrap_interval(values, draws=99, seed=seed) for seed in (1, 1, 2))
    assert one == same
    assert (one.low, one.high) != (other.low, other.high)


def test_work_in_pieces_gives_every_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix, present = np.array([[0.0], [1.0], [0.5]]), np.ones((3, 1), dtype=np.bool_)
    whole, _ = bootstrap_means(matrix, present, draws=50, seed=3)
    monkeypatch.setattr("evaluation.statistics._resampling._COUNTS_AT_ONCE", 21)
    pieces, _ = bootstrap_means(matrix, present, draws=50, seed=3)
    assert (whole == pieces).all()


@pytest.mark.parametrize(
    ("values", "clusters", "options", "error"),
    [
        ([0.1], ["a", "b"], {}, LengthMismatch),
        ([0.1, 0.2], None, {"confidence": 1.0}, InvalidPercent),
        ([0.1, 0.2], None, {"confidence": 95}, InvalidPercent),
        ([0.1, 0.2], None, {"draws": 0}, EvaluationError),
        ([0.1, math.nan], None, {}, EvaluationError),
        ([0.1, math.inf], None, {}, EvaluationError),
        ([math.nan], None, {}, EvaluationError),
    ],
)
def test_refuses(
    values: list[float | None],
    clusters: list[str] | None,
    options: dict[str, float],
    error: type[EvaluationError],
) -> None:
    with pytest.raises(error):
        bootstrap_interval(values, clusters, **options)  # type: ignore[arg-type]


@given(st.lists(st.tuples(st.none() | VALUES, st.integers(0, 4)), max_size=12))
@settings(max_examples=50)
def test_bounds_and_order(rows: list[tuple[float | None, int]]) -> None:
    interval = bootstrap_interval([v for v, _ in rows], [c for _, c in rows], draws=DRAWS)
    mixed = sorted(rows, key=lambda row: (row[1], str(row[0])))
    assert bootstrap_interval([v for v, _ in mixed], [c for _, c in mixed], draws=DRAWS) == interval
    present = [value for value, _ in rows if value is not None]
    for figure in (interval.mean, interval.low, interval.high):
        assert figure is None or min(present) - 1e-9 <= figure <= max(present) + 1e-9
    assert interval.low is None or interval.high is None or interval.low <= interval.high
    json.dumps([interval.mean, interval.low, interval.high], allow_nan=False)


SKEWED = [0.0, 0.0, 0.05, 0.05, 0.1, 0.1, 0.15, 0.2, 0.6, 1.0]


def test_an_expanded_interval_reads_quantiles_further_out() -> None:
    # With 10 clusters, sqrt(10 / 9) * t(9) = 1.0541 * -2.2622 = -2.3845, so the tail is .00855 instead of .025.
    found = bootstrap_interval(SKEWED, method="expanded")
    column = np.array(sorted(SKEWED)).reshape(-1, 1)
    means, _ = bootstrap_means(column, np.ones(column.shape, dtype=np.bool_))
    assert (found.low, found.high) == pytest.approx(np.quantile(means, [0.00855, 1 - 0.00855]), abs=0.002)


@pytest.mark.parametrize("method", ["percentile", "expanded"])
def test_every_method_stays_put_where_nothing_varies(method: IntervalMethod) -> None:
    found = bootstrap_interval([0.3] * 5, draws=DRAWS, method=method)
    assert (found.low, found.high, found.method) == (pytest.approx(0.3), pytest.approx(0.3), method)


def test_tails_for_few_clusters() -> None:
    # sqrt(30 / 29) * t(29, .025) = 1.01710 * -2.04523 = -2.08020, and the normal distribution has .018754 below it.
    assert expanded_tails(0.95, 30) == pytest.approx((0.018754, 0.981246), abs=1e-6)
    assert expanded_tails(0.95, 10_000) == pytest.approx((0.025, 0.975), abs=1e-4)
    assert expanded_tails(0.95, 1) == (0, 1)
    with pytest.raises(InvalidPercent):
        expanded_tails(95, 10)


def ratio(sums: Floats) -> Floats:
    return sums[:, 1:] / sums[:, :1]


def rows(*values: float) -> Floats:
    return np.array([[1.0, value] for value in values])


def test_draws_without_a_value_are_left_out() -> None:
    # The statistic needs the first row, which a quarter of the resamples of two rows lack.
    table = np.array([[1.0, 3.0], [0.0, 0.0]])
    (interval,) = estimates(table, lambda sums: np.where(sums[:, :1] > 0, ratio(sums), np.nan), draws=2000)
    assert (interval.value, interval.low, interval.high) == (3, 3, 3)
    assert interval.undefined == pytest.approx(500, abs=80)


def test_a_share_of_1_has_an_exact_bound() -> None:
    # Ten clusters are all 1: Clopper and Pearson's lower bound is .025 ** .1 = .6915; with nine clusters it is .6637.
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


def test_statistics_refuse_what_cannot_be() -> None:
    with pytest.raises(InvalidPercent, match="between 0 and 1"):
        estimates(rows(1, 2), ratio, confidence=1.5)
    with pytest.raises(EvaluationError, match="at least 1, got 0"):
        estimates(rows(1, 2), ratio, draws=0)
