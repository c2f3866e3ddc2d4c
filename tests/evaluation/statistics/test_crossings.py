"""Where straight lines cross, by hand; and that between the crossings the order stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import EvaluationError, InvalidPercent
from evaluation.statistics.systems._crossings import Crossing, Lead, crossings, leads, means_between

MEANS = st.dictionaries(
    st.sampled_from("abcde"), st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=5
)


def test_two_systems_cross_where_their_lines_meet() -> None:
    # a - b is .4 at 0 and -.1 at 1: nothing of it is left at .4 / .5.
    (found,) = crossings({"a": 0.6, "b": 0.2}, {"a": 0.4, "b": 0.5})
    assert (found.before, found.after) == ("a", "b")
    assert found.weight == pytest.approx(0.8)


def test_who_only_meets_changes_no_places() -> None:
    assert crossings({"a": 0.5, "b": 0.5}, {"a": 0.4, "b": 0.1}) == ()
    assert crossings({"a": 0.5, "b": 0.5}, {"a": 0.4, "b": 0.4}) == ()


def test_the_lead_goes_from_one_to_the_next() -> None:
    # a: 1 - t, b: .6 flat, c: t. a meets b at .4, c passes b at .6, a and c meet below b at .5.
    found = leads({"a": 1.0, "b": 0.6, "c": 0.0}, {"a": 0.0, "b": 0.6, "c": 1.0})
    assert [(lead.systems, lead.low, lead.high) for lead in found] == [
        (("a",), 0.0, pytest.approx(0.4)),
        (("b",), pytest.approx(0.4), pytest.approx(0.6)),
        (("c",), pytest.approx(0.6), 1.0),
    ]


def test_systems_that_are_level_lead_together() -> None:
    assert leads({"a": 0.3, "b": 0.3}, {"a": 0.5, "b": 0.5}) == (Lead(0.0, 1.0, ("a", "b")),)
    assert leads({}, {}) == ()


def test_crossings_come_in_the_order_of_their_weights() -> None:
    found = crossings({"a": 1.0, "b": 0.6, "c": 0.0}, {"a": 0.0, "b": 0.6, "c": 1.0})
    assert [(turn.before, turn.after, round(turn.weight, 9)) for turn in found] == [
        ("a", "b", 0.4),
        ("a", "c", 0.5),
        ("b", "c", 0.6),
    ]
    assert isinstance(found[0], Crossing)


@given(MEANS, st.floats(0, 1))
def test_who_leads_by_the_stretches_has_the_highest_mean(
    both: dict[str, tuple[int, int]], weight: float
) -> None:
    zero, one = ({name: pair[side] / 20 for name, pair in both.items()} for side in (0, 1))
    means = means_between(zero, one, weight)
    (lead, *_) = [each for each in leads(zero, one) if each.low <= weight <= each.high]
    assert max(means.values()) == pytest.approx(means[lead.systems[0]], abs=1e-9)


@given(MEANS)
def test_pairs_cross_exactly_if_their_order_turns(both: dict[str, tuple[int, int]]) -> None:
    turned = {
        frozenset((one, other))
        for one in both
        for other in both
        if both[one][0] > both[other][0] and both[one][1] < both[other][1]
    }
    found = crossings(*({name: pair[side] / 20 for name, pair in both.items()} for side in (0, 1)))
    assert {frozenset((turn.before, turn.after)) for turn in found} == turned


def test_both_ends_name_the_same_systems_with_finite_means() -> None:
    with pytest.raises(EvaluationError, match="same systems"):
        crossings({"a": 0.5}, {"b": 0.5})
    with pytest.raises(EvaluationError, match="finite"):
        leads({"a": float("nan")}, {"a": 0.5})
    with pytest.raises(InvalidPercent):
        means_between({"a": 0.5}, {"a": 0.5}, 1.5)
