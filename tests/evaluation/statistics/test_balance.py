"""Plans: everybody has as much, nobody meets an item twice, and bars are kept."""

from collections import Counter
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation import EvaluationError
from evaluation.statistics import balanced_plan

PEOPLE = ["ana", "ben", "eve", "gus"]


def loads(plan: dict[str, tuple[str, ...]], people: list[str]) -> list[int]:
    counts = Counter(person for given in plan.values() for person in given)
    return sorted(counts[person] for person in people)


def test_twelve_sets_by_two_over_four_people_are_six_each() -> None:
    # 12 * 2 = 24 sittings, 24 / 4 = 6.
    plan = balanced_plan({f"set-{n}": 2 for n in range(12)}, PEOPLE, seed=1)
    assert loads(plan, PEOPLE) == [6, 6, 6, 6]
    assert all(len(set(given)) == 2 for given in plan.values())


def test_what_does_not_divide_differs_by_one() -> None:
    # 5 * 3 = 15 over 4 people: 4, 4, 4, 3.
    plan = balanced_plan({f"set-{n}": 3 for n in range(5)}, PEOPLE, seed=7)
    assert loads(plan, PEOPLE) == [3, 4, 4, 4]


def test_needs_may_differ_and_be_none() -> None:
    plan = balanced_plan({"full": 0, "one": 1, "two": 2}, ["ana", "ben", "eve"], seed=2)
    assert plan["full"] == ()
    assert loads(plan, ["ana", "ben", "eve"]) == [1, 1, 1]


def test_an_item_gets_fewer_only_where_fewer_may_have_it() -> None:
    plan = balanced_plan({"port": 2}, ["ana", "ben"], seed=1, barred=[("port", "ana")])
    assert plan == {"port": ("ben",)}


def test_loads_are_evened_out_through_a_third_person() -> None:
    # Ana may have p and q, Ben q and r, Eve r alone beside s. One each for four items: whoever is given what
    # first, exchanges bring the loads to 1, 1, 2.
    bars = [("r", "ana"), ("s", "ana"), ("p", "ben"), ("s", "ben"), ("p", "eve"), ("q", "eve")]
    for seed in range(20):
        plan = balanced_plan(dict.fromkeys("pqrs", 1), ["ana", "ben", "eve"], seed=seed, barred=bars)
        assert plan["p"] == ("ana",)
        assert plan["s"] == ("eve",)
        assert loads(plan, ["ana", "ben", "eve"]) == [1, 1, 2]


def test_the_same_seed_plans_the_same_and_teams_differ_between_seeds() -> None:
    needs = {f"set-{n}": 2 for n in range(6)}
    plans = [balanced_plan(needs, PEOPLE, seed=seed) for seed in (1, 1, 2, 3)]
    assert plans[0] == plans[1]
    assert any(plan != plans[0] for plan in plans)


def test_people_do_not_always_sit_in_the_same_teams() -> None:
    plan = balanced_plan({f"set-{n}": 2 for n in range(40)}, PEOPLE, seed=1)
    assert len({frozenset(given) for given in plan.values()}) == 6  # all pairs of four


@pytest.mark.parametrize(("people", "needs"), [(["ana", "ana"], {"p": 1}), (["ana"], {"p": -1})])
def test_what_cannot_be_planned_is_refused(people: list[str], needs: dict[str, int]) -> None:
    with pytest.raises(EvaluationError):
        balanced_plan(needs, people, seed=1)


@given(st.integers(0, 30), st.integers(1, 8), st.integers(1, 8), st.integers(0, 2**32))
def test_without_bars_loads_differ_by_at_most_one(items: int, people: int, per_set: int, seed: int) -> None:
    names = [f"p{n}" for n in range(people)]
    plan = balanced_plan({str(n): per_set for n in range(items)}, names, seed=seed)
    held = loads(plan, names)
    assert held[-1] - held[0] <= 1
    assert all(len(set(given)) == len(given) == min(per_set, people) for given in plan.values())


@given(
    st.lists(st.integers(0, 2), min_size=1, max_size=4),
    st.sets(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=8),
    st.integers(0, 2**32),
)
def test_with_bars_no_other_plan_is_more_even(
    needs: list[int], bars: set[tuple[int, int]], seed: int
) -> None:
    people = [0, 1, 2]
    barred = [(item, person) for item, person in bars if item < len(needs)]
    plan = balanced_plan(dict(enumerate(needs)), people, seed=seed, barred=barred)
    assert not {(item, person) for item, given in plan.items() for person in given} & set(barred)
    # Every way to give each item as many of those who may have it as it wants, tried out.
    choices = [
        list(combinations(able, min(need, len(able))))
        for item, need in enumerate(needs)
        for able in [[person for person in people if (item, person) not in set(barred)]]
    ]
    squares = [
        sum(sum(person in given for given in way) ** 2 for person in people) for way in product(*choices)
    ]
    made = sum(sum(person in given for given in plan.values()) ** 2 for person in people)
    assert made == min(squares)
