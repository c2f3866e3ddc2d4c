"""Agreement of percents: known answers, what cannot be said, and bounds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import InvalidPercent, LengthMismatch
from evaluation.statistics import percent_agreement

PERCENTS = st.lists(st.tuples(st.none() | st.integers(0, 100), st.none() | st.integers(0, 100)), max_size=20)


def test_shares_and_mean_difference() -> None:
    # Differences: 0, 20, 60, 20, and one item without a second percent.
    # Equal: 1 of 4. At most 20 apart: 3 of 4. Mean: (0 + 20 + 60 + 20) / 4 = 25.
    agreement = percent_agreement([0, 40, 100, 80, 60], [0, 60, 40, 60, None])
    assert (agreement.items, agreement.exact, agreement.within_step) == (4, 0.25, 0.75)
    assert agreement.mean_difference == 25


def test_the_step_can_be_another_one() -> None:
    # Differences 5 and 10: one is within 5.
    assert percent_agreement([10, 10], [15, 20], step=5).within_step == 0.5


@pytest.mark.parametrize(("first", "second"), [([], []), ([None], [40]), ([40], [None])])
def test_nothing_in_common_says_nothing(first: list[float | None], second: list[float | None]) -> None:
    agreement = percent_agreement(first, second)
    assert agreement.items == 0
    assert (agreement.exact, agreement.within_step, agreement.mean_difference) == (None, None, None)


def test_lists_belong_together_item_by_item() -> None:
    with pytest.raises(LengthMismatch, match="1 and 2"):
        percent_agreement([0], [0, 20])


@pytest.mark.parametrize(("first", "step"), [([120], 20), ([-1], 20), ([0], 101), ([float("nan")], 20)])
def test_percents_lie_between_0_and_100(first: list[float | None], step: float) -> None:
    with pytest.raises(InvalidPercent):
        percent_agreement(first, [0], step=step)


@given(PERCENTS)
def test_it_is_symmetric_and_bounded(pairs: list[tuple[int | None, int | None]]) -> None:
    first, second = [one for one, _ in pairs], [other for _, other in pairs]
    agreement = percent_agreement(first, second)
    assert agreement == percent_agreement(second, first)
    if agreement.items:
        assert agreement.exact is not None
        assert agreement.within_step is not None
        assert agreement.mean_difference is not None
        assert 0 <= agreement.exact <= agreement.within_step <= 1
        assert 0 <= agreement.mean_difference <= 100
        assert (agreement.mean_difference == 0) == (agreement.exact == 1)
