"""A manager hands out document sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.models import Sitting
from tests.annotation.web.conftest import HTMX

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User
    from django.test import Client

    from tests.annotation.cast import World

ROOM = "/p/harbour/assignments/"
ASSIGN = f"{ROOM}assign/"


@pytest.fixture
def mona(world: World, signed_in: Callable[[User], Client]) -> Client:
    return signed_in(world.mona)


def test_assessors_and_sets_can_be_chosen(world: World, mona: Client) -> None:
    context = mona.get(ROOM).context
    assert context["assessors"] == ["ana", "ben"]
    assert [(row.name, row.comparisons, row.sittings) for row in context["sets"]] == [
        ("bridge", 2, 0),
        ("port", 2, 0),
    ]


def test_a_plain_form_gives_sets_and_comes_back(world: World, mona: Client) -> None:
    chosen = [document_set.public_id for document_set in world.sets.values()]
    assert mona.post(ASSIGN, {"assessor": "ana", "sets": chosen})["Location"] == ROOM
    assert Sitting.objects.filter(assessor=world.ana).count() == 2


def test_htmx_gets_the_room_with_the_new_sitting(world: World, mona: Client) -> None:
    data = {"assessor": "ben", "sets": world.sets["port"].public_id}
    page = mona.post(ASSIGN, data, headers=HTMX).content.decode()
    assert page.lstrip().startswith('<div id="assignments"')
    assert "ben has 1 document set to judge." in page


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "htmx"])
@pytest.mark.parametrize("assessor", ["ana", "rex", "dan", ""])
def test_what_cannot_be_given_is_refused_on_the_form(
    world: World, mona: Client, assessor: str, headers: dict[str, str]
) -> None:
    sets = [] if assessor == "ana" else [world.sets["port"].public_id]
    answer = mona.post(ASSIGN, {"assessor": assessor, "sets": sets}, headers=headers)
    assert answer.status_code == 422
    assert b'class="fault"' in answer.content
    assert not Sitting.objects.exists()


def test_a_set_of_another_project_cannot_be_given(world: World, signed_in: Callable[[User], Client]) -> None:
    world.dan.memberships.update(roles=["owner", "assessor"])
    data = {"assessor": "dan", "sets": world.sets["port"].public_id}
    signed_in(world.dan).post("/p/quarry/assignments/assign/", data)
    assert not Sitting.objects.exists()
