"""Units over the API: the same services, refusals and blindness as on screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from annotation.assessing.services.assign import assign
from tests.annotation.conftest import ApiDoor
from tests.says import says

if TYPE_CHECKING:
    from annotation.models import Summary
    from tests.annotation.cast import World

PROJECT = "/api/v1/projects/harbour/"


def address(summary: Summary, verb: str = "") -> str:
    return f"{PROJECT}summaries/{summary.public_id}/units/{verb}"


def test_a_text_is_split_and_joined(world: World, client_of: ApiDoor) -> None:
    mona, model = client_of("mona"), world.models["bridge"]
    cut = mona.get(address(model)).json()
    assert [(unit["number"], unit["start"], unit["end"], unit["weight"]) for unit in cut["units"]] == [
        (1, 0, 53, 1.0),
        (2, 54, 88, 1.0),
    ]
    body = {"unit": cut["units"][0]["id"], "at": 28, "seen": cut["cut"]}
    cut = mona.post(address(model, "split/"), body, format="json").json()
    assert [unit["text"] for unit in cut["units"]][:2] == [
        "The harbour closes in April",
        "because its wall is weak.",
    ]
    body = {"unit": cut["units"][1]["id"], "seen": cut["cut"]}
    cut = mona.post(address(model, "join/"), body, format="json").json()
    assert (len(cut["units"]), cut["is_judged"]) == (2, False)


def test_an_older_cut_gets_both(world: World, client_of: ApiDoor) -> None:
    mona, model = client_of("mona"), world.models["bridge"]
    cut = mona.get(address(model)).json()
    body = {"unit": cut["units"][0]["id"], "seen": cut["cut"]}
    assert mona.post(address(model, "join/"), body, format="json").status_code == 200
    answer = mona.post(address(model, "join/"), body, format="json")
    error: dict[str, Any] = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (409, "newer_cut")
    assert error["details"]["yours"]["act"] == "join"
    assert len(error["details"]["theirs"]["units"]) == 1


@pytest.mark.parametrize("limit", [2, 100])
def test_texts_are_listed_in_pages(world: World, client_of: ApiDoor, limit: int) -> None:
    mona, found, link = client_of("mona"), [], f"{PROJECT}unit-texts/?limit={limit}"
    while link:
        page = mona.get(link).json()
        found += page["results"]
        link = page["next"]
    assert [row["document_id"] for row in found] == ["bridge"] * 3 + ["port"] * 3
    assert sorted(str(row["system"]) for row in found) == ["None", "None", "alder", "alder", "birch", "birch"]


def test_the_blind_learn_no_system_and_nothing_of_their_own_sets(world: World, client_of: ApiDoor) -> None:
    world.ana.memberships.update(roles=["manager", "assessor"])
    assign(document_set=world.sets["bridge"], assessor=world.ana, by=None, seed=1)
    ana = client_of("ana")
    rows = ana.get(f"{PROJECT}unit-texts/").json()["results"]
    assert {(row["document_id"], "system" in row) for row in rows} == {("port", False)}
    answer = ana.get(address(world.peers["bridge", "alder"]))
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "blind")
    told = ana.get(address(world.peers["port", "alder"])).json()
    assert told["is_judged"]
    assert not says(str(told), "alder")
