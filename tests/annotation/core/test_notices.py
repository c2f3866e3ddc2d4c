"""Notices reach those they are for, and are read once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.assessing.services.assign import assign
from annotation.assessing.services.assignment_orders import AssignmentOrder, Way
from annotation.assessing.services.plan_assignments import carry_out
from annotation.assessing.services.recall_sitting import reassign, recall, requeue
from annotation.core.notices import tell
from annotation.core.refusals import Invalid, NotFound
from annotation.exports.services import perform, request_export
from annotation.models import Notice
from annotation.projects.queries.notices import latest, notices_of, unread_count
from annotation.projects.services.change_members import remove_member
from annotation.projects.services.read_notices import mark_all_read, mark_read

if TYPE_CHECKING:
    from pathlib import Path

    from django.contrib.auth.models import User

    from tests.annotation.cast import World

HERE = "/p/harbour/work/"


def leave(world: World, *people: User, text: str = "Two sets for you.") -> int:
    return tell(project=world.project, people=people, kind=Notice.Kind.ASSIGNED, text=text, address=HERE)


def test_each_person_is_told_once(world: World) -> None:
    assert leave(world, world.ana, world.ben, world.ana) == 2
    assert [(row.text, row.address) for row in notices_of(world.ana)] == [("Two sets for you.", HERE)]


def test_a_long_text_is_cut_to_one_line(world: World) -> None:
    leave(world, world.ana, text="line\none " + "x" * 400)
    text = Notice.objects.get().text
    assert (len(text), text[:9], text[-1]) == (300, "line one ", "…")


@pytest.mark.parametrize("address", ["https://x.example/", "//x.example/", "p/harbour/", "/" + "x" * 300])
def test_a_notice_leads_nowhere_else(world: World, address: str) -> None:
    with pytest.raises(Invalid):
        tell(
            project=world.project, people=[world.ana], kind=Notice.Kind.EXPORT, text="Ready.", address=address
        )


def test_reading_one(world: World) -> None:
    leave(world, world.ana)
    first = mark_read(notice=Notice.objects.get(), by=world.ana).read_at
    assert mark_read(notice=Notice.objects.get(), by=world.ana).read_at == first
    assert unread_count(world.ana) == 0


def test_another_persons_notice_is_not_found(world: World) -> None:
    leave(world, world.ana)
    with pytest.raises(NotFound):
        mark_read(notice=Notice.objects.get(), by=world.olga)


def test_reading_all_stops_at_what_was_on_screen(world: World) -> None:
    leave(world, world.ana, text="First.")
    leave(world, world.ana, text="Second.")
    newest = latest(world.ana)[0].public_id
    leave(world, world.ana, text="Meanwhile.")
    assert mark_all_read(by=world.ana, up_to=newest) == 2
    assert [row.text for row in notices_of(world.ana).filter(read_at=None)] == ["Meanwhile."]


def test_who_has_left_finds_no_notices_of_the_project(world: World) -> None:
    leave(world, world.rex)
    remove_member(membership=world.rex.memberships.get(), by=world.olga)
    assert unread_count(world.rex) == 0
    assert latest(world.rex) == []


def test_the_count_is_one_query_and_stops_beyond_99(world: World) -> None:
    for number in range(120):
        leave(world, world.ana, text=f"Set {number}.")
    with CaptureQueriesContext(connection) as asked:
        assert unread_count(world.ana) == 100
    assert len(asked) == 1


def told(person: User) -> list[tuple[str, str]]:
    return [(row.kind, row.text) for row in notices_of(person).order_by("pk")]


def test_work_that_somebody_gave_or_took(world: World) -> None:
    sitting = assign(document_set=world.sets["port"], assessor=world.ana, by=world.mona)
    reassign(sitting=sitting, to=world.ben, by=world.mona)
    assert told(world.ana) == [
        ("assigned", "mona gave you a document set to judge."),
        ("recalled", "mona withdrew a document set; your judgments in it are kept."),
    ]
    assert told(world.ben) == [("assigned", "mona gave you a document set to judge.")]
    recall(sitting=world.ben.sittings.get(recalled_at=None), by=None)
    assert told(world.ben)[1:] == [
        ("recalled", "The operator withdrew a document set; your judgments in it are kept.")
    ]


def test_work_that_is_back_in_the_queue(world: World) -> None:
    requeue(sitting=assign(document_set=world.sets["port"], assessor=world.ana, by=world.mona), by=world.mona)
    assert [kind for kind, _ in told(world.ana)] == ["assigned", "recalled"]


def test_who_gives_work_to_themselves_is_not_told(world: World) -> None:
    world.mona.memberships.update(roles=["manager", "assessor"])
    assign(document_set=world.sets["port"], assessor=world.mona, by=world.mona)
    assert told(world.mona) == []


def test_a_plan_tells_each_person_once(world: World) -> None:
    people = (world.ana.username, world.ben.username)
    carry_out(
        project=world.project,
        order=AssignmentOrder(way=Way.PLAN, seed=1, people=people, per_set=2),
        by=world.mona,
    )
    said = [("assigned", "mona gave you 2 document sets to judge.")]
    assert (told(world.ana), told(world.ben)) == (said, said)


def test_an_export_that_is_ready(world: World, settings: Any, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path
    export = request_export(project=world.project, level="scores", format="csv", by=world.vic)
    for _ in range(2):
        perform(export)
    assert told(world.vic) == [("export", "The export that you asked for is ready: scores as csv.")]
