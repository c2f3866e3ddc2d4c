"""Random samples: sizes and probabilities, and that every item has its stated probability."""

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import EvaluationError, InvalidPercent, InvalidWeight
from evaluation.statistics._sampling import (
    Design,
    fixed_size_sample,
    inclusion_probabilities,
)


def active(spreads: dict[str, float], size: int) -> dict[str, float]:
    return inclusion_probabilities(spreads, dict.fromkeys(spreads, ""), size=size, design="active")


def test_active_probabilities_follow_the_spread_above_a_uniform_floor() -> None:
    # Half of 1 in even parts is .25 each; the other half by .3 and .1: .375 and .125.
    assert active({"a": 0.3, "b": 0.1}, size=1) == pytest.approx({"a": 0.625, "b": 0.375})


def test_what_would_pass_one_is_sampled_for_sure_and_the_rest_is_shared() -> None:
    # Floor .5 of 2 in three: 1/3 each. a would get 1/3 + 8/10 > 1, so it takes 1 and leaves 2 - 1 - 2/3 = 1/3 for
    # b and c, half each.
    found = active({"b": 1.0, "a": 8.0, "c": 1.0}, size=2)
    assert found == pytest.approx({"b": 0.5, "a": 1.0, "c": 0.5})
    assert list(found) == ["b", "a", "c"]


def test_without_any_spread_the_sample_is_uniform() -> None:
    assert active({"a": 0.0, "b": 0.0}, size=1) == {"a": 0.5, "b": 0.5}


def test_every_stratum_gets_its_share() -> None:
    # 3 of 6: 2 of the four of "x", by spread, and 1 of the two of "y", alike.
    spreads = {"a": 3.0, "b": 1.0, "c": 1.0, "d": 1.0, "e": 0.0, "f": 0.0}
    strata = dict.fromkeys("abcd", "x") | dict.fromkeys("ef", "y")
    found = inclusion_probabilities(spreads, strata, size=3, design="active")
    assert found == pytest.approx({"a": 0.75, "b": 5 / 12, "c": 5 / 12, "d": 5 / 12, "e": 0.5, "f": 0.5})


def test_probabilities_that_cannot_be_are_refused() -> None:
    for size in (0, 3):
        with pytest.raises(EvaluationError, match="Between 1 and 2"):
            active({"a": 1.0, "b": 0.0}, size)
    with pytest.raises(InvalidWeight):
        active({"a": -1.0}, size=1)


@pytest.mark.parametrize("design", ["uniform", "active"])
@given(
    frame=st.dictionaries(
        st.integers(), st.tuples(st.floats(0, 100), st.integers(0, 3)), min_size=1, max_size=30
    ),
    part=st.floats(0, 1),
    seed=st.integers(0, 99),
)
def test_a_sample_keeps_its_size_its_strata_and_its_floor(
    design: Design, frame: dict[int, tuple[float, int]], part: float, seed: int
) -> None:
    strata = {item: stratum for item, (_, stratum) in frame.items()}
    size = max(1, round(part * len(frame)))
    spreads = {item: spread for item, (spread, _) in frame.items()}
    found = inclusion_probabilities(spreads, strata, size=size, design=design)
    assert all(0.5 * size / len(frame) - 1e-9 <= chance <= 1 + 1e-9 for chance in found.values())
    drawn = fixed_size_sample(
        {item: min(1.0, chance) for item, chance in found.items()}, strata=strata, seed=seed
    )
    assert len(drawn) == size
    for stratum, held in Counter(strata.values()).items():
        assert abs(sum(strata[item] == stratum for item in drawn) - size * held / len(frame)) < 1


CHANCES = {"a": 0.9, "b": 0.15, "c": 0.5, "d": 0.25, "e": 0.7, "f": 1.0, "g": 0.5, "h": 0.0}


def test_a_fixed_size_sample_has_the_sum_of_its_probabilities_as_its_size() -> None:
    for seed in range(50):
        drawn = fixed_size_sample(CHANCES, seed=seed)
        assert len(drawn) == 4
        assert "f" in drawn
        assert "h" not in drawn
        assert drawn == {item: CHANCES[item] for item in CHANCES if item in drawn}


def test_every_item_of_a_fixed_size_sample_has_exactly_its_probability() -> None:
    # 4000 draws: the standard deviation of a count is at most sqrt(4000 / 4) = 31.6.
    counts = Counter(item for seed in range(4000) for item in fixed_size_sample(CHANCES, seed=seed))
    assert all(abs(counts[item] - 4000 * chance) < 5 * 31.6 for item, chance in CHANCES.items())


def test_any_two_items_may_be_drawn_together() -> None:
    draws = [fixed_size_sample(CHANCES, seed=seed) for seed in range(2000)]
    pairs = {pair for drawn in draws for pair in combinations(drawn, 2)}
    assert pairs >= set(combinations("abcdefg", 2))


def test_a_size_that_is_no_whole_number_varies_by_one() -> None:
    sizes = Counter(len(fixed_size_sample({"a": 0.5, "b": 0.5, "c": 0.5}, seed=seed)) for seed in range(2000))
    assert set(sizes) == {1, 2}
    assert abs(sizes[2] - 1000) < 5 * 22.4


def test_a_probability_outside_0_to_1_is_refused() -> None:
    with pytest.raises(InvalidPercent, match="'a'"):
        fixed_size_sample({"a": 1.2}, seed=1)
