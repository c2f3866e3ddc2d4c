from __future__ import annotations

from annotation.assessing.queries.own_desk import own_desk
from annotation.assessing.services.queue import pull
from tests.annotation.assigned import say, sit
from tests.annotation.cast import SUMMARIES, World, finish
from tests.annotation.laying import add_sets, open_queue


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
