"""Calibration curves: bins by hand, what they do with ties and gaps, and error beside chance."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import EvaluationError, InvalidPercent, LengthMismatch
from evaluation.statistics.judges._calibration import Binning, calibration_curve


def test_bins_of_equal_width_by_hand() -> None:
    # Halves: .1 .3 (no, yes): predicted .2, observed .5. .5 .9 .7 (yes, yes, no): predicted .7, observed 2/3.
    # Error: (2 * .3 + 3 * 1/30) / 5 = .14.
    curve = calibration_curve(
        [0.1, 0.3, 0.5, 0.9, 0.7], [False, True, True, True, False], bins=2, binning="width"
    )
    assert [(item.low, item.high, item.count) for item in curve.bins] == [(0, 0.5, 2), (0.5, 1, 3)]
    assert [item.predicted for item in curve.bins] == pytest.approx([0.2, 0.7])
    assert [item.observed.value for item in curve.bins] == pytest.approx([0.5, 2 / 3])
    assert curve.error == pytest.approx(0.14)


def test_quantile_bins_hold_equally_many() -> None:
    curve = calibration_curve([number / 100 for number in range(100)], [True] * 100, bins=5)
    assert [item.count for item in curve.bins] == [20] * 5
    assert (curve.bins[0].low, curve.bins[-1].high) == (0, 0.99)


def test_quantile_bins_never_part_equal_probabilities() -> None:
    # Eight of ten are .9: one bin for them, one for the two .2.
    curve = calibration_curve([0.2] * 2 + [0.9] * 8, [True] * 10, bins=5)
    assert [(item.predicted, item.count) for item in curve.bins] == [
        (pytest.approx(0.2), 2),
        (pytest.approx(0.9), 8),
    ]


def test_an_edge_belongs_to_the_higher_bin() -> None:
    # .3 is no binary fraction; it must be in .3 to .4 all the same, and 1 in the last bin.
    curve = calibration_curve([0.3, 1.0], [True, True], binning="width")
    assert [item.low for item in curve.bins] == [0.3, 0.9]


def test_chance_error_by_hand() -> None:
    # Four answers at .5, each by itself, exceed it by .5 .5 -.5 -.5: squares 1, by 4/3 for the mean that was taken from
    # them. The sum spreads by sqrt(4/3) = 1.1547, its mean absolute value is sqrt(2/pi) * 1.1547 = .9213, of 4: .2303.
    curve = calibration_curve([0.5] * 4, [True, True, False, False])
    assert curve.error == 0
    assert curve.chance_error == pytest.approx(0.2303, abs=5e-5)


def test_chance_is_larger_where_answers_of_a_document_go_together() -> None:
    # The same four in two documents: they exceed .5 by 1 and -1, squares 2, by 2/1: sqrt(4) = 2. .7979 * 2 / 4 = .3989.
    curve = calibration_curve([0.5] * 4, [True, True, False, False], list("aabb"))
    assert curve.chance_error == pytest.approx(0.3989, abs=5e-5)


def test_chance_adds_up_over_bins() -> None:
    # Documents a and b in two bins: they exceed .25 by .75 and -.25, mean .25, squares .5 by 2: spread 1; and .75 by
    # .25 and -.75: 1 again. sqrt(2/pi) * 2 / 4 = .3989. The errors are |.5 - .25| and |.5 - .75|, half of them each.
    curve = calibration_curve(
        [0.25, 0.25, 0.75, 0.75], [True, False, True, False], list("abab"), bins=2, binning="width"
    )
    assert curve.chance_error == pytest.approx(0.3989, abs=5e-5)
    assert curve.error == pytest.approx(0.25)


def test_what_the_probabilities_are_off_by_is_no_chance() -> None:
    # Each document exceeds .5 by as much: nothing varies from one to the other.
    curve = calibration_curve([0.5] * 6, [True, True, False] * 2, list("aaabbb"))
    assert curve.chance_error == pytest.approx(0, abs=1e-12)
    assert curve.error == pytest.approx(1 / 6)


def test_one_document_says_nothing_of_chance() -> None:
    curve = calibration_curve([0.5] * 4, [True, True, False, False], list("aaaa"))
    assert (curve.error, curve.chance_error) == (0, None)


def test_a_calibrated_judge_errs_by_chance_and_a_bold_one_by_more() -> None:
    chance = random.Random(9)
    p = [chance.random() for _ in range(4_000)]
    answers = [chance.random() < probability for probability in p]
    bold = [min(1.0, 1.6 * probability) for probability in p]
    right, wrong = calibration_curve(p, answers, draws=50), calibration_curve(bold, answers, draws=50)
    assert right.error is not None
    assert right.chance_error is not None
    assert right.error == pytest.approx(right.chance_error, rel=0.6)
    assert wrong.error is not None
    assert wrong.error > 10 * right.chance_error


def test_intervals_resample_documents() -> None:
    # Document a all yes, b all no: draws aa, ab, ba, bb, so the share is between 0 and 1.
    curve = calibration_curve([0.5] * 8, [True] * 4 + [False] * 4, list("aaaabbbb"))
    observed = curve.bins[0].observed
    assert (observed.value, observed.low, observed.high, observed.clusters) == (0.5, 0, 1, 2)


def test_one_answer_in_a_bin_is_no_certainty() -> None:
    curve = calibration_curve([0.1, 0.9], [False, True], bins=2, binning="width")
    assert curve.bins[0].observed.high == pytest.approx(0.975)
    assert curve.bins[1].observed.low == pytest.approx(0.025)


def test_items_that_lack_a_side_are_left_out() -> None:
    curve = calibration_curve([0.5, None, 0.5], [True, True, None])
    assert curve.answers == 1


@pytest.mark.parametrize("binning", ["quantile", "width"])
def test_nothing_gives_an_empty_curve(binning: Binning) -> None:
    curve = calibration_curve([], [], binning=binning)
    assert (curve.bins, curve.error, curve.chance_error, curve.answers) == ((), None, None, 0)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=30),
    st.integers(1, 12),
    st.sampled_from(["quantile", "width"]),
)
def test_every_answer_is_in_its_bin(pairs: list[tuple[float, bool]], bins: int, binning: Binning) -> None:
    p = [probability for probability, _ in pairs]
    curve = calibration_curve(p, [answer for _, answer in pairs], bins=bins, binning=binning, draws=1)
    assert sum(item.count for item in curve.bins) == len(pairs)
    assert len(curve.bins) <= bins
    for item in curve.bins:
        assert item.low - 1e-12 <= item.predicted <= item.high + 1e-12
        assert binning == "width" or {item.low, item.high} <= set(p)
    assert curve.error is not None
    assert 0 <= curve.error <= 1


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(InvalidPercent, match="A probability"):
        calibration_curve([1.2], [True])
    with pytest.raises(EvaluationError, match="bins"):
        calibration_curve([0.2], [True], bins=0)
    with pytest.raises(EvaluationError, match="quantile, width"):
        calibration_curve([0.2], [True], binning="log")  # type: ignore[arg-type]
    with pytest.raises(LengthMismatch):
        calibration_curve([0.2], [])
