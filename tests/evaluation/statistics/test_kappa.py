"""Cohen's kappa: known answers, a slow second form, what cannot be said, and its interval."""

import random
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import EvaluationError, LengthMismatch
from evaluation.statistics.agreement._kappa import KappaWeights, cohen_kappa, kappa_interval

WEIGHTS: tuple[KappaWeights | None, ...] = (None, "linear", "quadratic")
PAIRS = st.lists(st.tuples(st.none() | st.integers(0, 3), st.none() | st.integers(0, 3)), max_size=15)


def rated(yes_yes: int, yes_no: int, no_yes: int, no_no: int) -> tuple[list[str], list[str]]:
    first = ["yes"] * (yes_yes + yes_no) + ["no"] * (no_yes + no_no)
    second = ["yes"] * yes_yes + ["no"] * yes_no + ["yes"] * no_yes + ["no"] * no_no
    return first, second


def slow_kappa(a: list[int | None], b: list[int | None], weights: KappaWeights | None) -> float | None:
    """Mean disagreement of items over that of every rating of one with every rating of the other."""
    power = {None: 0, "linear": 1, "quadratic": 2}[weights]
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    scale = sorted({rating for rating in [*a, *b] if rating is not None})
    away = {
        (x, y): abs(scale.index(x) - scale.index(y)) ** power if x != y else 0
        for x, y in product(scale, scale)
    }
    seen = sum(away[pair] for pair in pairs)
    by_chance = sum(away[x, y] for (x, _), (_, y) in product(pairs, pairs))
    return 1 - seen * len(pairs) / by_chance if by_chance else None


def test_the_textbook_table() -> None:
    # Agreement 35/50 = .7; chance .5 * .6 + .5 * .4 = .5; (.7 - .5) / (1 - .5) = .4.
    assert cohen_kappa(*rated(20, 5, 10, 15)) == pytest.approx(0.4)


def test_weights_worked_out() -> None:
    # Disagreement 1 - 2 - 1 over scale 1 2 3: items (1,1) (1,2) (3,1) (3,3). Seen, linear: 0 + 1 + 2 + 0 = 3;
    # by chance: of 16 pairs of {1,1,3,3} and {1,2,1,3}: 1s give 0+1+0+2 = 3 each, 3s give 2+1+2+0 = 5 each: 16.
    # Linear 1 - 3 * 4 / 16 = .25. Quadratic: seen 5; 1s give 0+1+0+4 = 5, 3s give 4+1+4+0 = 9: 28; 1 - 20 / 28.
    a, b = [1, 1, 3, 3], [1, 2, 1, 3]
    assert cohen_kappa(a, b, "linear") == pytest.approx(0.25)
    assert cohen_kappa(a, b, "quadratic") == pytest.approx(1 - 20 / 28)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_it_equals_a_slow_form_on_random_lists_with_gaps(weights: KappaWeights | None) -> None:
    chance = random.Random(11)
    for _ in range(200):
        items = chance.randint(1, 15)
        a, b = ([chance.choice([None, 1, 2, 3, 7]) for _ in range(items)] for _ in range(2))
        assert cohen_kappa(a, b, weights) == pytest.approx(slow_kappa(a, b, weights), abs=1e-12)


def test_a_named_scale_keeps_steps_that_nobody_used() -> None:
    # On 0 20 40 60 80 100 the ratings 0 and 100 are five steps apart, 0 and 20 one.
    a, b = [0, 0, 100, 100], [0, 20, 100, 100]
    scale = [0, 20, 40, 60, 80, 100]
    # Seen: 1. By chance: 0s give 0+1+5+5 = 11 each, 100s give 5+4+0+0 = 9 each: 40. 1 - 4 / 40.
    assert cohen_kappa(a, b, "linear", categories=scale) == pytest.approx(0.9)
    # Without it, three steps 0 20 100: 0s give 0+1+2+2 = 5 each, 100s give 2+1+0+0 = 3 each: 16. 1 - 4 / 16.
    assert cohen_kappa(a, b, "linear") == pytest.approx(0.75)


@pytest.mark.parametrize(("a", "b"), [([], []), ([1, None], [None, 1]), (["x", "x"], ["x", "x"])])
def test_without_pairs_or_variation_there_is_none(a: list[Any], b: list[Any]) -> None:
    assert cohen_kappa(a, b) is None
    assert kappa_interval(a, b, draws=20).value is None


def test_two_constants_that_differ_agree_no_better_than_by_chance() -> None:
    assert cohen_kappa(["x", "x"], ["y", "y"]) == 0


@given(PAIRS, st.sampled_from(WEIGHTS))
def test_it_is_symmetric_and_at_most_1(
    pairs: list[tuple[int | None, int | None]], weights: KappaWeights | None
) -> None:
    a, b = [one for one, _ in pairs], [other for _, other in pairs]
    kappa = cohen_kappa(a, b, weights)
    assert cohen_kappa(b, a, weights) == pytest.approx(kappa)
    assert kappa is None or kappa <= 1


def test_documents_are_drawn_whole() -> None:
    # a: all agree, kappa 1; b: all opposite, kappa -1. Draws aa, ab, ba, bb.
    one, other = list("ynynynyn"), list("ynynnyny")
    interval = kappa_interval(one, other, clusters=list("aaaabbbb"))
    assert (interval.value, interval.clusters) == (0, 2)
    assert (interval.low, interval.high) == (-1, 1)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(LengthMismatch):
        cohen_kappa([1], [1, 2])
    with pytest.raises(EvaluationError, match="linear, quadratic"):
        cohen_kappa([1], [1], "cubic")  # type: ignore[arg-type]
    with pytest.raises(EvaluationError, match="categories"):
        cohen_kappa([1, "a"], [1, "a"], "linear")
    with pytest.raises(EvaluationError, match="'c' is not one of"):
        cohen_kappa(["c"], ["a"], categories=["a", "b"])
