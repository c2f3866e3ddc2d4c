from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import InvalidPercent, InvalidWeight
from evaluation.metrics._summarization import summarization

SHARES = st.floats(0, 1)


def test_the_lower_part_is_the_score() -> None:
    # The worked example of the summarization metric: alignment .5, coverage .75.
    result = summarization(0.5, 0.75)
    assert result.score == 0.5
    assert result.passed is True
    assert (
        result.reason
        == "The score is 0.50 because alignment is the lower part: alignment 0.50, coverage 0.75."
    )


@pytest.mark.parametrize(("threshold", "passed"), [(0.5, True), (0.51, False), (0.0, True)])
def test_reaching_the_threshold_passes(threshold: float, *, passed: bool) -> None:
    assert summarization(0.5, 0.75, threshold=threshold).passed is passed


@pytest.mark.parametrize(
    ("alignment", "coverage", "score", "passed"),
    [(1.0, 1.0, 1.0, True), (1.0, 0.99, 0.0, False), (0.8, 0.9, 0.0, False)],
)
def test_strict_is_all_or_nothing(alignment: float, coverage: float, score: float, *, passed: bool) -> None:
    # A threshold of 0 must not let an imperfect summary pass.
    result = summarization(alignment, coverage, strict=True, threshold=0.0)
    assert (result.score, result.passed) == (score, passed)


def test_scale_multiplies_the_score_alone() -> None:
    result = summarization(0.5, 0.75, scale=10)
    assert (result.score, result.passed) == (5.0, True)
    assert summarization(0.4, 0.75, scale=10).passed is False


@pytest.mark.parametrize(
    ("alignment", "coverage", "missing"),
    [(None, 0.5, "alignment"), (0.5, None, "coverage"), (None, None, "alignment and coverage")],
)
def test_a_missing_part_gives_no_score(alignment: float | None, coverage: float | None, missing: str) -> None:
    result = summarization(alignment, coverage, strict=True)
    assert (result.score, result.passed) == (None, None)
    assert result.reason == f"No score: {missing} could not be scored."


@pytest.mark.parametrize("wrong", [1.5, float("nan"), None, "0.5", True])
def test_refuses_a_threshold_that_is_none_of_0_to_1(wrong: Any) -> None:
    with pytest.raises(InvalidPercent, match="threshold"):
        summarization(0.5, 0.5, threshold=wrong)


@pytest.mark.parametrize("scale", [0, -1, float("inf"), float("nan")])
def test_refuses_a_scale_that_is_not_above_0(scale: float) -> None:
    with pytest.raises(InvalidWeight, match="scale"):
        summarization(0.5, 0.5, scale=scale)


@given(SHARES, SHARES, SHARES, st.booleans(), st.floats(0.1, 100))
def test_bounds_and_monotony(one: float, other: float, better: float, strict: bool, scale: float) -> None:
    low, high = sorted((one, better))
    worse = summarization(low, other, strict=strict, scale=scale)
    best = summarization(high, other, strict=strict, scale=scale)
    assert 0 <= worse.score <= best.score <= scale
    assert not worse.passed or best.passed
