"""When a sample is looked at while it is answered, and how sure each look may be."""

import random

import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import EvaluationError, InvalidPercent
from evaluation.statistics.estimates._draw_estimates import DrawnItem, estimate_from_draw
from evaluation.statistics.estimates._looks import _levels, as_of_look, declared_looks, look_confidence


@pytest.mark.parametrize(
    ("size", "looks"),
    [(0, ()), (7, (7,)), (20, (20,)), (50, (20, 40, 50)), (300, (*range(30, 300, 30), 300))],
)
def test_looks_are_every_twenty_answers_and_ten_at_most(size: int, looks: tuple[int, ...]) -> None:
    assert declared_looks(size) == looks


@given(st.integers(1, 100_000))
def test_the_last_look_is_at_everything(size: int) -> None:
    looks = declared_looks(size)
    assert (looks[-1], len(looks) <= 10) == (size, True)
    assert list(looks) == sorted(set(looks))


def test_boundaries_are_those_of_the_tables() -> None:
    # Lan and DeMets, 5 equal steps at 5 % on two sides: 4.8769, 3.3569, 2.6803, 2.2898, 2.0310 (R's ldbounds).
    found = [-scipy.special.ndtri(level / 2) for level in _levels((0.2, 0.4, 0.6, 0.8, 1.0), 0.05)]
    assert found == pytest.approx([4.8769, 3.3569, 2.6803, 2.2898, 2.0310], abs=2e-4)


def test_one_look_spends_what_the_sample_may() -> None:
    # Two thirds of 5 %, then two thirds of the third that is left, and so on.
    assert look_confidence(20, 20) == pytest.approx(1 - 0.05 * 2 / 3)
    assert look_confidence(20, 20, sample=2) == pytest.approx(1 - 0.05 * 2 / 9)
    assert look_confidence(20, 20, sample=3, confidence=0.9) == pytest.approx(1 - 0.1 * 2 / 27)


def test_earlier_looks_and_later_samples_are_surer() -> None:
    of_first = [look_confidence(look, 1000) for look in declared_looks(1000)]
    assert of_first == sorted(of_first, reverse=True)
    assert 0.95 < of_first[-1] < look_confidence(1000, 1000, sample=2) < 1


@given(st.integers(1, 3000), st.integers(1, 30))
def test_every_look_has_a_confidence_below_1(size: int, sample: int) -> None:
    assert all(0.95 < look_confidence(look, size, sample=sample) < 1 for look in declared_looks(size))


def test_what_is_no_look_is_refused() -> None:
    with pytest.raises(EvaluationError, match="not after 30"):
        look_confidence(30, 50)
    with pytest.raises(EvaluationError, match="counted from 1"):
        look_confidence(20, 50, sample=0)
    with pytest.raises(InvalidPercent):
        look_confidence(20, 50, confidence=1.0)


def drawn(document: str, answer: float | None = None, *, share: float = 1.0) -> DrawnItem:
    return DrawnItem(document, share, judge=None, probability=0.5, is_drawn=True, answer=answer)


def test_a_look_holds_the_first_in_sampled_order_and_their_chances() -> None:
    known = DrawnItem("d", 1.0, judge=1.0, probability=1.0, is_drawn=True, answer=1.0)
    items = [drawn("a", 1.0), drawn("b", 0.0), drawn("c", 1.0), drawn("d"), known]
    found = as_of_look(items, [0, 3, 1, 2, None], 2)
    # Two of the four: .5 * 2 / 4. What was answered out of turn waits, what is known without asking stays.
    assert [(item.is_drawn, item.answer, item.probability) for item in found] == [
        (True, 1.0, 0.25),
        (False, None, 0.5),
        (True, 1.0, 0.25),
        (False, None, 0.5),
        (True, 1.0, 1.0),
    ]
    assert as_of_look(items, [0, 3, 1, 2, None], 4) == items


def test_a_system_without_an_answer_yet_has_no_estimate() -> None:
    found = estimate_from_draw(as_of_look([drawn("a", 1.0), drawn("b", 0.0)], [5, 6], 2))
    assert (found.estimate, found.low, found.drawn) == (None, None, 0)


def test_over_all_orders_the_estimate_of_a_look_is_right_on_average() -> None:
    # Eight claims, half yes; people alone. Of every order the mean over the first four is right on average.
    answers = [1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0]
    items = [drawn(f"d{number}", answer) for number, answer in enumerate(answers)]
    items = [DrawnItem(item.document, 1.0, None, 1.0, is_drawn=True, answer=item.answer) for item in items]
    chance, means = random.Random(3), []
    for _ in range(2000):
        turns = list(range(8))
        chance.shuffle(turns)
        means.append(estimate_from_draw(as_of_look(items, turns, 4)).estimate or 0.0)
    assert sum(means) / len(means) == pytest.approx(0.5, abs=0.02)
