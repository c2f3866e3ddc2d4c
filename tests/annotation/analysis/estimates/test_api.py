"""The plan and its sample over the API."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.models import Draw
from tests.annotation.planning import lay_sets

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor

ADDRESS = "/api/v1/projects/harbour"


@pytest.fixture
def laid(world: World) -> World:
    lay_sets(world, 4)
    return world


def test_the_plan_holds_what_the_page_shows(laid: World, client_of: ApiDoor) -> None:
    told = client_of("vic").get(f"{ADDRESS}/plan/").json()
    assert (told["basis"], told["checks"], told["is_stale"]) == ("judge", 38, False)
    (table,) = told["targets"]
    assert (told["pilot_answered"], told["complete"]) == (0, "")
    assert (table["documents"], table["document_sets"], table["cluster"]) == (5, 5, "document set")
    assert (table["widest_now"], table["wanted"][0]["is_reached"]) == (None, False)
    assert table["outlooks"]["38"]["uniform"]["is_few"]
    assert table["systems"][0]["judge"]["n"] == 5


def test_a_planned_draw_can_be_sent_twice(laid: World, client_of: ApiDoor) -> None:
    order = {"size": 10, "design": "stratified", "seed": 4}
    first, second = (client_of("mona").post(f"{ADDRESS}/plan/draws/", order, format="json") for _ in range(2))
    assert (first.status_code, first.json()) == (201, second.json())
    assert (first.json()["drawn"], first.json()["answered"]) == (10, 0)
    assert Draw.objects.count() == 1


def test_a_design_that_is_none_is_refused(laid: World, client_of: ApiDoor) -> None:
    answer = client_of("mona").post(f"{ADDRESS}/plan/draws/", {"size": 10, "design": "people"}, format="json")
    assert answer.status_code == 400
