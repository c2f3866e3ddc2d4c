"""The difference of two means whose samples share documents."""

import math
from itertools import chain

import pytest

from evaluation.errors import InvalidPercent
from evaluation.statistics import mean_difference
from evaluation.statistics._difference import _mean


def of_documents(*yes: int, each: int = 4) -> list[tuple[str, float]]:
    """`each` answers per document, of which so many are 1."""
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
    (low, high), (less_low, less_high) = _mean(first, 0, 0.95)[1], _mean(second, 0, 0.95)[1]  # type: ignore[misc]
    assert found.low == pytest.approx(0.3 - math.hypot(0.4 - low, less_high - 0.1))
    assert found.high == pytest.approx(0.3 + math.hypot(high - 0.4, 0.1 - less_low))


def test_swapping_the_samples_turns_the_sign() -> None:
    first, second = of_documents(3, 2, 1, 0, 2), of_documents(1, 0, 1, 0, 0)
    one, other = mean_difference(first, second), mean_difference(second, first)
    assert (one.difference, one.low, one.high) == pytest.approx((-other.difference, -other.high, -other.low))  # type: ignore[operator]


def test_nothing_changed_leaves_room_for_change() -> None:
    # Five documents without a change: Clopper and Pearson's upper bound is 1 - .025^(1/5) = .522 for each share.
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
    # All answers of a document are equal, so 4 or 40 of them say the same.
    few = mean_difference(of_documents(4, 0, 4, 0, 4, 0), of_documents(0, 4, 0, 0, 0, 0))
    many = mean_difference(
        of_documents(40, 0, 40, 0, 40, 0, each=40), of_documents(0, 40, 0, 0, 0, 0, each=40)
    )
    assert (many.low, many.high) == pytest.approx((few.low, few.high))


def test_a_confidence_is_a_share() -> None:
    with pytest.raises(InvalidPercent):
        mean_difference(of_documents(1), of_documents(1), confidence=95)
