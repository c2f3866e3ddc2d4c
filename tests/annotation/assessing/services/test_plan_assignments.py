"""Plans, queues, more sets by count, and draws with their probabilities."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.assessing.services.assign import assign
from annotation.assessing.services.assignment_orders import AssignmentOrder, Way
from annotation.assessing.services.plan_assignments import carry_out, plan_assignments
from annotation.assessing.words import plan_in_words, plan_notes
from annotation.core.refusals import Conflict, Invalid, NotAllowed
from annotation.models import Assignment, Event, Sitting, Summary, System
from tests.annotation.laying import add_assessors, add_sets, add_system, judge_and_close, only_these_sets

if TYPE_CHECKING:
    from tests.annotation.cast import World

FOUR = ("ana", "ben", "eve", "gus")


def do(world: World, way: Way, *people: str, seed: int = 1, **columns: Any) -> list[Sitting]:
    order = AssignmentOrder(way=way, seed=seed, people=people, **columns)
    return carry_out(project=world.project, order=order, by=world.mona)


def seen(world: World, way: Way, *people: str, seed: int = 1, **columns: Any) -> Any:
    order = AssignmentOrder(way=way, seed=seed, people=people, **columns)
    return plan_assignments(project=world.project, order=order, by=world.mona)


def pairs() -> list[tuple[str, str]]:
    rows = Sitting.objects.values_list("assessor__username", "document_set__external_id")
    return sorted((str(person), name) for person, name in rows)


def assessors_of(world: World) -> Counter[str]:
    return Counter(name for _, name in pairs())


# A plan


def test_the_preview_says_what_a_plan_comes_to(world: World) -> None:
    add_assessors(world, ["eve", "gus"])
    only_these_sets(world, [f"set-{n}" for n in range(12)])
    Summary.objects.filter(is_peer=True, system__name="birch").delete()
    add_system(world, "cedar")
    plan = seen(world, Way.PLAN, *FOUR, per_set=2)
    # 12 sets by 2 are 24 sittings, 24 / 4 = 6 each; every set has one peer: 24 summaries.
    assert plan_in_words(plan) == "24 assignments for 4 people, 6 each; 24 summaries; every set by 2."
    assert [(load.person, load.sets) for load in plan.loads] == [(name, 6) for name in FOUR]
    assert not Sitting.objects.exists()


def test_a_plan_does_what_was_shown(world: World) -> None:
    add_assessors(world, ["eve", "gus"])
    only_these_sets(world, [f"set-{n}" for n in range(12)])
    plan = seen(world, Way.PLAN, *FOUR, per_set=2, seed=77)
    given = carry_out(project=world.project, order=plan.order, by=world.mona, expected=plan.fingerprint)
    assert len(given) == 24
    assert set(Counter(person for person, _ in pairs()).values()) == {6}
    assert set(assessors_of(world).values()) == {2}
    assert len(set(pairs())) == 24
    assert Assignment.objects.count() == 48


def test_places_of_a_plans_sets_are_random_and_complete(world: World) -> None:
    only_these_sets(world, [f"set-{n}" for n in range(8)])
    do(world, Way.PLAN, "ana", per_set=1)
    rows = list(Sitting.objects.order_by("position").values_list("position", "document_set__external_id"))
    assert [position for position, _ in rows] == list(range(1, 9))
    assert [name for _, name in rows] != sorted(name for _, name in rows)


def test_a_second_plan_of_everything_tops_up(world: World) -> None:
    assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    plan = seen(world, Way.PLAN, "ana", "ben", per_set=1)
    assert (plan.sittings, plan.enough) == (1, 1)
    assert "1 set already has enough assessors." in plan_notes(plan)
    do(world, Way.PLAN, "ana", "ben", per_set=1)
    assert assessors_of(world) == {"port": 1, "bridge": 1}
    with pytest.raises(Invalid) as refused:
        do(world, Way.PLAN, "ana", "ben", per_set=1)
    assert refused.value.code == "nothing_to_give"


def test_nobody_is_planned_for_a_set_twice(world: World) -> None:
    assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    do(world, Way.PLAN, "ana", "ben", per_set=2)
    assert pairs() == [("ana", "bridge"), ("ana", "port"), ("ben", "bridge"), ("ben", "port")]


def test_summaries_that_came_in_later_are_added_to_open_sittings(world: World) -> None:
    sitting = assign(
        document_set=world.sets["port"],
        assessor=world.ana,
        by=None,
        comparisons=[world.comparison("port", "alder")],
    )
    do(world, Way.PLAN, "ana", per_set=1, document_sets=(world.sets["port"].public_id,))
    assert Sitting.objects.get() == sitting
    assert sitting.assignments.count() == 2


def test_own_work_is_avoided_where_that_is_asked_for(world: World) -> None:
    only_these_sets(world, ["quay", "mole", "pier", "dock"])
    own = System.objects.create(project=world.project, name="ana-writes", person=world.ana)
    for name in ("quay", "mole"):
        Summary.objects.filter(document_set=world.sets[name], is_model=True).update(system=own)
    do(world, Way.PLAN, "ana", "ben", per_set=1)
    assert pairs() == [("ana", "dock"), ("ana", "pier"), ("ben", "mole"), ("ben", "quay")]
    assert not Assignment.objects.filter(is_own_model=True).exists()


def test_own_work_is_flagged_where_it_is_not_avoided(world: World) -> None:
    world.systems["alder"].person = world.ana
    world.systems["alder"].save(update_fields=["person"])
    assert seen(world, Way.PLAN, "ana", per_set=1).short == 2
    do(world, Way.PLAN, "ana", per_set=1, avoid_own=False)
    assert Assignment.objects.filter(is_own_peer=True).count() == 2


def test_each_summary_may_have_assessors_of_its_own(world: World) -> None:
    add_assessors(world, ["eve", "gus"])
    add_system(world, "cedar")
    add_system(world, "dogwood")
    only_these_sets(world, ["quay", "mole"])
    plan = seen(world, Way.PLAN, *FOUR, per_set=1, by_summary=True)
    assert any("can confound assessors and systems" in note for note in plan_notes(plan))
    do(world, Way.PLAN, *FOUR, per_set=1, by_summary=True)
    # Two sets of four summaries, one assessor each: eight, two for each person.
    assert Assignment.objects.count() == 8
    held = Counter(Assignment.objects.values_list("sitting__assessor__username", flat=True))
    assert held == dict.fromkeys(FOUR, 2)


# A queue


def test_a_queue_is_the_same_with_nobody_named(world: World) -> None:
    plan = seen(world, Way.QUEUE, per_set=3)
    assert plan_in_words(plan) == "6 assignments in the queue; 12 summaries; every set by 3."
    do(world, Way.QUEUE, per_set=3)
    assert pairs() == [("None", "bridge")] * 3 + [("None", "port")] * 3
    assert set(Sitting.objects.values_list("position", "is_pulled")) == {(0, False)}
    assert Assignment.objects.count() == 12


def test_the_places_of_a_queue_have_orders_of_their_own(world: World) -> None:
    do(world, Way.QUEUE, per_set=10)
    orders = {
        tuple(sitting.assignments.order_by("position").values_list("comparison_id", flat=True))
        for sitting in Sitting.objects.filter(document_set=world.sets["port"])
    }
    assert len(orders) == 2


def test_what_people_have_counts_towards_a_queue(world: World) -> None:
    assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    do(world, Way.QUEUE, per_set=2)
    assert assessors_of(world) == {"port": 2, "bridge": 2}


# Draws


def test_an_owner_may_be_given_sets(world: World) -> None:
    do(world, Way.PLAN, "olga", per_set=1)
    assert pairs() == [("olga", "bridge"), ("olga", "port")]


# More sets, and sets by hand


def test_more_sets_are_those_with_fewest_assessors(world: World) -> None:
    only_these_sets(world, ["quay", "mole", "pier"])
    assign(document_set=world.sets["quay"], assessor=world.ana, by=None)
    assign(document_set=world.sets["mole"], assessor=world.ben, by=None)
    do(world, Way.MORE, "ben", count=1)
    assert ("ben", "pier") in pairs()
    do(world, Way.MORE, "ben", count=1)
    assert ("ben", "quay") in pairs()
    plan = seen(world, Way.MORE, "ben", count=5)
    assert (plan.sittings, plan.short) == (0, 5)


def test_more_sets_come_at_random_among_equals(world: World) -> None:
    only_these_sets(world, [f"set-{n}" for n in range(8)])
    first = {seen(world, Way.MORE, "ben", count=1, seed=seed).seats[0].document_set_id for seed in range(12)}
    assert len(first) > 2


def test_chosen_sets_that_the_person_has_are_left_out_and_named(world: World) -> None:
    assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    chosen = tuple(row.public_id for row in world.sets.values())
    plan = seen(world, Way.HAND, "ana", document_sets=chosen)
    assert (plan_in_words(plan), plan.left_out) == ("1 document set for ana; 2 summaries.", ("port",))
    do(world, Way.HAND, "ana", document_sets=chosen)
    assert pairs() == [("ana", "bridge"), ("ana", "port")]


def test_a_closed_set_is_not_given_by_hand_again(world: World) -> None:
    judge_and_close(assign(document_set=world.sets["port"], assessor=world.ana, by=None))
    with pytest.raises(Invalid) as refused:
        do(world, Way.HAND, "ana", document_sets=(world.sets["port"].public_id,))
    assert refused.value.code == "nothing_to_give"


# Refusals


@pytest.mark.parametrize(
    ("way", "people", "columns", "field"),
    [
        (Way.HAND, ("ana",), {}, "document_sets"),
        (Way.HAND, (), {"document_sets": ("x",)}, "people"),
        (Way.HAND, ("ana",), {"document_sets": ("x",)}, "document_sets"),
        (Way.MORE, ("ana", "ben"), {}, "people"),
        (Way.MORE, ("ana",), {"count": 0}, "count"),
        (Way.PLAN, (), {}, "people"),
        (Way.PLAN, ("ana",), {"per_set": 2}, "per_set"),
        (Way.PLAN, ("ana", "ana"), {}, "people"),
        (Way.PLAN, ("rex",), {}, "people"),
        (Way.PLAN, ("dan",), {}, "people"),
        (Way.QUEUE, ("ana",), {}, "people"),
        (Way.QUEUE, (), {"per_set": 0}, "per_set"),
        (Way.QUEUE, (), {"by_summary": True}, "by_summary"),
    ],
)
def test_a_senseless_order_is_refused(
    world: World, way: Way, people: tuple[str, ...], columns: dict[str, Any], field: str
) -> None:
    with pytest.raises(Invalid) as refused:
        do(world, way, *people, **columns)
    assert refused.value.field == field
    assert not Sitting.objects.exists()


def test_a_set_of_another_project_is_refused(world: World) -> None:
    from annotation.models import DocumentSet

    theirs = DocumentSet.objects.create(project=world.other_project, external_id="theirs")
    with pytest.raises(Invalid):
        do(world, Way.HAND, "ana", document_sets=(theirs.public_id,))


def test_what_changed_since_it_was_shown_is_not_done(world: World) -> None:
    plan = seen(world, Way.PLAN, "ana", "ben", per_set=1)
    assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    with pytest.raises(Conflict) as refused:
        carry_out(project=world.project, order=plan.order, by=world.mona, expected=plan.fingerprint)
    assert refused.value.code == "changed"
    assert Sitting.objects.count() == 1


@pytest.mark.parametrize("by", ["ana", "rex", "cleo", "vic"])
def test_only_managers_plan(world: World, by: str) -> None:
    order = AssignmentOrder(way=Way.QUEUE, seed=1)
    with pytest.raises(NotAllowed):
        plan_assignments(project=world.project, order=order, by=getattr(world, by))
    with pytest.raises(NotAllowed):
        carry_out(project=world.project, order=order, by=getattr(world, by))


def test_a_plan_is_one_event(world: World) -> None:
    do(world, Way.PLAN, "ana", "ben", per_set=1)
    event = Event.objects.get()
    assert (event.verb, event.actor, event.target_id) == ("assign", world.mona, world.project.public_id)
    assert event.data["sittings"] == 2


def test_the_number_of_queries_does_not_grow_with_the_project(world: World) -> None:
    def count() -> int:
        order = AssignmentOrder(way=Way.PLAN, seed=1, people=("ana", "ben"), per_set=2)
        with CaptureQueriesContext(connection) as asked:
            carry_out(project=world.project, order=replace(order), by=world.mona)
        return len(asked)

    before = count()
    add_sets(world, [f"set-{n}" for n in range(3)])
    assert count() == before
