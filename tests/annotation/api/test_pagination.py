from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Check
from annotation.reviewing.services.review import override
from tests.annotation.api.routes import LISTS, grow
from tests.annotation.cast import World

if TYPE_CHECKING:
    from tests.annotation.conftest import ApiDoor

CHECKS = "/api/v1/projects/harbour/checks/"


def pages(client: Any, address: str) -> list[list[str]]:
    found = []
    while address:
        answer = client.get(address).json()
        found.append([row["id"] for row in answer["results"]])
        address = answer["next"]
    return found


def test_an_answer_that_moves_the_last_row_out_of_the_filter_skips_nothing(
    world: World, client_of: ApiDoor
) -> None:
    client = client_of("vic")
    first = client.get(f"{CHECKS}?only=waiting&limit=2").json()
    override(check=Check.objects.get(public_id=first["results"][-1]["id"]), by=world.rex, label="no")
    second = client.get(first["next"]).json()
    everything = list(Check.objects.order_by("pk").values_list("public_id", flat=True))
    assert [row["id"] for row in second["results"]] == everything[2:4]


def queries_of(client: Any, address: str) -> int:
    with CaptureQueriesContext(connection) as seen:
        assert client.get(address).status_code == 200
    return len(seen)


def test_lists_cost_the_same_whether_few_rows_or_many(world: World, client_of: ApiDoor) -> None:
    client = client_of("olga")
    addresses = [f"/api/v1/projects/harbour/{path}" for path in LISTS]
    addresses += ["/api/v1/projects/harbour/leaderboard/", "/api/v1/projects/"]
    grow(world, 2)
    client.get("/api/v1/projects/harbour/leaderboard/")
    few = {address: queries_of(client, address) for address in addresses}
    grow_more(world)
    # The first request after a change computes the statistics; later requests read them.
    client.get("/api/v1/projects/harbour/leaderboard/")
    assert {address: queries_of(client, address) for address in addresses} == few
    assert max(few.values()) <= 12


def grow_more(world: World) -> None:
    before = Check.objects.count()
    grow(world, 28, first=2)
    assert Check.objects.count() == before + 28


def test_one_check_costs_the_same_whoever_has_spoken(world: World, client_of: ApiDoor) -> None:
    client = client_of("olga")
    address = f"{CHECKS}{world.check('alder', 1).public_id}/"
    # The first request stores the look at the check; later requests write nothing.
    queries_of(client, address)
    few = queries_of(client, address)
    for label in ("yes", "no") * 5:
        override(check=world.check("alder", 1), by=world.rex, label=label)
    assert queries_of(client, address) == few
