"""An assessor's own page: their sets by state, the queue's offer, their time, and how they agree with themselves."""

from __future__ import annotations

import pytest
from django.utils import timezone

from annotation.assessing.queries.own_desk import own_desk
from annotation.assessing.services.assignment_orders import AssignmentOrder, Way
from annotation.assessing.services.plan_assignments import carry_out
from annotation.assessing.services.pull_sitting import pull
from annotation.assessing.services.recall_sitting import lapse_leases, recall
from annotation.models import Sitting
from tests.annotation.cast import PEERS, World, finish
from tests.annotation.laying import add_sets, begin
from tests.annotation.sitting import repeat, say, sit


def test_sets_are_begun_open_or_submitted(world: World) -> None:
    add_sets(world, ["third"])
    closed = sit(world, "ana", "port")
    for system in PEERS:
        say(closed, system, (60, [1], 1000), (20, [2], 1000))
    finish(closed)
    say(sit(world, "ana", "bridge"), "alder", (60, [1], 500))
    sit(world, "ana", "third")
    desk = own_desk(world.project, world.ana)
    named = {kind: [own.work.name for own in getattr(desk, kind)] for kind in ("drafts", "open", "submitted")}
    assert named == {"drafts": ["bridge"], "open": ["third"], "submitted": ["port"]}
    assert [own.work.name for own in desk.in_hand] == ["bridge", "third"]
    assert desk.submitted[0].effort.active_ms == 4000
    assert (desk.effort.judged_units, desk.effort.active_ms) == (5, 4500)
    # Five units in 4.5 s: 4000 an hour.
    assert desk.effort.units_per_hour == 4000


def test_others_work_is_not_in_it(world: World) -> None:
    say(sit(world, "ben", "port"), "alder", (60, [1], 500))
    desk = own_desk(world.project, world.ana)
    assert desk.is_empty
    assert (desk.effort.judged_units, desk.effort.hours, desk.agreement.items) == (0, 0, 0)


def test_what_was_taken_away_is_time_and_no_result(world: World) -> None:
    sitting = sit(world, "ana", "port")
    say(sitting, "alder", (60, [1], 500))
    recall(sitting=sitting, by=world.mona)
    say(sit(world, "ana", "bridge"), "alder", (60, [1], 400), (20, [1], 100))
    desk = own_desk(world.project, world.ana)
    assert (desk.effort.judged_units, desk.effort.active_ms) == (2, 1000)


def test_repeats_show_once_their_set_is_closed(world: World) -> None:
    sitting = sit(world, "ana", "port")
    repeat(sitting, "alder")
    for system in PEERS:
        say(sitting, system, (60, [1], 0), (20, [2], 0))
    say(sitting, "alder", (40, [1], 0), (100, [2], 0), again=True)
    assert own_desk(world.project, world.ana).agreement.items == 0
    finish(sitting)
    # 60 and 40, 20 and 100: none equal, one of two within 20, (20 + 80) / 2 = 50 apart.
    agreement = own_desk(world.project, world.ana).agreement
    assert (agreement.items, agreement.exact, agreement.within_step) == (2, 0, 0.5)
    assert agreement.mean_difference == 50


def test_the_queue_offers_and_what_lapsed_can_be_taken_up(world: World) -> None:
    carry_out(project=world.project, order=AssignmentOrder(way=Way.QUEUE, seed=1), by=world.mona)
    assert own_desk(world.project, world.ana).offer.sets == 2
    sitting = pull(project=world.project, by=world.ana)
    begin(sitting)
    desk = own_desk(world.project, world.ana)
    assert (desk.offer.in_hand, desk.drafts[0].is_pulled) == (sitting.public_id, True)
    Sitting.objects.filter(pk=sitting.pk).update(lease_until=timezone.now())
    lapse_leases(project=world.project)
    desk = own_desk(world.project, world.ana)
    assert desk.is_empty
    assert [lost.sitting_id for lost in desk.lapsed] == [sitting.public_id]


def test_a_pulled_set_comes_first_before_it_is_begun(world: World) -> None:
    add_sets(world, ["third"])
    carry_out(project=world.project, order=AssignmentOrder(way=Way.QUEUE, seed=1), by=world.mona)
    pulled = pull(project=world.project, by=world.ana).document_set.external_id
    begun, next_one = [name for name in ("port", "bridge", "third") if name != pulled]
    say(sit(world, "ana", begun), "alder", (60, [1], 500))
    sit(world, "ana", next_one)
    desk = own_desk(world.project, world.ana)
    assert [own.work.name for own in desk.at_hand] == [pulled, begun, next_one]
    assert desk.later == ()


def test_of_what_is_not_begun_only_the_next_is_at_hand(world: World) -> None:
    add_sets(world, ["third"])
    for name in ("port", "bridge", "third"):
        sit(world, "ana", name)
    desk = own_desk(world.project, world.ana)
    assert [own.work.name for own in desk.at_hand] == ["port"]
    assert [own.work.name for own in desk.later] == ["bridge", "third"]


@pytest.mark.parametrize(("ms", "pace"), [(299_999, None), (300_000, 12.0)])
def test_a_pace_is_told_from_ten_minutes_on(world: World, ms: int, pace: float | None) -> None:
    # Two units in twice 5 minutes: 12 an hour.
    say(sit(world, "ana", "port"), "alder", (60, [1], ms), (20, [2], ms))
    assert own_desk(world.project, world.ana).pace == (pace and pytest.approx(pace))
