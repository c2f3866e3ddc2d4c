"""An assessor's own page: their sets by state, and the queue's offer."""

from __future__ import annotations

from django.utils import timezone

from annotation.assessing.queries.own_desk import own_desk
from annotation.assessing.services.queue import lapse_leases, pull
from annotation.models import Assignment
from tests.annotation.assigned import say, sit
from tests.annotation.cast import SUMMARIES, World, finish
from tests.annotation.laying import add_sets, begin, open_queue


def test_sets_are_begun_open_or_submitted(world: World) -> None:
    add_sets(world, ["third"])
    closed = sit(world, "ana", "port")
    for system in SUMMARIES:
        say(closed, system, (60, [1], 1000), (20, [2], 1000))
    finish(closed)
    say(sit(world, "ana", "bridge"), "alder", (60, [1], 500))
    sit(world, "ana", "third")
    desk = own_desk(world.project, world.ana)
    named = {kind: [work.name for work in getattr(desk, kind)] for kind in ("drafts", "open", "submitted")}
    assert named == {"drafts": ["bridge"], "open": ["third"], "submitted": ["port"]}
    assert (desk.submitted[0].is_complete, desk.drafts[0].is_complete) == (True, False)
    assert own_desk(world.project, world.ben).is_empty


def test_the_queue_offers_and_what_lapsed_can_be_taken_up(world: World) -> None:
    open_queue(world)
    assert own_desk(world.project, world.ana).offer.sets == 2
    assignment = pull(project=world.project, by=world.ana)
    begin(assignment)
    desk = own_desk(world.project, world.ana)
    assert (desk.offer.in_hand, desk.drafts[0].assignment_id) == (assignment.public_id, assignment.public_id)
    Assignment.objects.filter(pk=assignment.pk).update(lease_until=timezone.now())
    lapse_leases(project=world.project)
    desk = own_desk(world.project, world.ana)
    assert desk.is_empty
    assert [lost.assignment_id for lost in desk.lapsed] == [assignment.public_id]


def test_a_pulled_set_comes_first_before_it_is_begun(world: World) -> None:
    add_sets(world, ["third"])
    open_queue(world)
    pulled = pull(project=world.project, by=world.ana).document_set.external_id
    started, next_one = [name for name in ("port", "bridge", "third") if name != pulled]
    say(sit(world, "ana", started), "alder", (60, [1], 500))
    sit(world, "ana", next_one)
    desk = own_desk(world.project, world.ana)
    assert [work.name for work in desk.at_hand] == [pulled, started, next_one]
    assert desk.later == ()


def test_of_what_is_not_begun_only_the_next_is_at_hand(world: World) -> None:
    add_sets(world, ["third"])
    for name in ("port", "bridge", "third"):
        sit(world, "ana", name)
    desk = own_desk(world.project, world.ana)
    assert [work.name for work in desk.at_hand] == ["port"]
    assert [work.name for work in desk.later] == ["bridge", "third"]
