"""Intervals near the ends of a scale."""

import pytest

from evaluation.statistics import SampledItem, SampleEstimate, estimate_systems_from_sample, widen_at_ends


def estimated(*answers: float) -> tuple[SampleEstimate, SampleEstimate]:
    """The estimate of a system with one answer a document, all sampled, as it is and widened."""
    items = [SampledItem(n, 1.0, None, 1.0, is_sampled=True, answer=each) for n, each in enumerate(answers)]
    found = estimate_systems_from_sample({"alder": items})
    return found["alder"], widen_at_ends(found, {"alder": items})["alder"]


def test_equal_best_answers_may_hide_as_many_bad_ones_as_chance_allows() -> None:
    _, wide = estimated(*[1.0] * 60)
    # None of 60: at most 1 - .025^(1/60) = .0596 lie below.
    assert wide.low == pytest.approx(0.025 ** (1 / 60))
    assert wide.high == 1


def test_the_bound_of_few_small_losses_is_stringer_s() -> None:
    plain, wide = estimated(*[1.0] * 59, 0.75)
    # Clopper and Pearson's upper bounds of 0 and 1 of 60 are .0596 and .0894:
    # .0596 * 1 + (.0894 - .0596) * .25 = .0670.
    assert wide.low == pytest.approx(1 - 0.0670, abs=2e-4)
    assert (plain.low or 0) >= (wide.low or 0)
    assert wide.high == plain.high


def test_ten_answers_off_the_end_need_no_bound() -> None:
    plain, wide = estimated(*[1.0] * 50, *[0.75] * 10)
    assert (wide.low, wide.high) == (plain.low, plain.high)


def test_the_bottom_mirrors_the_top() -> None:
    _, top = estimated(*[1.0] * 59, 0.5)
    _, bottom = estimated(*[0.0] * 59, 0.5)
    assert bottom.high == pytest.approx(1 - (top.low or 0))
