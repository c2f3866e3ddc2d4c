"""Ranks with ranges, and groups of systems that are not significantly different."""

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import EvaluationError
from evaluation.statistics.systems._rank import (
    RankRange,
    compact_letters,
    indistinct_groups,
    rank_ranges,
)
from evaluation.statistics.systems._significance import compare_systems

NAMES = "abcdef"
DIFFERENT = st.sets(st.sampled_from(list(combinations(NAMES, 2))))


def test_the_best_on_every_set_is_always_first() -> None:
    values = {"low": {"x": 0.1, "y": 0.2}, "high": {"x": 0.8, "y": 0.9}}
    assert rank_ranges(values) == {"low": RankRange(2, 2, 2), "high": RankRange(1, 1, 1)}


def test_systems_that_take_turns_share_the_range() -> None:
    # a wins on x, b on y: draws xx, xy, yx, yy; in the middle ones both share rank 1.
    ranges = rank_ranges({"a": {"x": 1.0, "y": 0.0}, "b": {"x": 0.0, "y": 1.0}})
    assert ranges == {"a": RankRange(1, 1, 2), "b": RankRange(1, 1, 2)}


def test_means_that_are_equal_on_paper_share_a_rank() -> None:
    # .1 + .2 and .3 + 0 differ in binary.
    ranges = rank_ranges({"a": {"x": 0.1, "y": 0.2}, "b": {"x": 0.3, "y": 0.0}, "c": {"x": 0.0, "y": 0.0}})
    assert [place.rank for place in ranges.values()] == [1, 1, 3]


def test_a_system_is_ranked_in_the_draws_that_hold_it() -> None:
    # b stands in x alone; every draw with x ranks it behind a, and in those without it no 0 of it is ahead of a.
    ranges = rank_ranges({"a": {"x": -1.0, "y": -1.0}, "b": {"x": -2.0}, "c": {}})
    assert ranges == {"a": RankRange(1, 1, 1), "b": RankRange(2, 2, 2), "c": RankRange(None, None, None)}


def test_groups_of_sets_are_drawn_together() -> None:
    # a is ahead over the sets (3, 0, 0 against 0, 1, 1), and in each draw of the two groups that holds storm: storm and
    # strike give 3 against 2, storm twice 6 against 2; strike twice gives 0 against 2.
    values = {"a": {"x": 3.0, "y": 0.0, "z": 0.0}, "b": {"x": 0.0, "y": 1.0, "z": 1.0}}
    ranges = rank_ranges(values, {"x": "storm", "y": "storm", "z": "strike"})
    assert ranges == {"a": RankRange(1, 1, 2), "b": RankRange(2, 1, 2)}
    together = rank_ranges(values, dict.fromkeys("xyz", "storm"))
    assert together["a"] == RankRange(1, None, None)


def test_one_set_has_ranks_without_ranges() -> None:
    assert rank_ranges({"a": {"x": 1.0}, "b": {"x": 2.0}})["a"] == RankRange(2, None, None)
    assert rank_ranges({}) == {}


def test_more_sets_narrow_the_range() -> None:
    chance = random.Random(2)
    values = {
        f"s{system}": {f"d{number}": chance.gauss(system / 4, 1) for number in range(400)}
        for system in range(8)
    }
    few = {name: dict(list(column.items())[:10]) for name, column in values.items()}

    def width(table: dict[str, dict[str, float]]) -> int:
        return sum((place.high or 0) - (place.low or 0) for place in rank_ranges(table, draws=500).values())

    assert width(values) < width(few) / 2


def test_letters_by_hand() -> None:
    assert compact_letters("abc", [("c", "a")]) == {"a": "a", "b": "ab", "c": "b"}
    assert indistinct_groups("abc", [("c", "a")]) == (("a", "b"), ("b", "c"))


def test_all_alike_share_a_letter_and_all_different_share_none() -> None:
    assert set(compact_letters(NAMES, []).values()) == {"a"}
    assert compact_letters("abc", list(combinations("abc", 2))) == {"a": "a", "b": "b", "c": "c"}
    assert indistinct_groups([], []) == ()


def test_a_group_need_not_be_a_run() -> None:
    # Only b and c differ, and b and d.
    assert indistinct_groups("abcd", [("b", "c"), ("b", "d")]) == (("a", "b"), ("a", "c", "d"))


def test_letters_go_on_after_z() -> None:
    names = [f"s{number:02}" for number in range(28)]
    letters = compact_letters(names, list(combinations(names, 2)))
    assert (letters["s25"], letters["s26"], letters["s27"]) == ("z", "a1", "b1")


@given(DIFFERENT)
def test_two_share_a_group_exactly_if_they_do_not_differ(different: set[tuple[str, str]]) -> None:
    groups = indistinct_groups(NAMES, different)
    for pair in combinations(NAMES, 2):
        assert any(set(pair) <= set(group) for group in groups) == (pair not in different)
    assert not any(set(one) < set(other) for one in groups for other in groups)


def test_comparisons_go_straight_into_groups() -> None:
    values = {name: {f"d{n}": base + n / 100 for n in range(8)} for name, base in (("a", 0.9), ("b", 0.1))}
    different = [(pair.first, pair.second) for pair in compare_systems(values) if pair.is_different()]
    assert indistinct_groups("ab", different) == (("a",), ("b",))


def test_names_must_be_known_and_single() -> None:
    with pytest.raises(EvaluationError, match="'z'"):
        compact_letters("abc", [("a", "z")])
    with pytest.raises(EvaluationError, match="twice"):
        indistinct_groups("aba", [])
