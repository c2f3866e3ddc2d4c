"""Random draws: sizes, chances, and that every item has the chance it is said to have."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation import InvalidPercent, stratified_draw, uniform_draw

SETS = [f"set-{number}" for number in range(10)]


@pytest.mark.parametrize(
    ("items", "share", "size"),
    [
        (10, 0.2, 2),
        (10, 0.25, 3),  # 2.5 is rounded up
        (10, 0.24, 2),
        (10, 0.01, 1),  # at least one
        (10, 1.0, 10),
        (1, 0.5, 1),
    ],
)
def test_the_size_of_a_uniform_draw_is_the_share_rounded_half_up(items: int, share: float, size: int) -> None:
    drawn = uniform_draw(SETS[:items], share=share, seed=1)
    assert len(drawn) == size
    assert set(drawn.values()) == {size / items}


def test_a_draw_stands_in_the_order_of_its_frame() -> None:
    assert list(uniform_draw(SETS, share=0.5, seed=3)) == sorted(uniform_draw(SETS, share=0.5, seed=3))


def test_the_same_seed_draws_the_same_and_another_one_something_else() -> None:
    draws = [uniform_draw(SETS, share=0.3, seed=seed) for seed in (1, 1, 2, 3, 4)]
    assert draws[0] == draws[1]
    assert len({tuple(draw) for draw in draws}) > 1


def test_every_item_is_drawn_as_often_as_its_probability_says() -> None:
    # 3 of 10 in each of 2000 draws: 600 expected per item, standard deviation sqrt(2000 * .3 * .7) = 20.5.
    counts = Counter(item for seed in range(2000) for item in uniform_draw(SETS, share=0.3, seed=seed))
    assert all(abs(counts[item] - 600) < 5 * 20.5 for item in SETS)


def test_each_stratum_gives_its_share_and_at_least_one() -> None:
    # Strata of 8, 3 and 1 at a share of .25: 2 (8 * .25), 1 (.75 is rounded up), 1 (at least).
    strata = {f"a{n}": "a" for n in range(8)} | {f"b{n}": "b" for n in range(3)} | {"c0": "c"}
    drawn = stratified_draw(strata, share=0.25, seed=5)
    assert Counter(strata[item] for item in drawn) == {"a": 2, "b": 1, "c": 1}
    assert {strata[item]: chance for item, chance in drawn.items()} == {
        "a": pytest.approx(2 / 8),
        "b": pytest.approx(1 / 3),
        "c": 1.0,
    }


def test_nothing_is_drawn_of_nothing() -> None:
    assert uniform_draw([], share=0.5, seed=1) == {}
    assert stratified_draw({}, share=0.5, seed=1) == {}


@pytest.mark.parametrize("share", [0, -0.1, 1.1, float("nan")])
def test_a_share_that_cannot_be_one_is_refused(share: float) -> None:
    with pytest.raises(InvalidPercent):
        uniform_draw(SETS, share=share, seed=1)
    with pytest.raises(InvalidPercent):
        stratified_draw({"a": 1}, share=share, seed=1)


@given(
    st.dictionaries(st.integers(), st.integers(0, 4), max_size=40),
    st.floats(0.01, 1),
    st.integers(0, 2**32),
)
def test_the_weights_of_what_was_drawn_add_up_to_the_frame(
    strata: dict[int, int], share: float, seed: int
) -> None:
    # Horvitz and Thompson: the sum of 1/π over a draw estimates N, and with fixed sizes is N.
    drawn = stratified_draw(strata, share=share, seed=seed)
    assert sum(1 / chance for chance in drawn.values()) == pytest.approx(len(strata))
    assert set(drawn) <= set(strata)
