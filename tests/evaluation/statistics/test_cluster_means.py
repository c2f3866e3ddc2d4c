import math
import random
from itertools import chain

import pytest
import scipy

from evaluation.errors import InvalidPercent, InvalidWeight
from evaluation.statistics import (
    FEWEST_IN_SLICE,
    SliceMean,
    mean_difference,
    slice_differences,
    slice_mean,
    weighted_mean,
)
from evaluation.statistics._cluster_means import _bounded_mean


def own(names: object) -> dict[str, str]:
    return {str(name): str(name) for name in names}  # type: ignore[attr-defined]


def test_the_mean_of_four_sets_worked_out() -> None:
    # The squared deviations are .5625 + 3 * .0625 = .75, the variance is .75 / 3 = .25, and that of the mean .25 / 4
    # = .0625.
    values = {"a": 0.0, "b": 1.0, "c": 1.0, "d": 1.0}
    found = slice_mean(values, own(values))
    assert (found.mean, found.documents, found.degrees) == (0.75, 4, 3)
    assert found.error == pytest.approx(0.25)
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low < 0.75 < found.high <= 1


def test_sets_of_a_cluster_count_together() -> None:
    # Two clusters have two equal sets: the mean is .5, the parts are (-.5 - .5) / 4 = -.25 and .25, and the variance
    # is (2 * .0625) * 2 / 1 = .25.
    found = slice_mean({"a": 0.0, "b": 0.0, "c": 1.0, "d": 1.0}, {"a": "x", "b": "x", "c": "y", "d": "y"})
    assert found.error == pytest.approx(0.5)
    assert found.degrees == 1


def test_equal_values_have_no_interval() -> None:
    found = slice_mean({"a": 0.5, "b": 0.5}, own("ab"))
    assert (found.mean, found.error, found.low, found.high) == (0.5, None, None, None)


def mean_of(mean: float, error: float | None, degrees: float = 20) -> SliceMean:
    return SliceMean(mean=mean, documents=21, degrees=degrees, error=error)


def test_weights_worked_out() -> None:
    # The mean is .75 * .8 + .25 * .4 = .7, the variance .0225^2 + .01^2 = .00060625, and the degrees of freedom are
    # .00060625^2 / ((.0225^4 + .01^4) / 20).
    found = weighted_mean([(3, mean_of(0.8, 0.03)), (1, mean_of(0.4, 0.04))])
    assert found.mean == pytest.approx(0.7)
    assert found.error == pytest.approx(math.sqrt(0.00060625))
    assert found.degrees == pytest.approx(0.00060625**2 / ((0.0225**4 + 0.01**4) / 20))


def test_a_slice_without_weight_does_not_matter_and_one_without_error_leaves_no_interval() -> None:
    assert weighted_mean([(1, mean_of(0.8, 0.03)), (0, mean_of(0.1, None))]).mean == pytest.approx(0.8)
    assert weighted_mean([(1, mean_of(0.8, 0.03)), (1, mean_of(0.1, None))]).low is None


@pytest.mark.parametrize("weights", [(0, 0), (1, -1)])
def test_weights_that_mean_nothing_are_refused(weights: tuple[float, float]) -> None:
    with pytest.raises(InvalidWeight):
        weighted_mean([(weights[0], mean_of(0.8, 0.03)), (weights[1], mean_of(0.4, 0.04))])


def test_a_confidence_outside_0_to_1_is_refused() -> None:
    with pytest.raises(InvalidPercent):
        slice_mean({"a": 0.5}, own("a"), confidence=1.0)


def study(drop: float, seed: int, *, sets: int = 40) -> tuple[dict[str, dict[str, float]], dict[str, str]]:
    random_numbers = random.Random(seed)
    slices = {f"d{number}": "legal" if number % 2 else "news" for number in range(sets)}
    values: dict[str, dict[str, float]] = {name: {} for name in ("a", "b", "c")}
    for document, name in slices.items():
        # Legal documents are harder for every system, which makes no system worse there.
        level = 0.6 - 0.3 * (name == "legal") + random_numbers.gauss(0, 0.05)
        for system, of_system in values.items():
            lower = drop if system == "a" and name == "legal" else 0.0
            of_system[document] = min(1.0, max(0.0, level - lower + random_numbers.gauss(0, 0.05)))
    return values, slices


def test_the_difference_is_that_of_leads() -> None:
    values, slices = study(0.1, 1)
    found = {(each.system, each.slice): each for each in slice_differences(values, slices, own(slices))}
    leads = {d: values["a"][d] - (values["b"][d] + values["c"][d]) / 2 for d in slices}
    here = [lead for d, lead in leads.items() if slices[d] == "legal"]
    there = [lead for d, lead in leads.items() if slices[d] == "news"]
    cell = found["a", "legal"]
    assert cell.difference == pytest.approx(sum(here) / 20 - sum(there) / 20)
    # With one set per cluster and equal sizes, the statistic is Welch's, here with 19 degrees of freedom.
    statistic = scipy.stats.ttest_ind(here, there, equal_var=False).statistic
    assert cell.p == pytest.approx(scipy.stats.t.cdf(statistic, 19))
    assert cell.is_worse()
    assert not found["a", "news"].is_worse()


