"""Ranks with ranges, and groups of systems that are not significantly different."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import EvaluationError
from evaluation.statistics.systems._rank import (
    compact_letters,
    indistinct_groups,
)
from evaluation.statistics.systems._significance import compare_systems

NAMES = "abcdef"
DIFFERENT = st.sets(st.sampled_from(list(combinations(NAMES, 2))))


def test_letters_by_hand() -> None:
    assert compact_letters("abc", [("a", "b"), ("b", "c")]) == {"a": "a", "b": "ab", "c": "b"}
    assert indistinct_groups("abc", [("c", "a")]) == (("a", "b"), ("b", "c"))


def test_all_alike_share_a_letter_and_all_different_share_none() -> None:
    assert indistinct_groups(NAMES, []) == (tuple(NAMES),)
    assert indistinct_groups("abc", list(combinations("abc", 2))) == (("a",), ("b",), ("c",))
    assert indistinct_groups([], []) == ()


def test_a_group_need_not_be_a_run() -> None:
    # Only b and c differ, and b and d.
    assert indistinct_groups("abcd", [("b", "c"), ("b", "d")]) == (("a", "b"), ("a", "c", "d"))


def test_letters_go_on_after_z() -> None:
    names = [f"s{number:02}" for number in range(28)]
    letters = compact_letters(names, [[name] for name in names])
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
        indistinct_groups("abc", [("a", "z")])
    with pytest.raises(EvaluationError, match="twice"):
        indistinct_groups("aba", [])
