import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import EvaluationError, InvalidPercent
from evaluation.statistics._systems import (
    EXACT_CLUSTERS,
    PairComparison,
    compact_letters,
    compare_systems,
    holm,
    indistinct_groups,
    may_be_best,
    settled_order,
)

SHARES = st.floats(0, 1)


def pair_of(first: list[float], second: list[float], draws: int | None = None) -> PairComparison:
    columns = {"a": first, "b": second}
    values = {name: {f"d{n:02}": value for n, value in enumerate(column)} for name, column in columns.items()}
    return compare_systems(values, draws=draws)[0]


def test_all_flips_of_three_sets_worked_out() -> None:
    # The differences are 1, 2 and 3. Of the eight flips only +++ and --- give a mean of 2 or -2: 2 / 8.
    pair = pair_of([1, 2, 3], [0, 0, 0])
    assert (pair.difference, pair.p, pair.sets, pair.is_exact) == (2, 0.25, 3, True)


def test_a_drawn_p_is_never_0() -> None:
    assert pair_of([1.0] * 40, [0.0] * 40, draws=999).p == pytest.approx(1 / 1000)


def test_no_difference_anywhere_is_no_finding() -> None:
    assert pair_of([0.3] * 20, [0.3] * 20, draws=99).p == 1


def test_sums_that_are_equal_on_paper_count_as_reached() -> None:
    # .1 + .2 - .3 is not 0 in binary, but every flip reaches the exact mean of 0.
    assert pair_of([0.1, 0.2, 0.0], [0.0, 0.0, 0.3]).p == 1


@given(st.lists(st.tuples(SHARES, SHARES), min_size=1, max_size=8))
def test_the_sides_may_be_swapped(pairs: list[tuple[float, float]]) -> None:
    one, other = [a for a, _ in pairs], [b for _, b in pairs]
    p = pair_of(one, other).p
    assert p == pair_of(other, one).p
    assert 0 < p <= 1


def sets_of(**columns: list[float]) -> dict[str, dict[str, float]]:
    return {name: {f"d{n:02}": value for n, value in enumerate(column)} for name, column in columns.items()}


def test_the_best_by_hand() -> None:
    # a is ahead of b by 1 in each of five sets. One of the 32 flips of b's differences from a reaches their sum: .031.
    # With four sets, one of 16 flips does: .0625.
    assert may_be_best(sets_of(a=[1] * 5, b=[0] * 5)) == {"a"}
    assert may_be_best(sets_of(a=[1] * 4, b=[0] * 4)) == {"a", "b"}
    # The differences of a from b are 1, 1, 1, 1, 1, -1 with the sum 4. Seven of the 64 flips, those with at most one
    # minus, reach 4: .11.
    assert may_be_best(sets_of(a=[1, 1, 1, 1, 1, 0], b=[0, 0, 0, 0, 0, 1])) == {"a", "b"}


def test_the_largest_of_all_rivals_counts() -> None:
    # In the test of c, a is ahead of c by 1 in all six sets. b is ahead of c by 1 in five sets and behind by 1 in the
    # last. The sums are 6 and 4, both divided by the square root of 6. A flip reaches the sum 6 for a if it changes no
    # sign, and for b if it changes only the sign of the last set: 2 / 64 = .031. In the test of a, nobody is ahead. In
    # the test of b, a is ahead by 2 in one set, and half of the flips reach this.
    values = sets_of(a=[1] * 6, b=[1] * 5 + [-1], c=[0] * 6)
    assert may_be_best(values) == {"a", "b"}
    assert may_be_best(values, level=0.03) == {"a", "b", "c"}


def test_groups_and_gaps_count_in_comparisons_with_the_best() -> None:
    # Six sets of one group are flipped together, so one of two flips reaches the sum.
    values = sets_of(a=[1] * 6, b=[0] * 6)
    assert may_be_best(values, dict.fromkeys(values["a"], "storm")) == {"a", "b"}
    # c has no set in common with the others, so it cannot be compared.
    assert may_be_best(values | {"c": {"other": 0.0}}) == {"a", "c"}
    assert may_be_best({}) == frozenset()
    assert may_be_best({"a": {}, "b": {}}) == {"a", "b"}


def test_the_true_best_is_left_out_in_as_few_studies_as_promised() -> None:
    # Equal systems are the hardest case: 5 % of 300 are 15, and three standard errors of 3.8 give 26.
    missed = sum("s0" not in may_be_best(table(5, 20, step=0, seed=seed), draws=500) for seed in range(300))
    assert missed <= 26


def test_holm_as_published() -> None:
    # Sorted, the values .005, .01, .03 and .04 are multiplied by 4, 3, 2 and 1: .02, .03, .06 and .04. No result may be
    # below the result before it, so the last is .06.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_a_missing_p_is_no_test() -> None:
    assert holm([None, 0.02, 0.5]) == [None, 0.04, 0.5]
    assert holm([]) == []


