from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from django.db import connection
from django.utils import timezone

from annotation.assessing.queries.assignments import lapsed_work, queue_offer
from annotation.assessing.services.assign import assign
from annotation.assessing.services.queue import give_back, lapse_leases, pull, take_up
from annotation.assessing.services.unassign import unassign
from annotation.core.refusals import Conflict, NotFound
from annotation.models import Assignment, Event
from tests.annotation.at_once import at_once
from tests.annotation.laying import add_assessors, begin, judge_and_close, only_these_sets, open_queue

if TYPE_CHECKING:
    from tests.annotation.cast import World


def run_out(assignment: Assignment) -> None:
    Assignment.objects.filter(pk=assignment.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def refused(act: Callable[[], object]) -> str:
    with pytest.raises(Conflict) as refusal:
        act()
    return refusal.value.code


def test_a_pulled_set_is_the_persons_under_a_lease(world: World) -> None:
    open_queue(world)
    before = timezone.now()
    assignment = pull(project=world.project, by=world.ana)
    assignment.refresh_from_db()
    assert assignment.assessor == world.ana
    assert assignment.readings.count() == 2
    assert timedelta(minutes=29) < assignment.lease_until - before < timedelta(minutes=31)
    assert Event.objects.get(verb="pull").actor == world.ana


def test_one_pulled_set_at_a_time(world: World) -> None:
    open_queue(world)
    assignment = pull(project=world.project, by=world.ana)
    with pytest.raises(Conflict) as refusal:
        pull(project=world.project, by=world.ana)
    assert (refusal.value.code, refusal.value.details) == (
        "one_at_a_time",
        {"assignment": assignment.public_id},
    )
    judge_and_close(assignment)
    assert pull(project=world.project, by=world.ana).document_set != assignment.document_set


def test_nobody_pulls_a_set_that_they_have_or_had(world: World) -> None:
    open_queue(world, per_set=2)
    unassign(assignment=assign(document_set=world.sets["port"], assessor=world.ana, by=None), by=None)
    first = pull(project=world.project, by=world.ana)
    assert first.document_set.external_id == "bridge"
    judge_and_close(first)
    assert refused(lambda: pull(project=world.project, by=world.ana)) == "queue_empty"


def test_the_least_covered_sets_come_first(world: World) -> None:
    only_these_sets(world, ["quay", "mole", "pier"])
    open_queue(world, per_set=3)
    (eve,) = add_assessors(world, ["eve"])
    for name in ("quay", "mole"):
        assign(document_set=world.sets[name], assessor=eve, by=None)
    assert pull(project=world.project, by=world.ana).document_set.external_id == "pier"


def test_assessors_whom_a_manager_chose_count(world: World) -> None:
    open_queue(world)
    assign(document_set=world.sets["port"], assessor=world.ben, by=None)
    assert queue_offer(world.project, world.ana).sets == 1
    assert pull(project=world.project, by=world.ana).document_set.external_id == "bridge"


def test_without_a_number_for_each_set_there_is_no_queue(world: World) -> None:
    assert refused(lambda: pull(project=world.project, by=world.ana)) == "queue_empty"


def test_eight_who_pull_at_once_share_out_what_there_is(transactional_db: None, world: World) -> None:
    only_these_sets(world, ["quay", "mole", "pier"])
    people = add_assessors(world, [f"person-{n}" for n in range(8)])
    open_queue(world, per_set=2)
    got = at_once(*(lambda person=person: pull(project=world.project, by=person) for person in people))
    sets = Counter(assignment.document_set_id for assignment in got if isinstance(assignment, Assignment))
    assert list(sets.values()) == [2, 2, 2]
    assert Counter(refusal.code for refusal in got if isinstance(refusal, Conflict)) == {"queue_empty": 2}


def test_a_manager_and_the_queue_do_not_give_the_same_set_twice(transactional_db: None, world: World) -> None:
    only_these_sets(world, ["quay"])
    open_queue(world, per_set=2)
    got = at_once(
        lambda: pull(project=world.project, by=world.ana),
        lambda: assign(document_set=world.sets["quay"], assessor=world.ana, by=world.mona),
    )
    assert Assignment.objects.filter(assessor=world.ana).count() == 1
    assert isinstance(got[1], Assignment)


def test_a_set_whose_lease_ran_out_is_back_in_the_queue(world: World) -> None:
    only_these_sets(world, ["quay"])
    open_queue(world)
    assignment = pull(project=world.project, by=world.ana)
    begin(assignment)
    run_out(assignment)
    assert lapse_leases(project=world.project) == 1
    assignment.refresh_from_db()
    assert not assignment.is_open
    assert Event.objects.get(verb="lapse").actor is None
    assert pull(project=world.project, by=world.ben).document_set == assignment.document_set


def test_a_lease_that_still_runs_does_not_lapse(world: World) -> None:
    open_queue(world)
    pull(project=world.project, by=world.ana)
    assert lapse_leases() == 0


def test_a_lease_is_told_by_the_databases_clock(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("SQLite has its machine's clock.")
    open_queue(world)
    assignment = pull(project=world.project, by=world.ana)
    ahead = timezone.now() + timedelta(days=1)
    monkeypatch.setattr("django.utils.timezone.now", lambda: ahead)
    assert lapse_leases() == 0
    begin(assignment)
    assignment.refresh_from_db()
    assert assignment.lease_until < ahead


def test_who_comes_back_first_goes_on_with_all_that_they_said(world: World) -> None:
    open_queue(world)
    assignment = pull(project=world.project, by=world.ana)
    begin(assignment)
    run_out(assignment)
    lapse_leases()
    assert [row.assignment_id for row in lapsed_work(world.project, world.ana)] == [assignment.public_id]
    resumed = take_up(assignment=assignment, by=world.ana)
    assert (resumed.pk, resumed.is_open) == (assignment.pk, True)
    assert resumed.lease_until > timezone.now()
    assert sorted(resumed.readings.values_list("state", flat=True)) == ["draft", "open"]
    judge_and_close(resumed)


def test_who_comes_back_last_is_told(world: World) -> None:
    only_these_sets(world, ["quay"])
    open_queue(world)
    assignment = pull(project=world.project, by=world.ana)
    run_out(assignment)
    pull(project=world.project, by=world.ben)
    assert lapsed_work(world.project, world.ana) == []
    assert refused(lambda: take_up(assignment=assignment, by=world.ana)) == "taken"


def test_what_a_manager_took_away_cannot_be_taken_up(world: World) -> None:
    open_queue(world)
    assignment = pull(project=world.project, by=world.ana)
    unassign(assignment=assignment, by=world.mona)
    assert lapsed_work(world.project, world.ana) == []
    assert refused(lambda: take_up(assignment=assignment, by=world.ana)) == "unassigned"


def test_an_open_set_is_simply_taken_up(world: World) -> None:
    assignment = assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    assert take_up(assignment=assignment, by=world.ana) == assignment
    with pytest.raises(NotFound):
        take_up(assignment=assignment, by=world.ben)


def test_a_returned_set_is_for_others_and_can_be_taken_up(world: World) -> None:
    open_queue(world)
    assignment = pull(project=world.project, by=world.ana)
    give_back(assignment=assignment, by=world.ana)
    assert queue_offer(world.project, world.ben).sets == 2
    assert queue_offer(world.project, world.ana).sets == 1
    assert take_up(assignment=assignment, by=world.ana).is_open


def test_a_set_that_a_manager_gave_cannot_be_returned(world: World) -> None:
    assignment = assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    assert refused(lambda: give_back(assignment=assignment, by=world.ana)) == "not_pulled"
    with pytest.raises(NotFound):
        give_back(assignment=assignment, by=world.ben)
