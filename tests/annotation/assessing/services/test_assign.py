from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.assessing.services.assign import assign, assign_sets
from annotation.assessing.services.unassign import unassign
from annotation.core.refusals import Conflict, Invalid
from annotation.models import Assignment, Comparison, DocumentSet, Summary
from tests.annotation.laying import add_assessors, add_sets, judge_and_close, only_these_sets

if TYPE_CHECKING:
    from tests.annotation.cast import World


def give(world: World, name: str, person: str = "ana", seed: int | None = None) -> Assignment:
    return assign(document_set=world.sets[name], assessor=getattr(world, person), by=world.mona, seed=seed)


def spread(world: World, *names: str, per_set: int = 1) -> list[Assignment]:
    people = [world.users[name] for name in names]
    return assign_sets(project=world.project, people=people, per_set=per_set, by=world.mona)


def targets(assignment: Assignment) -> list[int | None]:
    rows = assignment.readings.order_by("position")
    return list(rows.values_list("comparison__summary__target_words", flat=True))


def test_target_lengths_fall_within_a_set(world: World) -> None:
    add_sets(world, ["quay"], targets=(10, 200, 50))
    assert targets(give(world, "quay")) == [200, 200, 50, 50, 10, 10]


def test_summaries_of_one_length_come_at_random(world: World) -> None:
    orders = set()
    for seed in range(20):
        assignment = give(world, "port", seed=seed)
        orders.add(tuple(assignment.readings.order_by("position").values_list("comparison", flat=True)))
        assignment.delete()
    assert len(orders) == 2


def test_what_comes_in_later_stands_behind_what_is_there(world: World) -> None:
    add_sets(world, ["quay"], targets=(10,))
    assignment = give(world, "quay")
    reference = world.sets["quay"].summaries.get(is_reference=True)
    summary = Summary.objects.create(
        document_set=world.sets["quay"],
        system=world.systems["alder"],
        is_summary=True,
        target_words=50,
        text="x",
    )
    Comparison.objects.create(summary=summary, reference=reference)
    assert give(world, "quay") == assignment
    assert targets(assignment) == [10, 10, 50]


def test_a_closed_set_is_not_given_again(world: World) -> None:
    judge_and_close(give(world, "port"))
    with pytest.raises(Conflict) as refused:
        give(world, "port")
    assert refused.value.code == "closed"


def test_a_set_without_a_model_summary_is_refused(world: World) -> None:
    world.sets["bare"] = DocumentSet.objects.create(project=world.project, external_id="bare")
    with pytest.raises(Invalid):
        give(world, "bare")


def test_who_is_no_assessor_is_given_nothing(world: World) -> None:
    with pytest.raises(Invalid):
        give(world, "port", "rex")


def test_every_set_gets_as_many_and_everybody_as_much_to_do(world: World) -> None:
    only_these_sets(world, [f"set-{n}" for n in range(6)])
    add_assessors(world, ["eve"])
    given = spread(world, "ana", "ben", "eve", per_set=2)
    assert len({(each.document_set_id, each.assessor_id) for each in given}) == 12
    assert Counter(each.assessor.username for each in given) == {"ana": 4, "ben": 4, "eve": 4}
    assert set(Counter(each.document_set_id for each in given).values()) == {2}
    assert all(targets(each) == [20, 20] for each in given)


def test_who_has_the_fewest_open_sets_comes_first(world: World) -> None:
    only_these_sets(world, ["quay", "mole", "pier"])
    give(world, "quay")
    give(world, "mole")
    spread(world, "ana", "ben", per_set=1)
    assert set(Assignment.objects.values_list("assessor__username", "document_set__external_id")) == {
        ("ana", "quay"),
        ("ana", "mole"),
        ("ben", "pier"),
    }


def test_nobody_is_given_a_set_that_they_had(world: World) -> None:
    only_these_sets(world, ["quay"])
    unassign(assignment=give(world, "quay"), by=world.mona)
    with pytest.raises(Invalid):
        spread(world, "ana")
    (given,) = spread(world, "ana", "ben", per_set=2)
    assert given.assessor == world.ben


@pytest.mark.parametrize("per_set", [0, 21])
def test_the_number_for_each_set_has_bounds(world: World, per_set: int) -> None:
    with pytest.raises(Invalid) as refused:
        spread(world, "ana", per_set=per_set)
    assert refused.value.field == "per_set"


def test_the_number_of_queries_does_not_grow_with_the_sets(world: World) -> None:
    def count(*names: str) -> int:
        only_these_sets(world, names)
        with CaptureQueriesContext(connection) as asked:
            spread(world, "ana", "ben")
        return len(asked)

    assert count("quay") == count(*(f"set-{n}" for n in range(9)))
