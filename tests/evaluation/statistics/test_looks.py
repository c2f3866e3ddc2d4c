"""When a sample is looked at while it is answered, and how sure each look may be."""

import itertools
import math
import random

import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import EvaluationError, InvalidPercent
from evaluation.statistics.estimates._draw_estimates import DrawnItem, estimate_from_draw
from evaluation.statistics.estimates._looks import (
    SampleSoFar,
    _levels,
    _spending,
    declared_looks,
    look_confidence,
    pooled_items,
)


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
    spent = tuple(_spending(step / 5, 0.05) for step in range(1, 6))
    found = [-scipy.special.ndtri(level / 2) for level in _levels((1, 2, 3, 4, 5), spent)]
    assert found == pytest.approx([4.8769, 3.3569, 2.6803, 2.2898, 2.0310], abs=2e-4)


def test_one_look_spends_what_the_sample_may() -> None:
    # Half of 5 %; after another sample that is not pooled, half of what that left.
    assert look_confidence(20, (20,)) == pytest.approx(1 - 0.05 / 2)
    assert look_confidence(20, (20,), before=((),)) == pytest.approx(1 - 0.05 / 4)
    assert look_confidence(20, (20,), before=((), ()), confidence=0.9) == pytest.approx(1 - 0.1 / 8)


def test_looks_at_a_further_sample_go_on_in_one_sequence() -> None:
    # Two looks at 80 and 160 answers spend 2.5 % and 3.75 %. By the bivariate normal with correlation sqrt(1/2):
    # 1 - P(|Z1| < 2.2414, |Z2| < z) = .0375, which z = 2.3025 solves.
    second = 1 - look_confidence(160, (160,), before=((80,),))
    reach = -scipy.special.ndtri(second / 2)
    low, high = (-2.2414, -reach), (2.2414, reach)
    both = scipy.stats.multivariate_normal([0, 0], [[1, 0.5**0.5], [0.5**0.5, 1]])
    inside = both.cdf(high, lower_limit=low)
    assert inside == pytest.approx(1 - 0.0375, abs=1e-4)
    # By itself it would have to be as sure as 1.25 % are.
    assert 0.0125 < second < 0.025


def test_a_look_that_adds_no_answer_is_the_one_before_it() -> None:
    assert look_confidence(80, (80, 80), before=((40, 80),)) == look_confidence(80, (40, 80))
    assert look_confidence(90, (80, 90), before=((40, 80),)) == look_confidence(90, (90,), before=((40, 80),))


def test_earlier_looks_are_surer() -> None:
    looks = declared_looks(1000)
    of_first = [look_confidence(look, looks) for look in looks]
    assert of_first == sorted(of_first, reverse=True)
    assert 0.95 < of_first[-1] < of_first[0] < 1


@given(st.integers(1, 3000), st.lists(st.integers(0, 500), max_size=6))
def test_every_look_has_a_confidence_below_1(size: int, added: list[int]) -> None:
    before, answers = [], 0
    for count in added:
        before.append((answers + count,) if count else ())
        answers += count
    looks = tuple(answers + look for look in declared_looks(size))
    assert all(0.95 < look_confidence(look, looks, before=before) < 1 for look in looks)


def test_what_is_no_look_is_refused() -> None:
    with pytest.raises(EvaluationError, match="not after 30"):
        look_confidence(30, (20, 40, 50))
    with pytest.raises(EvaluationError, match="never become fewer"):
        look_confidence(20, (20, 40), before=((30,),))
    with pytest.raises(InvalidPercent):
        look_confidence(20, (20, 50), confidence=1.0)


def drawn(document: str, answer: float | None = None, *, share: float = 1.0) -> DrawnItem:
    return DrawnItem(document, share, judge=None, probability=0.5, is_drawn=True, answer=answer)


def so_far(turns: list[int | None], look: int, chance: float = 0.5) -> SampleSoFar:
    return SampleSoFar([chance] * len(turns), turns, look)


def test_a_look_holds_the_first_in_sampled_order_and_their_chances() -> None:
    known = DrawnItem("d", 1.0, judge=1.0, probability=1.0, is_drawn=True, answer=1.0, is_settled=True)
    items = [drawn("a", 1.0), drawn("b", 0.0), drawn("c", 1.0), drawn("d"), known]
    found = pooled_items(items, [so_far([0, 3, 1, 2, None], 2)])
    # Two of the four: .5 * 2 / 4. What was answered out of turn waits, what is known without asking stays.
    assert [(item.is_drawn, item.answer, item.probability) for item in found] == [
        (True, 1.0, 0.25),
        (False, None, 0.25),
        (True, 1.0, 0.25),
        (False, None, 0.25),
        (True, 1.0, 1.0),
    ]
    assert pooled_items(items, [so_far([0, 3, 1, 2, None], 4)]) == items


def test_what_any_of_two_samples_has_is_one_sample() -> None:
    items = [drawn("a", 1.0), drawn("b", 0.0), drawn("c", 1.0), drawn("d", 0.0)]
    # The first holds a and c, the second so far b and c of b, c and d: .5 * 2/3, in either 1 - .5 * 2/3.
    found = pooled_items(items, [so_far([0, None, 1, None], 2), so_far([None, 0, 1, 2], 2)])
    assert [item.answer for item in found] == [1.0, 0.0, 1.0, None]
    assert [item.probability for item in found] == [pytest.approx(2 / 3)] * 4
    # What the first could not hold has the second's chance alone.
    first = SampleSoFar([0.5, 0.5, 0.5, 0.0], [0, None, 1, None], 2)
    assert pooled_items(items, [first, so_far([None, 0, 1, 2], 3)])[3].probability == 0.5


def test_a_system_without_an_answer_yet_has_no_estimate() -> None:
    found = estimate_from_draw(pooled_items([drawn("a", 1.0), drawn("b", 0.0)], [so_far([5, 6], 2)]))
    assert (found.estimate, found.low, found.drawn) == (None, None, 0)


def test_over_all_orders_the_estimate_of_a_look_is_right_on_average() -> None:
    # Eight claims, half yes; people alone. Of every order the mean over the first four is right on average.
    answers = [1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0]
    items = [drawn(f"d{number}", answer) for number, answer in enumerate(answers)]
    chance, means = random.Random(3), []
    for _ in range(2000):
        turns = list(range(8))
        chance.shuffle(turns)
        means.append(estimate_from_draw(pooled_items(items, [so_far([*turns], 4, 1.0)])).estimate or 0.0)
    assert sum(means) / len(means) == pytest.approx(0.5, abs=0.02)


def test_over_all_pairs_of_samples_the_uncentred_estimate_is_right_on_average() -> None:
    # Four items drawn at unlike chances twice, all 256 pairs of samples with their probabilities: exactly the mean.
    answers, chances = [1.0, 0.0, 1.0, 0.0], ([0.9, 0.2, 0.5, 0.4], [0.3, 0.6, 0.5, 0.8])
    items = [drawn(f"d{number}", answer) for number, answer in enumerate(answers)]
    expected = 0.0
    for held in itertools.product([True, False], repeat=8):
        likely = math.prod(
            p if is_in else 1 - p for p, is_in in zip([*chances[0], *chances[1]], held, strict=True)
        )
        samples = [
            SampleSoFar(own, [0 if is_in else None for is_in in held[4 * place : 4 * place + 4]], 1)
            for place, own in enumerate(chances)
        ]
        pooled = pooled_items(items, samples)
        expected += likely * sum((item.answer or 0.0) / item.probability for item in pooled) / 4
    assert expected == pytest.approx(0.5)