@given(st.lists(SHARES, max_size=10))
def test_holm_raises_and_keeps_the_order(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    for p, raised in zip(p_values, adjusted, strict=True):
        assert p <= raised <= 1
    ordered = [raised for _, raised in sorted(zip(p_values, adjusted, strict=True), key=lambda pair: pair[0])]
    assert ordered == sorted(ordered, key=lambda raised: raised or 0)


def table(systems: int, sets: int, *, step: float, seed: int = 0) -> dict[str, dict[str, float]]:
    chance = random.Random(seed)
    return {
        f"s{system}": {f"d{number}": chance.gauss(step * system, 1) for number in range(sets)}
        for system in range(systems)
    }


@pytest.mark.parametrize("sets", [8, 30])
def test_pairs_are_tested_as_by_themselves_and_corrected_together(sets: int) -> None:
    values = table(3, sets, step=0.5)
    pairs = compare_systems(values, draws=4_000, seed=3)
    assert [(pair.first, pair.second) for pair in pairs] == [("s0", "s1"), ("s0", "s2"), ("s1", "s2")]
    for pair in pairs:
        (alone,) = compare_systems({name: values[name] for name in (pair.first, pair.second)}, draws=4_000)
        assert pair.difference == pytest.approx(alone.difference)
        assert pair.is_exact == (sets <= EXACT_CLUSTERS)
        assert pair.p == pytest.approx(alone.p, abs=1e-12 if pair.is_exact else 0.03)
    assert [pair.adjusted_p for pair in pairs] == holm([pair.p for pair in pairs])


def test_pairs_are_compared_on_what_both_have() -> None:
    values = {"a": {"x": 1.0, "y": 2.0, "z": 9.0}, "b": {"x": 0.0, "y": 0.0}, "c": {"z": 0.0}}
    pairs = compare_systems(values)
    # a and b have differences 1 and 2, so p is two of four flips; a and c have one set, p = 1; b and c have no common
    # set.
    assert [(pair.difference, pair.sets, pair.p) for pair in pairs] == [
        (1.5, 2, 0.5),
        (9, 1, 1),
        (None, 0, None),
    ]
    assert [pair.adjusted_p for pair in pairs] == [1, 1, None]
    assert not pairs[2].is_different()


def test_groups_of_sets_are_flipped_together() -> None:
    # One group has the differences 1 and 2, the other -1: the mean over three sets is 2/3, and the group sums are 3
    # and -1. In all four flips (3, -1), (3, 1), (-3, -1), (-3, 1) the sum is 2 or 4 from zero, so p is 1.
    values = {"a": {"x": 1.0, "y": 2.0, "z": 0.0}, "b": {"x": 0.0, "y": 0.0, "z": 1.0}}
    (pair,) = compare_systems(values, {"x": "storm", "y": "storm", "z": "strike"})
    assert (pair.difference, pair.sets, pair.p, pair.is_exact) == (pytest.approx(2 / 3), 3, 1.0, True)
    # Without groups, of eight flips of (1, 2, -1) four have |sum| 2, two 4 and two 0, so six of eight reach 2.
    assert compare_systems(values)[0].p == pytest.approx(6 / 8)


def test_a_group_weighs_as_much_as_it_has_sets_in_common() -> None:
    # b lacks y: the differences are 1 (storm) and -1 (strike) with the mean 0, so every flip reaches 0.
    values = {"a": {"x": 1.0, "y": 2.0, "z": 0.0}, "b": {"x": 0.0, "z": 1.0}}
    (pair,) = compare_systems(values, {"x": "storm", "y": "storm", "z": "strike"})
    assert (pair.difference, pair.sets, pair.p) == (0.0, 2, 1.0)


def test_a_set_without_a_group_is_refused() -> None:
    with pytest.raises(EvaluationError, match="'z' belongs to no cluster"):
        compare_systems({"a": {"z": 1.0}, "b": {"z": 0.0}}, {"x": "storm"})


def test_gaps_change_no_p_but_their_own() -> None:
    # A complete table and a table with gaps are computed in different ways but with the same flips.
    values = table(3, 40, step=0.6)
    holed = {name: dict(column) for name, column in values.items()}
    del holed["s2"]["d7"]
    whole, gapped = compare_systems(values, draws=2_000)[0], compare_systems(holed, draws=2_000)[0]
    assert whole.p == gapped.p


def one_ahead_of_eleven() -> dict[str, dict[str, float]]:
    ahead = {f"d{number:02}": 1.0 if number else -1.0 for number in range(16)}
    return {"ahead": ahead} | {f"s{number}": dict.fromkeys(ahead, 0.0) for number in range(11)}


@pytest.mark.parametrize("seed", range(4))
def test_a_pair_near_the_level_hangs_on_no_seed(seed: int) -> None:
    # 16 signs add up to 14 or more with at most one minus: 17 of 65,536 flips, and as many on the other side. Times
    # 66 pairs this is .0342. Of 10,000 flips, 5 with a standard error of 2.3 reach the difference, and with more than
    # 6 the result would exceed .05. The 528,000 new flips have a standard error of 6 % of the result.
    pairs = compare_systems(one_ahead_of_eleven(), seed=seed)
    assert len(pairs) == 66
    assert {pair.adjusted_p for pair in pairs[11:]} == {1}
    for pair in pairs[:11]:
        assert pair.p == pytest.approx(34 / 65_536, rel=0.2)
        assert pair.adjusted_p == pytest.approx(0.0342, rel=0.2)
        assert pair.is_different()


def test_flips_that_were_asked_for_are_all_there_are() -> None:
    for pair in compare_systems(one_ahead_of_eleven(), draws=10_000)[:11]:
        assert pair.p * 10_001 == pytest.approx(round(pair.p * 10_001), abs=1e-6)


@pytest.mark.parametrize("draws", [999, None])
def test_true_differences_are_found_and_false_ones_seldom(draws: int | None) -> None:
    # In 60 tables of four equal systems on 15 sets, at most about 3 should show a difference, and 9 is 3.5 standard
    # errors above 3.
    false = sum(
        any(pair.is_different() for pair in compare_systems(table(4, 15, step=0, seed=seed), draws=draws))
        for seed in range(60)
    )
    assert false <= 9
    assert all(pair.is_different() for pair in compare_systems(table(3, 60, step=1.0)))


def test_systems_without_any_set() -> None:
    (pair,) = compare_systems({"a": {}, "b": {}})
    assert (pair.p, pair.adjusted_p, pair.sets) == (None, None, 0)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(EvaluationError, match="at least 1, got 0"):
        pair_of([1], [2], draws=0)
    with pytest.raises(EvaluationError, match="nan"):
        compare_systems({"a": {"x": float("nan")}, "b": {"x": 1}})
    with pytest.raises(InvalidPercent):
        holm([1.2])


NAMES = "abcdef"
DIFFERENT = st.sets(st.sampled_from(list(combinations(NAMES, 2))))


def test_letters_worked_out() -> None:
    assert compact_letters("abc", [("a", "b"), ("b", "c")]) == {"a": "a", "b": "ab", "c": "b"}
    assert indistinct_groups("abc", [("c", "a")]) == (("a", "b"), ("b", "c"))


def test_all_alike_share_a_letter_and_all_different_share_none() -> None:
    assert indistinct_groups(NAMES, []) == (tuple(NAMES),)
    assert indistinct_groups("abc", list(combinations("abc", 2))) == (("a",), ("b",), ("c",))
    assert indistinct_groups([], []) == ()


def test_a_group_need_not_be_a_run() -> None:
    # Only the pairs b, c and b, d differ.
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


def test_names_must_be_known_and_single() -> None:
    with pytest.raises(EvaluationError, match="'z'"):
        indistinct_groups("abc", [("a", "z")])
    with pytest.raises(EvaluationError, match="twice"):
        indistinct_groups("aba", [])


def pair(first: str, second: str, difference: float, p: float) -> PairComparison:
    return PairComparison(first, second, difference, sets=9, p=p, adjusted_p=p, is_exact=False)


def test_what_is_better_than_a_better_one_is_better() -> None:
    # a differs from b and b from c; a and c do not differ in their own test, which has more noise.
    compared = [pair("a", "b", 0.2, 0.01), pair("b", "c", 0.2, 0.01), pair("c", "a", -0.4, 0.2)]
    found = settled_order({"a": 0.8, "b": 0.6, "c": 0.4}, compared)
    assert found == {("a", "b"), ("b", "c"), ("a", "c")}


def test_a_difference_against_the_means_tells_apart() -> None:
    # On the common sets b is better, although a has the higher mean over its own sets.
    assert settled_order({"a": 0.8, "b": 0.6}, [pair("a", "b", -0.1, 0.01)]) == {("b", "a")}


TESTS = st.tuples(
    st.fixed_dictionaries({name: st.integers(0, 8).map(lambda n: n / 8) for name in NAMES[:5]}),
    st.lists(st.integers(-8, 8), min_size=10, max_size=10),
)


def nothing_contradicts(means: dict[str, float], found: frozenset[tuple[str, str]]) -> None:
    order = sorted(means, key=lambda name: -means[name])
    letters = compact_letters(order, indistinct_groups(order, found))
    for one, other in combinations(order, 2):
        assert not {(one, other), (other, one)} <= found
        shares_a_letter = bool(set(letters[one]) & set(letters[other]))
        assert shares_a_letter is not bool({(one, other), (other, one)} & found)


@given(TESTS)
def test_nothing_contradicts_whatever_tests_say(drawn: tuple[dict[str, float], list[int]]) -> None:
    means, differences = drawn
    compared = [
        pair(one, other, difference / 8, 0.01 if abs(difference) > 3 else 0.5)
        for (one, other), difference in zip(combinations(NAMES[:5], 2), differences, strict=True)
    ]
    nothing_contradicts(means, settled_order(means, compared))
