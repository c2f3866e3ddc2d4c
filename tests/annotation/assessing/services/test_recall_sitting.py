"""Sittings taken away, given to somebody else, or put back into the queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.assessing.queries.assignments import WorkState, loads, sitting_page
from annotation.assessing.services.assign import assign
from annotation.assessing.services.assignment_orders import AssignmentOrder, Way
from annotation.assessing.services.plan_assignments import carry_out
from annotation.assessing.services.pull_sitting import pull
from annotation.assessing.services.recall_sitting import give_back, reassign, recall, requeue
from annotation.assessing.words import recalled_in_words
from annotation.core.permissions import is_blind
from annotation.core.refusals import Conflict, Invalid, NotAllowed, NotFound, Refusal
from annotation.models import Assignment, Event, Membership, Role, Score, Sitting, System, UnitJudgment
from tests.annotation.laying import begin, judge_and_close

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.annotation.cast import World


@pytest.fixture
def sitting(world: World) -> Sitting:
    """Ana's on "port", with one unit judged."""
    given = assign(document_set=world.sets["port"], assessor=world.ana, by=world.mona)
    begin(given)
    return given


def code_of(act: Callable[[], object], kind: type[Refusal] = Conflict) -> str:
    with pytest.raises(kind) as refused:
        act()
    return refused.value.code


def test_a_recalled_sitting_keeps_what_was_said_and_counts_for_nothing(
    world: World, sitting: Sitting
) -> None:
    recall(sitting=sitting, by=world.mona)
    sitting.refresh_from_db()
    assert (sitting.recalled_as, sitting.assessor) == ("by_hand", world.ana)
    assert set(sitting.assignments.values_list("state", flat=True)) == {"recalled"}
    assert UnitJudgment.objects.filter(assignment__sitting=sitting, is_current=True).count() == 1
    assert not is_blind(world.ana, world.project)
    assert Event.objects.get(verb="recall").data == {"assessor": "ana", "document_set": "port"}


def test_recalling_twice_changes_nothing(world: World, sitting: Sitting) -> None:
    first = recall(sitting=sitting, by=world.mona)
    assert recall(sitting=sitting, by=world.mona).recalled_at == first.recalled_at
    assert Event.objects.filter(verb="recall").count() == 1


def test_after_a_recall_the_set_can_be_given_to_the_same_person_afresh(
    world: World, sitting: Sitting
) -> None:
    recall(sitting=sitting, by=world.mona)
    again = assign(document_set=world.sets["port"], assessor=world.ana, by=world.mona)
    assert again != sitting
    assert again.assignments.count() == 2


def test_somebody_else_starts_afresh_with_the_same_work(world: World, sitting: Sitting) -> None:
    given = reassign(sitting=sitting, to=world.ben, by=world.mona)
    sitting.refresh_from_db()
    assert sitting.recalled_as == "reassigned"
    assert (given.assessor, given.replaces, given.position) == (world.ben, sitting, 1)
    work = set(sitting.assignments.values_list("comparison", flat=True))
    assert set(given.assignments.values_list("comparison", flat=True)) == work
    assert not UnitJudgment.objects.filter(assignment__sitting=given).exists()
    assert Event.objects.get(verb="reassign").data == {"assessor": "ana", "document_set": "port", "to": "ben"}


def test_own_work_is_told_of_whoever_has_it_now(world: World, sitting: Sitting) -> None:
    System.objects.filter(name="birch").update(person=world.ben)
    given = reassign(sitting=sitting, to=world.ben, by=world.mona)
    assert given.assignments.filter(is_own_peer=True).count() == 1
    assert not sitting.assignments.filter(is_own_peer=True).exists()


def test_who_has_the_set_cannot_be_given_it_again(world: World, sitting: Sitting) -> None:
    assign(document_set=world.sets["port"], assessor=world.ben, by=world.mona)
    assert code_of(lambda: reassign(sitting=sitting, to=world.ben, by=world.mona)) == "has_it"
    assert code_of(lambda: reassign(sitting=sitting, to=world.ana, by=world.mona)) == "has_it"
    sitting.refresh_from_db()
    assert sitting.recalled_at is None


def test_only_an_assessor_can_be_given_work(world: World, sitting: Sitting) -> None:
    with pytest.raises(Invalid):
        reassign(sitting=sitting, to=world.rex, by=world.mona)


