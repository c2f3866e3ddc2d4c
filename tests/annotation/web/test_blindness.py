"""No page of an assessor names the author of a summary or shows others' answers to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.assessing.services.assign import assign
from annotation.assessing.services.save_acts import judge_unit
from annotation.models import Assignment, Verdict
from annotation.reviewing.services.review import override
from tests.annotation.conftest import HTMX

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User
    from django.test import Client

    from tests.annotation.cast import World

HIDDEN = (
    "hidden-system",
    "hidden-judge",
    "hidden-reason",
    "hidden-review",
    "hidden-note",
    "hidden-person",
)


@pytest.fixture
def assignment(world: World) -> Assignment:
    """Ana's open work on a set whose systems, judge, judgments and other assessor bear hidden names."""
    world.ben.username = "hidden-person"
    world.ben.save(update_fields=["username"])
    world.systems["alder"].name = "hidden-system-1"
    world.systems["alder"].save(update_fields=["name"])
    world.systems["birch"].name = "hidden-system-2"
    world.systems["birch"].save(update_fields=["name"])
    world.judge.name = "hidden-judge"
    world.judge.save(update_fields=["name"])
    Verdict.objects.filter(judge=world.judge).update(reason="hidden-reason")
    override(check=world.check("alder", 1), by=world.rex, label="no", reason="hidden-review")
    others = assign(document_set=world.sets["port"], assessor=world.ben, by=None)
    for reading in others.readings.select_related(
        "assignment__document_set__project", "comparison__peer", "comparison__model"
    ):
        for unit in world.units("port"):
            judge_unit(reading=reading, by=world.ben, unit_id=unit.public_id, percent=80, note="hidden-note")
    return assign(document_set=world.sets["port"], assessor=world.ana, by=None)


def pages(assignment: Assignment) -> list[str]:
    work = "/p/harbour/work/"
    forms = [f"{work}{reading.public_id}/" for reading in assignment.readings.all()]
    return ["/", "/p/harbour/", work, *forms, *(f"{form}source/" for form in forms)]


@pytest.mark.parametrize("roles", [["assessor"], ["assessor", "manager", "reviewer", "viewer"]])
@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "htmx"])
def test_nothing_hidden_is_in_any_byte(
    world: World,
    assignment: Assignment,
    signed_in: Callable[[User], Client],
    roles: list[str],
    headers: dict[str, str],
) -> None:
    world.ana.memberships.update(roles=roles)
    client = signed_in(world.ana)
    for address in pages(assignment):
        answer = client.get(address, headers=headers)
        assert answer.status_code == 200
        told = [name for name in HIDDEN if name in answer.content.decode() + str(answer.headers) + address]
        assert (address, told) == (address, [])


def test_a_saved_act_tells_nothing(
    world: World, assignment: Assignment, signed_in: Callable[[User], Client]
) -> None:
    unit = world.units("port")[0].public_id
    for reading in assignment.readings.all():
        address = f"/p/harbour/work/{reading.public_id}/units/{unit}/"
        answer = signed_in(world.ana).post(address, {"percent": "20"}, headers=HTMX)
        assert [name for name in HIDDEN if name in answer.content.decode()] == []


def test_no_id_in_a_form_is_that_of_its_summary_or_system(
    world: World, assignment: Assignment, signed_in: Callable[[User], Client]
) -> None:
    telling = {row.public_id for row in (*world.peers.values(), *world.systems.values())}
    telling |= {world.comparison("port", name).public_id for name in ("alder", "birch")}
    client = signed_in(world.ana)
    for address in pages(assignment):
        page = client.get(address).content.decode()
        assert [public_id for public_id in telling if public_id in page] == []


def test_peers_are_named_by_their_place(
    world: World, assignment: Assignment, signed_in: Callable[[User], Client]
) -> None:
    reading = assignment.readings.order_by("position")[1]
    page = signed_in(world.ana).get(f"/p/harbour/work/{reading.public_id}/").content.decode()
    assert "Summary 2 of 2" in page
