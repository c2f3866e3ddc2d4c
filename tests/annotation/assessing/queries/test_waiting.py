"""Who is left for what waits in the queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.assessing.queries.waiting import PeopleLeft, stranded
from annotation.assessing.services.assign import assign
from annotation.assessing.services.assignment_orders import AssignmentOrder, AssignmentPlan, Way
from annotation.assessing.services.plan_assignments import carry_out, plan_assignments
from annotation.assessing.services.pull_sitting import pull
from annotation.assessing.services.recall_sitting import reassign, withdraw_stranded
from annotation.assessing.words import plan_notes
from annotation.core.refusals import NotAllowed
from annotation.models import Assignment, Event, Membership, Sitting, System
from tests.annotation.laying import add_assessors, begin, judge_and_close

if TYPE_CHECKING:
    from tests.annotation.cast import World


@pytest.fixture(autouse=True)
def two_may_assess(world: World) -> None:
    """Ana and Ben alone: the owner may not."""
    Membership.objects.filter(user=world.olga).update(roles=["manager"])


def order(per_set: int = 1) -> AssignmentOrder:
    return AssignmentOrder(way=Way.QUEUE, seed=1, per_set=per_set)


def fill(world: World, per_set: int = 1) -> list[Sitting]:
    return carry_out(project=world.project, order=order(per_set), by=world.mona)


def preview(world: World, per_set: int) -> AssignmentPlan:
    return plan_assignments(project=world.project, order=order(per_set), by=world.mona)


@pytest.mark.parametrize(
    ("people", "authors", "copies", "lost", "late"),
    [(2, 0, 1, 0, 0), (2, 0, 2, 0, 0), (2, 0, 3, 1, 0), (0, 0, 2, 2, 0), (2, 1, 2, 0, 1), (1, 1, 3, 2, 1)],
)
def test_copies_beyond_the_people_left_wait_for_nobody(
    people: int, authors: int, copies: int, lost: int, late: int
) -> None:
    left = PeopleLeft(people=people, authors=authors)
    assert (left.stranded(copies), left.for_authors_alone(copies)) == (lost, late)


def test_a_copy_for_each_person_is_for_somebody(world: World) -> None:
    fill(world, per_set=2)
    assert stranded(world.project).sittings == ()


def test_the_newest_copy_more_than_people_waits_for_nobody(world: World) -> None:
    made = fill(world, per_set=3)
    found = stranded(world.project)
    newest = {max(row.pk for row in made if row.document_set == each) for each in world.sets.values()}
    assert set(found.sittings) == newest
    assert found.document_sets == ("bridge", "port")


@pytest.mark.parametrize("is_closed", [False, True], ids=["open", "closed"])
def test_whoever_has_or_closed_the_set_is_not_left_for_it(world: World, is_closed: bool) -> None:
    fill(world, per_set=2)
    sitting = assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    if is_closed:
        judge_and_close(sitting)
    assert stranded(world.project).document_sets == ("port",)


def test_whoever_lost_it_to_a_manager_is_not_left_for_it(world: World) -> None:
    [gus] = add_assessors(world, ["gus"])
    sitting = assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    begin(sitting)
    reassign(sitting=sitting, to=world.ben, by=world.mona)
    fill(world, per_set=3)
    # Of "port" two copies were added to Ben's; Gus alone is left.
    assert stranded(world.project).document_sets == ("port",)
    gus.memberships.all().delete()
    assert len(stranded(world.project).sittings) == 3


def test_an_author_is_left_but_told_of(world: World) -> None:
    System.objects.filter(pk=world.systems["alder"].pk).update(person=world.ana)
    fill(world, per_set=2)
    found = stranded(world.project)
    assert (found.sittings, found.for_authors_alone) == ((), 2)


def test_the_preview_tells_before_the_queue_is_filled(world: World) -> None:
    plan = preview(world, 3)
    assert plan.stranded == 2
    assert any("2 assignments will have no eligible assessor" in note for note in plan_notes(plan))
    assert preview(world, 2).stranded == 0


def test_the_preview_counts_what_waits_already(world: World) -> None:
    fill(world, per_set=2)
    judge_and_close(pull(project=world.project, by=world.ana))
    # Of one set Ana's is closed and a copy waits for Ben; of the other two wait, for both of them.
    assert preview(world, 3).stranded == 2


def test_what_waits_for_nobody_is_withdrawn_and_nothing_else(world: World) -> None:
    fill(world, per_set=3)
    lost = stranded(world.project).sittings
    assert withdraw_stranded(project=world.project, by=world.mona) == 2
    gone = Sitting.objects.filter(recalled_at__isnull=False)
    assert set(gone.values_list("pk", flat=True)) == set(lost)
    assert set(Assignment.objects.filter(sitting__in=lost).values_list("state", flat=True)) == {"recalled"}
    assert Event.objects.get(verb="withdraw").data == {"sittings": 2, "document_sets": ["bridge", "port"]}
    assert stranded(world.project).sittings == ()


def test_withdrawing_nothing_is_not_logged(world: World) -> None:
    fill(world, per_set=1)
    assert withdraw_stranded(project=world.project, by=world.mona) == 0
    assert not Event.objects.filter(verb="withdraw").exists()


def test_only_who_assigns_may_withdraw(world: World) -> None:
    with pytest.raises(NotAllowed):
        withdraw_stranded(project=world.project, by=world.rex)
