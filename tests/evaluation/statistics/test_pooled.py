from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t as student

from evaluation.errors import InvalidPercent
from evaluation.statistics._estimates import SampleEstimate, compare_estimates
from evaluation.statistics._pooled import _SPREADS, FEWEST_SYSTEMS, LIMIT, _fitted, pool_estimates


def found(means: list[float], errors: list[float], judge: list[float | None]) -> dict[str, SampleEstimate]:
    return {
        f"system {place}": SampleEstimate(
            answered=60,
            sampled=60,
            documents=70,
            answered_documents=40,
            degrees=39,
            estimate=mean,
            low=mean - 2 * error,
            high=mean + 2 * error,
            error=error,
            parts={place: error},
            judge_mean=said,
        )
        for place, (mean, error, said) in enumerate(zip(means, errors, judge, strict=True))
    }


NEAR = [0.40, 0.42, 0.44, 0.46, 0.48, 0.50, 0.52, 0.54]


def test_with_equal_errors_all_move_to_the_mean_by_the_same_share() -> None:
    # V and P are those of `_fitted`, for K systems with errors e and the standard deviation s between systems. V = (e^2
    # + s^2) I, so P = (I - 1/K) / (e^2 + s^2). Each system moves by e^2 / (e^2 + s^2) of its distance, and s has the
    # weight (e^2 + s^2)^(-(K - 1) / 2) exp(-sum of squares / 2 (e^2 + s^2)).
    direct, error = np.array([0.3, 0.4, 0.45, 0.5, 0.6]), 0.05
    total = error**2 + _SPREADS**2
    squares = ((direct - direct.mean()) ** 2).sum()
    weights = total ** (-(5 - 1) / 2) * np.exp(-squares / 2 / total)
    share = (weights * error**2 / total).sum() / weights.sum()
    means, _, _ = _fitted(direct, error**2 * np.eye(5), np.ones((5, 1)), np.full(5, 39))
    assert means == pytest.approx(direct + share * (direct.mean() - direct))


def test_estimates_on_the_judges_line_stay_and_are_surer() -> None:
    said = [0.1 + 1.2 * mean for mean in NEAR]
    pooled = pool_estimates(found(NEAR, [0.05] * 8, said))
    assert len(pooled.pooled) == 8
    for mean, each in zip(NEAR, pooled.systems.values(), strict=True):
        assert each.estimate == pytest.approx(mean)
        assert each.error < 0.04
        assert each.low < mean < each.high


def test_the_distance_from_the_others_is_that_of_a_fit_without_the_system() -> None:
    generator = np.random.default_rng(3)
    direct, half = generator.uniform(0.3, 0.6, 6), generator.normal(size=(6, 6)) / 50
    covariance = half @ half.T + 0.002 * np.eye(6)
    line = np.column_stack([np.ones(6), generator.uniform(-0.1, 0.1, 6)])
    _, _, chances = _fitted(direct, covariance, line, np.full(6, 39))
    rest, one = slice(1, 6), slice(0, 1)
    logs, tails = [], []
    for spread in _SPREADS:
        total = covariance + spread**2 * np.eye(6)
        inverse = np.linalg.inv(total[rest, rest])
        inner = line[rest].T @ inverse @ line[rest]
        slopes = np.linalg.solve(inner, line[rest].T @ inverse @ direct[rest])
        left = direct[rest] - line[rest] @ slopes
        logs.append((np.linalg.slogdet(inverse)[1] - np.linalg.slogdet(inner)[1] - left @ inverse @ left) / 2)
        # Generalised least squares: the prediction of system 0 and the variance of its error.
        kriged = total[one, rest] @ inverse
        apart = line[one] - kriged @ line[rest]
        variance = total[one, one] - kriged @ total[rest, one] + apart @ np.linalg.solve(inner, apart.T)
        distance = (direct[one] - line[one] @ slopes - kriged @ left) / np.sqrt(variance)
        tails.append(2 * student.sf(abs(distance.item()), 39))
    weights = np.exp(np.array(logs) - max(logs))
    assert chances[0] == pytest.approx(weights @ tails / weights.sum())


def test_a_system_that_does_not_fit_keeps_its_own_estimate() -> None:
    direct = found([*NEAR, 0.95], [0.03] * 9, [*NEAR, 0.45])
    pooled = pool_estimates(direct)
    assert pooled.misfits == ("system 8",)
    assert pooled.systems["system 8"] == direct["system 8"]
    assert pooled.pooled == tuple(list(direct)[:8])


