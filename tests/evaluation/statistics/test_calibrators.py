"""Calibrators: curves by hand, shrinking, and that no document's own answers enter its calibrated values."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import EvaluationError, InvalidPercent, LengthMismatch
from evaluation.statistics.judges._calibrators import (
    CalibrationMethod,
    Calibrator,
    cross_fitted_calibration,
    fit_calibrator,
)

METHODS: list[CalibrationMethod] = ["platt", "beta", "isotonic"]
SHARES = st.floats(0, 1)


def judged(count: int = 400, documents: int = 20) -> tuple[list[float], list[float], list[int]]:
    """An overconfident judge: log odds twice what they should be."""
    random = np.random.default_rng(3)
    odds = random.normal(0, 1, count)
    answers = (random.random(count) < 1 / (1 + np.exp(-odds))).astype(float)
    said = 1 / (1 + np.exp(-2 * odds))
    return said.tolist(), answers.tolist(), [place % documents for place in range(count)]


def test_isotonic_pools_what_falls() -> None:
    # Answers 0, 1, 0, 1 by rising probability: the middle two are pooled to .5. Four documents against two pooled
    # ones of rate .5: 2/3 of the curve and 1/3 of .5.
    found = fit_calibrator([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1], ["a", "b", "c", "d"], method="isotonic")
    assert found.curve == ((0.1, 0.0), (0.4, 0.5), (0.6, 0.5), (0.9, 1.0))
    assert found.pooled == pytest.approx(1 / 3)
    assert found.calibrated(0.9) == pytest.approx(2 / 3 * 1 + 1 / 3 * 0.5)
    # Straight between the points: .25 is halfway from 0 to .5.
    assert found.calibrated(0.25) == pytest.approx(2 / 3 * 0.25 + 1 / 3 * 0.5)
    assert found.calibrated(0.0) == found.calibrated(0.1)


def test_equal_probabilities_are_one_point() -> None:
    found = fit_calibrator([0.3, 0.3, 0.7], [0, 1, 1], [1, 2, 3], method="isotonic")
    assert found.curve == ((0.3, 0.5), (0.7, 1.0))


def test_platt_undoes_too_sharp_log_odds() -> None:
    said, answers, documents = judged(4000)
    found = fit_calibrator(said, answers, documents)
    # Odds of 4 said are odds of 2 meant, against two pooled documents of 22.
    pooled = 2 / 22
    assert found.calibrated(0.8) == pytest.approx((1 - pooled) * 2 / 3 + pooled * found.rate, abs=0.02)


def test_a_calibrated_judge_errs_less() -> None:
    said, answers, documents = judged()
    for method in METHODS:
        found = cross_fitted_calibration(said, answers, documents, method=method)
        before, after = (
            sum((p - y) ** 2 for p, y in zip(values, answers, strict=True) if p is not None)
            for values in (said, found)
        )
        assert after < before


@pytest.mark.parametrize("method", METHODS)
def test_few_documents_shrink_towards_the_share_of_yes(method: CalibrationMethod) -> None:
    said, answers = [0.1, 0.2, 0.8, 0.9], [0.0, 0.0, 1.0, 1.0]
    few = fit_calibrator(said, answers, ["a"] * 4, method=method)
    many = fit_calibrator(said * 25, answers * 25, list(range(100)), method=method)
    assert 0.5 < few.calibrated(0.9) < many.calibrated(0.9)


@pytest.mark.parametrize("answer", [0.0, 1.0])
@pytest.mark.parametrize("method", METHODS)
def test_answers_that_are_all_alike_give_numbers(method: CalibrationMethod, answer: float) -> None:
    found = fit_calibrator([0.0, 0.5, 1.0], [answer] * 3, [1, 2, 3], method=method)
    assert all(0 <= found.calibrated(p) <= 1 for p in (0.0, 0.3, 1.0))
    assert abs(found.calibrated(0.5) - answer) < 0.5


@pytest.mark.parametrize("method", METHODS)
def test_a_judge_that_is_wrong_way_round_gets_a_level_line(method: CalibrationMethod) -> None:
    said = [0.1, 0.2, 0.8, 0.9] * 10
    found = fit_calibrator(said, [1.0, 1.0, 0.0, 0.0] * 10, list(range(40)), method=method)
    assert found.calibrated(0.1) == pytest.approx(found.calibrated(0.9)) == pytest.approx(0.5)


@pytest.mark.parametrize("method", METHODS)
def test_no_documents_own_answers_enter_its_calibrated_values(method: CalibrationMethod) -> None:
    said, answers, documents = judged(120, 12)
    turned = [1 - y if d == 5 else y for y, d in zip(answers, documents, strict=True)]
    one = cross_fitted_calibration(said, answers, documents, method=method)
    other = cross_fitted_calibration(said, turned, documents, method=method)
    own = [place for place, document in enumerate(documents) if document == 5]
    assert [one[place] for place in own] == [other[place] for place in own]
    assert one != other


def test_unanswered_documents_get_the_mean_of_the_calibrators() -> None:
    said, answers = [0.2, 0.7, 0.4, 0.9, 0.5], [0.0, 1.0, 0.0, 1.0, None]
    documents = ["a", "a", "b", "b", "c"]
    found = cross_fitted_calibration(said, answers, documents)
    without_a = fit_calibrator([0.4, 0.9], [0, 1], ["b", "b"])
    without_b = fit_calibrator([0.2, 0.7], [0, 1], ["a", "a"])
    assert found[0] == pytest.approx(without_a.calibrated(0.2))
    assert found[4] == pytest.approx((without_a.calibrated(0.5) + without_b.calibrated(0.5)) / 2)


def test_what_the_judge_left_unscored_stays_so() -> None:
    found = cross_fitted_calibration([0.2, None, 0.9], [0.0, 1.0, 1.0], ["a", "b", "c"])
    assert [value is None for value in found] == [False, True, False]


@pytest.mark.parametrize("method", METHODS)
def test_systems_have_intercepts_of_their_own(method: CalibrationMethod) -> None:
    # The judge says a half of everything; people say yes to 4 of 5 of system a, to 1 of 5 of system b.
    said, systems = [0.5] * 400, ["a", "b"] * 200
    answers = [float((place // 2) % 5 < (4 if place % 2 == 0 else 1)) for place in range(400)]
    found = fit_calibrator(
        said, answers, [place // 8 for place in range(400)], systems=systems, method=method
    )
    assert found.calibrated(0.5, "a") == pytest.approx(0.8, abs=0.05)
    assert found.calibrated(0.5, "b") == pytest.approx(0.2, abs=0.05)
    # Of a system that nobody answered nothing is known but the common curve.
    assert found.calibrated(0.5, "c") == pytest.approx(0.5, abs=0.05)


def test_a_systems_few_answers_move_it_little() -> None:
    said, systems = [0.5] * 101, ["a"] * 100 + ["b"]
    answers = [float(place % 2) for place in range(100)] + [1.0]
    found = fit_calibrator(said, answers, list(range(101)), systems=systems)
    # One yes of b against a prior of four answers at even odds: half an answer over 4.25 is some .12 of log odds.
    # The curve through two systems is hardly steeper than 1.
    assert 0.52 < found.calibrated(0.5, "b") < 0.56


def test_answers_in_one_document_leave_everything_as_it_is() -> None:
    assert cross_fitted_calibration([0.2, 0.9], [0.0, None], ["a", "b"]) == [0.2, 0.9]


@pytest.mark.parametrize(
    ("said", "answers", "documents", "options", "error"),
    [
        ([0.2], [1, 0], ["a"], {}, LengthMismatch),
        ([0.2], [1], [], {}, LengthMismatch),
        ([1.2], [1], ["a"], {}, InvalidPercent),
        ([0.2], [-1], ["a"], {}, InvalidPercent),
        ([math.nan], [1], ["a"], {}, InvalidPercent),
        ([0.2], [1], ["a"], {"method": "spline"}, EvaluationError),
        ([0.2], [1], ["a"], {"folds": 1}, EvaluationError),
    ],
)
def test_refuses(
    said: list[float],
    answers: list[float],
    documents: list[str],
    options: dict[str, int],
    error: type[EvaluationError],
) -> None:
    with pytest.raises(error):
        cross_fitted_calibration(said, answers, documents, **options)  # type: ignore[arg-type]


def test_no_answers_no_calibrator() -> None:
    with pytest.raises(EvaluationError, match="at least one answer"):
        fit_calibrator([], [], [])


@given(
    st.lists(st.tuples(SHARES, st.sampled_from([0.0, 1.0]), st.integers(0, 3)), min_size=1, max_size=20),
    st.sampled_from(METHODS),
)
def test_a_calibrator_never_falls_and_stays_a_probability(
    rows: list[tuple[float, float, int]], method: CalibrationMethod
) -> None:
    found: Calibrator = fit_calibrator(*map(list, zip(*rows, strict=True)), method=method)  # type: ignore[arg-type]
    heights = found.all_calibrated(np.linspace(0, 1, 50))
    assert (heights >= 0).all()
    assert (heights <= 1).all()
    assert (np.diff(heights) >= -1e-12).all()
