"""Sittings given by hand: their order, their place among the person's sets, repeats, own work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.assessing.services.assign import assign
from annotation.core.refusals import Conflict, Invalid, NotAllowed
from annotation.models import Assignment, Comparison, Event, Sitting, System
from tests.annotation.laying import add_sets, add_system, judge_and_close

if TYPE_CHECKING:
    from tests.annotation.cast import World


def give(world: World, name: str, person: str = "ana", seed: int | None = None) -> Sitting:
    return assign(document_set=world.sets[name], assessor=getattr(world, person), by=world.mona, seed=seed)


def shown(sitting: Sitting) -> list[tuple[int | None, bool]]:
    """Target length, and whether it is a repeat, in the order of judging."""
    rows = sitting.assignments.order_by("position").values_list("comparison__peer__target_words", "repeat_of")
    return [(target, first is not None) for target, first in rows]


def test_target_lengths_fall_within_a_set(world: World) -> None:
    add_sets(world, ["quay"], targets=(10, 200, 50))
    assert [target for target, _ in shown(give(world, "quay"))] == [200, 200, 50, 50, 10, 10]


def test_new_sets_stand_behind_the_others_of_the_person(world: World) -> None:
    assert [give(world, name).position for name in ("port", "bridge")] == [1, 2]
    assert give(world, "port", "ben").position == 1


def test_a_share_of_the_summaries_comes_twice(world: World) -> None:
    world.project.repeat_share = 0.25
    world.project.save(update_fields=["repeat_share"])
    add_system(world, "cedar")
    add_system(world, "dogwood")
    add_sets(world, ["quay"])
    sitting = give(world, "quay")
    # Four peers, a quarter of them is one, behind the four.
    assert shown(sitting) == [(20, False)] * 4 + [(20, True)]
    again = sitting.assignments.get(repeat_of__isnull=False)
    assert again.repeat_of is not None
    assert again.comparison_id == again.repeat_of.comparison_id
    assert (again.inclusion_probability, again.draw) == (None, None)


def test_two_summaries_are_too_few_to_repeat_one(world: World) -> None:
    world.project.repeat_share = 1.0
    world.project.save(update_fields=["repeat_share"])
    assert [first for _, first in shown(give(world, "port"))] == [False, False]


def test_what_comes_in_later_takes_its_place_while_nothing_was_said(world: World) -> None:
    world.project.repeat_share = 0.3
    world.project.save(update_fields=["repeat_share"])
    add_sets(world, ["quay"], targets=(50, 10))
    every = list(Comparison.objects.filter(peer__document_set=world.sets["quay"]))
    short = [row for row in every if row.peer.target_words == 10]
    sitting = assign(document_set=world.sets["quay"], assessor=world.ana, by=None, comparisons=short)
    kept = set(sitting.assignments.values_list("public_id", flat=True))
    give(world, "quay")
    # Four peers now: 30 % of four, 1.2, is one; both lengths have two peers, so it stands at the end.
    order = shown(sitting)
    assert [target for target, _ in order[:4]] == [50, 50, 10, 10]
    assert [again for _, again in order] == [False] * 4 + [True]
    assert kept <= set(sitting.assignments.values_list("public_id", flat=True))
    assert sorted(sitting.assignments.values_list("position", flat=True)) == [1, 2, 3, 4, 5]


def test_what_comes_in_later_stands_behind_what_is_begun(world: World) -> None:
    add_sets(world, ["quay"], targets=(50, 10))
    every = list(Comparison.objects.filter(peer__document_set=world.sets["quay"]))
    short = [row for row in every if row.peer.target_words == 10]
    sitting = assign(document_set=world.sets["quay"], assessor=world.ana, by=None, comparisons=short)
    sitting.assignments.update(state=Assignment.State.DRAFT)
    give(world, "quay")
    assert [target for target, _ in shown(sitting)] == [10, 10, 50, 50]


def test_assigning_again_changes_nothing_where_nothing_is_new(world: World) -> None:
    first = give(world, "port", seed=1)
    before = list(first.assignments.order_by("position").values_list("public_id", flat=True))
    assert give(world, "port", seed=2) == first
    assert list(first.assignments.order_by("position").values_list("public_id", flat=True)) == before


def test_own_work_is_flagged(world: World) -> None:
    System.objects.filter(name="alder").update(person=world.ana)
    author = System.objects.create(project=world.project, name="model-author", person=world.ana)
    world.models["bridge"].system = author
    world.models["bridge"].save(update_fields=["system"])
    flags = {
        row.comparison_id: (row.is_own_peer, row.is_own_model)
        for name in ("port", "bridge")
        for row in give(world, name).assignments.all()
    }
    assert flags == {
        world.comparison("port", "alder").pk: (True, False),
        world.comparison("port", "birch").pk: (False, False),
        world.comparison("bridge", "alder").pk: (True, True),
        world.comparison("bridge", "birch").pk: (False, True),
    }


def test_a_closed_set_is_not_given_again(world: World) -> None:
    sitting = give(world, "port")
    judge_and_close(sitting)
    with pytest.raises(Conflict) as refused:
        give(world, "port")
    assert refused.value.code == "closed"


def test_a_comparison_of_another_set_is_refused(world: World) -> None:
    with pytest.raises(Invalid):
        assign(
            document_set=world.sets["port"],
            assessor=world.ana,
            by=world.mona,
            comparisons=[world.comparison("bridge", "alder")],
        )
    assert not Sitting.objects.exists()


@pytest.mark.parametrize("by", ["ana", "rex", "cleo", "vic"])
def test_only_managers_assign(world: World, by: str) -> None:
    with pytest.raises(NotAllowed):
        assign(document_set=world.sets["port"], assessor=world.ben, by=getattr(world, by))


def test_the_act_is_logged(world: World) -> None:
    sitting = give(world, "port")
    event = Event.objects.get(verb="assign")
    assert (event.actor, event.target_id) == (world.mona, sitting.public_id)
    assert event.data == {"assessor": "ana", "document_set": "port", "comparisons": 2}


def test_the_number_of_queries_does_not_grow_with_the_set(world: World) -> None:
    add_sets(world, ["quay"], targets=range(10, 40))

    def count(name: str) -> int:
        with CaptureQueriesContext(connection) as asked:
            give(world, name)
        return len(asked)

    assert count("port") == count("quay")