def test_no_system_moves_by_more_than_the_limit_and_then_keeps_its_error() -> None:
    # The estimate .62 is 2.4 errors from the judge's line, so without the limit it would move by most of that distance.
    direct = found([*NEAR, 0.62], [0.05] * 9, [*NEAR, 0.50])
    pooled = pool_estimates(direct)
    moved = pooled.systems["system 8"]
    assert moved.estimate == pytest.approx(0.62 - LIMIT * 0.05)
    assert moved.error == pytest.approx(0.05)
    assert sum(part**2 for part in moved.parts.values()) == pytest.approx(0.05**2)
    assert all(
        abs(pooled.systems[name].estimate - each.estimate) <= LIMIT * each.error + 1e-12
        for name, each in direct.items()
    )


def test_the_order_of_the_systems_changes_nothing() -> None:
    direct = found([*NEAR, 0.95], [0.03, 0.05, 0.04] * 3, [*NEAR[::-1], 0.45])
    names = list(np.random.default_rng(1).permutation(list(direct)))
    first, second = pool_estimates(direct), pool_estimates({name: direct[name] for name in names})
    assert set(first.misfits) == set(second.misfits)
    for name in names:
        assert first.systems[name].estimate == pytest.approx(second.systems[name].estimate)
        assert first.systems[name].error == pytest.approx(second.systems[name].error)
    chances = [
        {frozenset((pair.first, pair.second)): pair.p for pair in compare_estimates(each.systems)}
        for each in (first, second)
    ]
    assert chances[0] == pytest.approx(chances[1])


@pytest.mark.parametrize("judge", [[None] * 5, [0.5] * 5, [None, 0.4, 0.5, 0.6, 0.7]])
def test_without_a_judges_means_all_move_to_their_mean(judge: list[float | None]) -> None:
    pooled = pool_estimates(found([0.40, 0.45, 0.50, 0.55, 0.60], [0.08] * 5, judge))
    means = [each.estimate for each in pooled.systems.values()]
    assert means[2] == pytest.approx(0.5)
    assert 0.40 < means[0] < means[1] < 0.5 < means[3] < means[4] < 0.60


def test_below_five_systems_with_an_error_nothing_is_pooled() -> None:
    direct = found(NEAR[:FEWEST_SYSTEMS], [0.05] * 5, NEAR[:FEWEST_SYSTEMS])
    assert pool_estimates(direct).pooled
    without = direct | {"system 0": replace(direct["system 0"], error=None)}
    for few in (without, dict(list(direct.items())[1:]), {}):
        assert pool_estimates(few).systems == few
        assert not pool_estimates(few).pooled


def test_a_system_without_an_error_keeps_its_estimate() -> None:
    direct = found([*NEAR, 0.0], [0.05] * 8 + [0.0], [*NEAR, 0.1])
    pooled = pool_estimates(direct)
    assert pooled.systems["system 8"] == direct["system 8"]
    assert (len(pooled.pooled), pooled.misfits) == (8, ())


def test_a_judge_that_names_one_system_alone_says_nothing_of_it() -> None:
    pooled = pool_estimates(found(NEAR, [0.05] * 8, [0.4] * 7 + [0.9]))
    assert pooled.misfits == ()
    assert pooled.systems["system 7"].estimate == pytest.approx(NEAR[7])


def test_systems_whose_errors_are_the_same_are_no_surer_together() -> None:
    same = {name: replace(each, parts={"all": 0.05}) for name, each in found(NEAR, [0.05] * 8, NEAR).items()}
    for name, each in pool_estimates(same).systems.items():
        assert each.estimate == pytest.approx(same[name].estimate)
        assert 0.045 < each.error <= 0.05


def test_a_confidence_lies_between_0_and_1() -> None:
    with pytest.raises(InvalidPercent):
        pool_estimates({}, confidence=95)


def test_intervals_hold_on_average_and_are_narrower() -> None:
    generator = np.random.default_rng(11)
    held, widths = [], []
    for _ in range(200):
        said = generator.normal(0.5, 0.07, 12)
        truth = said + generator.normal(0, 0.03, 12)
        direct = found(list(truth + generator.normal(0, 0.05, 12)), [0.05] * 12, list(said))
        for mean, each in zip(truth, pool_estimates(direct).systems.values(), strict=True):
            held.append(each.low <= mean <= each.high)
            widths.append(each.high - each.low)
    # The standard error of the share is about .005.
    assert 0.935 < np.mean(held) < 0.975
    assert np.mean(widths) < 0.85 * 2 * student.ppf(0.975, 39) * 0.05