def test_begun_work_in_the_queue_is_a_fresh_copy(world: World, sitting: Sitting) -> None:
    waiting = requeue(sitting=sitting, by=world.mona)
    assert (waiting.assessor, waiting.replaces) == (None, sitting)
    assert pull(project=world.project, by=world.ben) == waiting


def test_begun_work_that_went_into_the_queue_is_told_so(world: World, sitting: Sitting) -> None:
    other = assign(document_set=world.sets["bridge"], assessor=world.ana, by=world.mona)
    requeue(sitting=sitting, by=world.mona)
    recall(sitting=other, by=world.mona)
    rows = sitting_page(world.project, viewer=None, state=WorkState.RECALLED).rows
    told = {row.document_set: recalled_in_words(row) for row in rows}
    assert told == {"port": "Moved to the queue", "bridge": "Recalled"}


def test_an_owner_may_be_given_what_somebody_has(world: World, sitting: Sitting) -> None:
    assert reassign(sitting=sitting, to=world.olga, by=world.mona).assessor == world.olga


def test_untouched_work_goes_into_the_queue_as_it_is(world: World) -> None:
    sitting = assign(document_set=world.sets["port"], assessor=world.ana, by=world.mona)
    assert requeue(sitting=sitting, by=world.mona) == sitting
    sitting.refresh_from_db()
    assert (sitting.assessor, sitting.position, sitting.recalled_at) == (None, 0, None)
    assert requeue(sitting=sitting, by=world.mona) == sitting


def test_only_who_may_not_assess_is_told_as_no_assessor(world: World, sitting: Sitting) -> None:
    given = reassign(sitting=sitting, to=world.olga, by=world.mona)
    assert {load.person: load.is_assessor for load in loads(world.project)} == {
        "ana": True,
        "ben": True,
        "olga": True,
    }
    Membership.objects.filter(user=given.assessor).update(roles=[Role.MANAGER])
    assert [load.person for load in loads(world.project) if not load.is_assessor] == ["olga"]


def test_what_waits_can_be_given_to_somebody_or_taken_out(world: World) -> None:
    first, second = carry_out(
        project=world.project, order=AssignmentOrder(way=Way.QUEUE, seed=1), by=world.mona
    )
    given = reassign(sitting=first, to=world.ana, by=world.mona)
    assert (given, given.assessor, given.is_pulled, given.position) == (first, world.ana, False, 1)
    recall(sitting=second, by=world.mona)
    assert code_of(lambda: pull(project=world.project, by=world.ben)) == "queue_empty"


def test_what_is_closed_stays(world: World, sitting: Sitting) -> None:
    judge_and_close(sitting)
    before = Score.objects.get(summary=world.peers["port", "alder"]).coverage
    assert code_of(lambda: recall(sitting=sitting, by=world.mona)) == "closed"
    assert code_of(lambda: reassign(sitting=sitting, to=world.ben, by=world.mona)) == "closed"
    assert code_of(lambda: requeue(sitting=sitting, by=world.mona)) == "closed"
    assert set(sitting.assignments.values_list("state", flat=True)) == {Assignment.State.SUBMITTED}
    assert Score.objects.get(summary=world.peers["port", "alder"]).coverage == before


def test_what_was_taken_away_is_not_given_on(world: World, sitting: Sitting) -> None:
    recall(sitting=sitting, by=world.mona)
    assert code_of(lambda: reassign(sitting=sitting, to=world.ben, by=world.mona)) == "recalled"
    assert code_of(lambda: requeue(sitting=sitting, by=world.mona)) == "recalled"


def test_a_set_given_by_name_is_not_given_back(world: World, sitting: Sitting) -> None:
    assert code_of(lambda: give_back(sitting=sitting, by=world.ana)) == "not_pulled"
    assert code_of(lambda: give_back(sitting=sitting, by=world.ben), NotFound) == "not_found"


@pytest.mark.parametrize("by", ["ana", "rex", "cleo", "vic"])
def test_only_managers_take_work_away(world: World, sitting: Sitting, by: str) -> None:
    person = getattr(world, by)
    for act in (
        lambda: recall(sitting=sitting, by=person),
        lambda: reassign(sitting=sitting, to=world.ben, by=person),
        lambda: requeue(sitting=sitting, by=person),
    ):
        with pytest.raises(NotAllowed):
            act()
