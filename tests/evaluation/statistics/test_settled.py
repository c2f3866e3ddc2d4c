"""What tests of pairs settle of an order: ranks, ranges, letters and the leader never contradict one another."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from evaluation.statistics.systems._rank import compact_letters
from evaluation.statistics.systems._settled import SettledOrder, settled_order
from evaluation.statistics.systems._significance import PairComparison, compare_systems

NAMES = "abcde"


def pair(first: str, second: str, difference: float, p: float) -> PairComparison:
    return PairComparison(first, second, difference, sets=9, p=p, adjusted_p=p, is_exact=False)


def test_what_is_better_than_a_better_one_is_better() -> None:
    # a over b and b over c hold; that of a over c, of more noise, does not by itself.
    compared = [pair("a", "b", 0.2, 0.01), pair("b", "c", 0.2, 0.01), pair("c", "a", -0.4, 0.2)]
    found = settled_order({"a": 0.8, "b": 0.6, "c": 0.4}, compared)
    assert found.different == {("a", "b"), ("b", "c"), ("a", "c")}
    assert [found.ranks(system) for system in "abc"] == [(1, 1), (2, 2), (3, 3)]


def test_systems_that_are_not_told_apart_share_ranks() -> None:
    found = settled_order(
        {"a": 0.8, "b": 0.7, "c": 0.1}, [pair("a", "b", 0.1, 0.3), pair("a", "c", 0.7, 0.01)]
    )
    assert [found.ranks(system) for system in "abc"] == [(1, 2), (1, 3), (2, 3)]
    assert (found.differ("c", "a"), found.differ("b", "a")) == (True, False)


def test_a_difference_against_the_means_tells_apart_and_settles_no_rank() -> None:
    # On the sets that both have b is better, though a has the higher mean over its own.
    found = settled_order({"a": 0.8, "b": 0.6}, [pair("a", "b", -0.1, 0.01)])
    assert found.different == {("b", "a")}
    assert [found.ranks(system) for system in "ab"] == [(1, 2), (1, 2)]


STUDIES = st.dictionaries(
    st.sampled_from(NAMES),
    st.dictionaries(st.integers(0, 13).map(str), st.integers(0, 20).map(lambda n: n / 20), min_size=1),
    min_size=2,
)
TESTS = st.tuples(
    st.fixed_dictionaries({name: st.integers(0, 8).map(lambda n: n / 8) for name in NAMES}),
    st.lists(st.integers(-8, 8), min_size=10, max_size=10),
)


def nothing_contradicts(means: dict[str, float], found: SettledOrder) -> None:
    order = sorted(means, key=lambda name: -means[name])
    ranks = {name: 1 + sum(other > means[name] for other in means.values()) for name in means}
    letters = compact_letters(order, found.different)
    for name in order:
        low, high = found.ranks(name)
        assert 1 <= low <= ranks[name] <= high <= len(order)
    first, *others = order
    is_ahead_of_all = all(other in found.worse[first] for other in others)
    assert (found.ranks(first) == (1, 1)) is is_ahead_of_all
    for one, other in combinations(order, 2):
        share_a_letter = bool(set(letters[one]) & set(letters[other]))
        assert share_a_letter is not found.differ(one, other)
        assert not (share_a_letter and found.ranks(one)[1] < found.ranks(other)[0])
        if other in found.worse[one]:
            assert ranks[one] < ranks[other]


@given(STUDIES)
def test_nothing_contradicts_in_random_studies(values: dict[str, dict[str, float]]) -> None:
    means = {name: sum(of.values()) / len(of) for name, of in values.items()}
    nothing_contradicts(means, settled_order(means, compare_systems(values)))


@given(TESTS)
def test_nothing_contradicts_whatever_tests_say(drawn: tuple[dict[str, float], list[int]]) -> None:
    means, differences = drawn
    compared = [
        pair(one, other, difference / 8, 0.01 if abs(difference) > 3 else 0.5)
        for (one, other), difference in zip(combinations(NAMES, 2), differences, strict=True)
    ]
    nothing_contradicts(means, settled_order(means, compared))