def test_hard_documents_make_no_system_worse() -> None:
    claims = [
        any(each.is_worse() for each in slice_differences(values, slices, own(slices)))
        for values, slices in (study(0.0, seed) for seed in range(300))
    ]
    # At a level of .05, at most .05 * 300 + 3 * sqrt(300 * .05 * .95) = 26 of 300 families have a false finding.
    assert sum(claims) <= 26


def test_few_sets_are_not_tested() -> None:
    values, slices = study(0.5, 1, sets=2 * (FEWEST_IN_SLICE - 1))
    assert all(each.p is None for each in slice_differences(values, slices, own(slices)))


def test_a_single_system_has_no_lead() -> None:
    values, slices = study(0.1, 1)
    assert all(each.p is None for each in slice_differences({"a": values["a"]}, slices, own(slices)))


def of_documents(*yes: int, each: int = 4) -> list[tuple[str, float]]:
    return list(
        chain.from_iterable(
            [(f"d{n}", float(place < count)) for place in range(each)] for n, count in enumerate(yes)
        )
    )


def test_a_difference_worked_out() -> None:
    # 8 of 20 and 2 of 20 changed: .4 - .1. The bounds combine the distances of the four bounds from the shares.
    first, second = of_documents(3, 2, 1, 0, 2), of_documents(1, 0, 1, 0, 0)
    found = mean_difference(first, second)
    assert (found.first, found.second, found.difference) == pytest.approx((0.4, 0.1, 0.3))
    (low, high), (less_low, less_high) = _bounded_mean(first, 0, 0.95)[1], _bounded_mean(second, 0, 0.95)[1]  # type: ignore[misc]
    assert found.low == pytest.approx(0.3 - math.hypot(0.4 - low, less_high - 0.1))
    assert found.high == pytest.approx(0.3 + math.hypot(high - 0.4, 0.1 - less_low))


def test_swapping_the_samples_turns_the_sign() -> None:
    first, second = of_documents(3, 2, 1, 0, 2), of_documents(1, 0, 1, 0, 0)
    one, other = mean_difference(first, second), mean_difference(second, first)
    assert (one.difference, one.low, one.high) == pytest.approx((-other.difference, -other.high, -other.low))  # type: ignore[operator]


def test_nothing_changed_leaves_room_for_change() -> None:
    # Five documents did not change: Clopper and Pearson's upper bound is 1 - .025^(1/5) = .522 for each share.
    found = mean_difference(of_documents(0, 0, 0, 0, 0), of_documents(0, 0, 0, 0, 0))
    assert (found.difference, found.low, found.high) == pytest.approx((0, -0.522, 0.522), abs=1e-3)


def test_values_below_0_are_scaled() -> None:
    # Scaled to [0, 1], a gain of -1 is 0 and one of 1 is 1, so differences and bounds are doubled.
    first, second = of_documents(3, 2, 1, 0, 2), of_documents(1, 0, 1, 0, 0)
    half = mean_difference(first, second)
    full = mean_difference(
        [(d, 2 * v - 1) for d, v in first], [(d, 2 * v - 1) for d, v in second], lowest=-1.0
    )
    assert full.first == pytest.approx(-0.2)
    assert (full.difference, full.low, full.high) == pytest.approx((0.6, 2 * half.low, 2 * half.high))  # type: ignore[operator]


def test_too_few_documents_have_no_interval() -> None:
    found = mean_difference(of_documents(1, 2, 3, 4), of_documents(1, 2, 3, 4, 0))
    assert (found.low, found.high) == (None, None)
    assert found.difference == pytest.approx(10 / 16 - 10 / 20)


def test_more_answers_of_the_same_documents_do_not_make_it_certain() -> None:
    # All answers of a document are equal, so 4 and 40 of them give the same interval.
    few = mean_difference(of_documents(4, 0, 4, 0, 4, 0), of_documents(0, 4, 0, 0, 0, 0))
    many = mean_difference(
        of_documents(40, 0, 40, 0, 40, 0, each=40), of_documents(0, 40, 0, 0, 0, 0, each=40)
    )
    assert (many.low, many.high) == pytest.approx((few.low, few.high))


def test_a_confidence_is_a_share() -> None:
    with pytest.raises(InvalidPercent):
        mean_difference(of_documents(1), of_documents(1), confidence=95)
