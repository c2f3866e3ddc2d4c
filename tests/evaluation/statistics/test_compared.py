"""Differences between estimates, paired by document."""

import random

import pytest
import scipy

from evaluation.statistics.estimates._compared import best_estimates, compare_estimates
from evaluation.statistics.estimates._sample_estimates import SampledItem, estimate_systems_from_sample
from evaluation.statistics.systems._significance import PairComparison


def whole(answers: list[float]) -> list[SampledItem]:
    """Documents that were all drawn for sure and answered."""
    return [
        SampledItem(number, 1.0, judge=None, probability=1.0, is_sampled=True, answer=answer)
        for number, answer in enumerate(answers)
    ]


def test_of_whole_documents_it_is_the_paired_t_test() -> None:
    first, second = [0.9, 0.8, 0.4, 0.7, 0.6], [0.7, 0.7, 0.3, 0.4, 0.5]
    found = compare_estimates(estimate_systems_from_sample({"a": whole(first), "b": whole(second)}))
    (pair,) = found
    assert (pair.first, pair.second, pair.sets) == ("a", "b", 5)
    # Differences .2, .1, .1, .3, .1: mean .16, spread .0894, error .04, t = 4.
    assert pair.difference == pytest.approx(0.16)
    assert pair.p == pytest.approx(2 * scipy.special.stdtr(4, -4))
    assert pair.adjusted_p == pair.p


def test_the_parts_of_documents_add_up_to_the_error() -> None:
    found = estimate_systems_from_sample({"a": whole([0.9, 0.8, 0.4, 0.7])})["a"]
    # Mean .7, distances .2, .1, -.3, 0: variance .14 / 3, error sqrt(.14 / 3 / 4).
    assert found.error == pytest.approx((0.14 / 12) ** 0.5)
    assert sum(part**2 for part in found.parts.values()) == pytest.approx(0.14 / 12)


def test_what_is_alike_in_all_documents_is_not_tested() -> None:
    found = estimate_systems_from_sample({"a": whole([0.9, 0.8, 0.4]), "b": whole([0.8, 0.7, 0.3])})
    assert compare_estimates(found)[0].p is None
    assert compare_estimates(estimate_systems_from_sample({"a": whole([0.9])})) == []


def test_estimates_of_one_world_differ_in_as_many_samples_as_they_may() -> None:
    # Two systems of equal coverage, judged by lot: at 5 % about 5 of 100 differences hold.
    chance, held, studies = random.Random(4), 0, 400
    for _ in range(studies):
        systems = {}
        level = [chance.random() for _ in range(30)]
        for name in "ab":
            drawn = set(chance.sample(range(120), 40))
            systems[name] = [
                SampledItem(
                    number // 4,
                    0.25,
                    judge=level[number // 4],
                    probability=40 / 120,
                    is_sampled=number in drawn,
                    answer=float(chance.random() < level[number // 4]) if number in drawn else None,
                )
                for number in range(120)
            ]
        (pair,) = compare_estimates(estimate_systems_from_sample(systems))
        held += pair.is_different()
    assert 0.02 <= held / studies <= 0.08


def test_the_best_estimate_by_hand() -> None:
    # One-sided p times two rivals: c is behind a by .05 / 2 * 2 = .05, b by .06 / 2 * 2 = .06.
    compared = [
        PairComparison(first, second, difference, 9, p, None, is_exact=False)
        for first, second, difference, p in (
            ("a", "b", 0.1, 0.06),
            ("c", "a", -0.2, 0.05),
            ("b", "c", 0.1, None),
        )
    ]
    assert best_estimates(compared) == {"a", "b"}
    assert best_estimates(compared, level=0.06) == {"a"}
    assert best_estimates([]) == frozenset()
