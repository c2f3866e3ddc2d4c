from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.assessing.services.assign import assign
from annotation.models import Assignment
from tests.annotation.conftest import HTMX
from tests.annotation.laying import begin, open_queue

if TYPE_CHECKING:
    from django.test import Client

    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn

ROOM = "/p/harbour/assignments/"
ONE = {"document_set": "port", "assessor": "ana"}
MANY = {"people": ["ana", "ben"], "per_set": "1"}


@pytest.mark.parametrize(("path", "data", "count"), [("assign/", ONE, 1), ("sets/", MANY, 2)])
def test_a_plain_form_gives_sets_and_comes_back(
    world: World, mona: Client, path: str, data: dict[str, str], count: int
) -> None:
    assert mona.post(f"{ROOM}{path}", data)["Location"] == ROOM
    assert Assignment.objects.count() == count


def test_htmx_gets_the_room_with_the_new_assignment(world: World, mona: Client) -> None:
    page = mona.post(f"{ROOM}assign/", ONE, headers=HTMX).content.decode()
    assert page.lstrip().startswith('<div id="assignments"')
    assert "ana has port to judge." in page


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "htmx"])
@pytest.mark.parametrize(
    ("path", "data"), [("assign/", {**ONE, "assessor": "rex"}), ("sets/", {**MANY, "per_set": "many"})]
)
def test_what_cannot_be_given_is_refused_on_the_form(
    world: World, mona: Client, path: str, data: dict[str, str], headers: dict[str, str]
) -> None:
    answer = mona.post(f"{ROOM}{path}", data, headers=headers)
    assert answer.status_code == 422
    assert b'class="fault"' in answer.content
    assert not Assignment.objects.exists()


def test_work_is_taken_away(world: World, mona: Client) -> None:
    assignment = assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    begin(assignment)
    address = f"{ROOM}{assignment.public_id}/unassign/"
    assert mona.post(address)["Location"] == ROOM
    assert not Assignment.objects.get().is_open
    assert b"port was unassigned" in mona.get(ROOM).content


def test_an_assessor_takes_a_set_gives_it_back_and_takes_it_up(world: World, signed_in: SignIn) -> None:
    open_queue(world)
    ana = signed_in(world.ana)
    assert ana.post("/p/harbour/work/pull/")["Location"] == "/p/harbour/work/"
    assignment = Assignment.objects.get(assessor=world.ana)
    assert ana.post("/p/harbour/work/pull/").status_code == 409
    address = f"/p/harbour/work/sets/{assignment.public_id}/"
    assert signed_in(world.ben).post(f"{address}give-back/").status_code == 404
    assert ana.post(f"{address}give-back/").status_code == 302
    assert b"take-up" in ana.get("/p/harbour/work/").content
    assert ana.post(f"{address}take-up/").status_code == 302
    assert Assignment.objects.get().is_open
