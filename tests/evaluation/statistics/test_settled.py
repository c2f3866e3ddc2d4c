"""What tests of pairs settle of an order: letters never contradict the tests."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from evaluation.statistics.systems._rank import compact_letters, indistinct_groups
from evaluation.statistics.systems._settled import settled_order
from evaluation.statistics.systems._significance import PairComparison, compare_systems

NAMES = "abcde"


def pair(first: str, second: str, difference: float, p: float) -> PairComparison:
    return PairComparison(first, second, difference, sets=9, p=p, adjusted_p=p, is_exact=False)


def test_what_is_better_than_a_better_one_is_better() -> None:
    # a over b and b over c hold; that of a over c, of more noise, does not by itself.
    compared = [pair("a", "b", 0.2, 0.01), pair("b", "c", 0.2, 0.01), pair("c", "a", -0.4, 0.2)]
    found = settled_order({"a": 0.8, "b": 0.6, "c": 0.4}, compared)
    assert found == {("a", "b"), ("b", "c"), ("a", "c")}


def test_a_difference_against_the_means_tells_apart() -> None:
    # On the sets that both have b is better, though a has the higher mean over its own.
    assert settled_order({"a": 0.8, "b": 0.6}, [pair("a", "b", -0.1, 0.01)]) == {("b", "a")}


STUDIES = st.dictionaries(
    st.sampled_from(NAMES),
    st.dictionaries(st.integers(0, 13).map(str), st.integers(0, 20).map(lambda n: n / 20), min_size=1),
    min_size=2,
)
TESTS = st.tuples(
    st.fixed_dictionaries({name: st.integers(0, 8).map(lambda n: n / 8) for name in NAMES}),
    st.lists(st.integers(-8, 8), min_size=10, max_size=10),
)


def nothing_contradicts(means: dict[str, float], found: frozenset[tuple[str, str]]) -> None:
    order = sorted(means, key=lambda name: -means[name])
    letters = compact_letters(order, indistinct_groups(order, found))
    for one, other in combinations(order, 2):
        assert not {(one, other), (other, one)} <= found
        shares_a_letter = bool(set(letters[one]) & set(letters[other]))
        assert shares_a_letter is not bool({(one, other), (other, one)} & found)


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
