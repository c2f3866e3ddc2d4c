from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from annotation.assessing.services.assign import assign
from annotation.models import Assignment
from tests.annotation.laying import begin, judge_and_close, open_queue

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor

HERE = "/api/v1/projects/harbour/"


def post(client: Any, path: str, **body: Any) -> Any:
    return client.post(f"{HERE}{path}", body, format="json")


def test_sets_are_given_to_one_person_or_to_many(world: World, client_of: ApiDoor) -> None:
    mona = client_of("mona")
    one = post(mona, "assignments/", assessor="ana", document_id="port")
    assert (one.status_code, one.json()["assessor"], one.json()["document_id"]) == (201, "ana", "port")
    many = post(mona, "assignments/sets/", people=["ana", "ben"], per_set=2)
    assert many.status_code == 201
    assert len(many.json()) == 3
    assert Assignment.objects.count() == 4


def test_everybodys_work_is_listed_by_state_and_person(world: World, client_of: ApiDoor) -> None:
    begin(assign(document_set=world.sets["port"], assessor=world.ana, by=None))
    judge_and_close(assign(document_set=world.sets["port"], assessor=world.ben, by=None))
    mona = client_of("mona")

    def listed(query: str) -> list[tuple[Any, ...]]:
        rows = mona.get(f"{HERE}assignments/?{query}").json()["results"]
        return [(row["assessor"], row["document_id"], row["closed_at"] is None) for row in rows]

    assert listed("state=all") == [("ben", "port", False), ("ana", "port", True)]
    assert listed("") == [("ana", "port", True)]
    assert listed("state=all&assessor=ben") == [("ben", "port", False)]
    people = mona.get(f"{HERE}assessors/").json()
    assert [(row["person"], row["open"], row["closed"]) for row in people] == [("ana", 1, 0), ("ben", 0, 1)]
    assert people[0]["last_saved"]


def test_an_assessor_pulls_gives_back_and_takes_up(world: World, client_of: ApiDoor) -> None:
    open_queue(world)
    ana = client_of("ana")
    pulled = post(ana, "assignments/pull/")
    assert pulled.status_code == 201
    assert len(pulled.json()["readings"]) == 2
    again = post(ana, "assignments/pull/")
    assert again.json()["error"]["details"] == {"assignment": pulled.json()["id"]}
    address = f"assignments/{pulled.json()['id']}/"
    assert post(client_of("ben"), f"{address}give-back/").status_code == 404
    assert post(ana, f"{address}give-back/").status_code == 204
    desk = ana.get(f"{HERE}own-work/").json()
    assert (desk["open"], desk["queue"]) == ([], {"sets": 1, "in_hand": None})
    assert [row["id"] for row in desk["lapsed"]] == [pulled.json()["id"]]
    assert post(ana, f"{address}take-up/").json()["id"] == pulled.json()["id"]


@pytest.mark.parametrize(
    ("path", "body", "status", "field"),
    [
        ("assignments/", {"assessor": "rex", "document_id": "port"}, 422, "assessor"),
        ("assignments/", {"assessor": "ana", "document_id": "moon"}, 422, "document_set"),
        ("assignments/sets/", {"people": [], "per_set": 1}, 400, "people"),
        ("assignments/sets/", {"people": ["rex"]}, 422, "assessor"),
    ],
)
def test_what_cannot_be_given_is_refused(
    world: World, client_of: ApiDoor, path: str, body: dict[str, Any], status: int, field: str
) -> None:
    sent = post(client_of("mona"), path, **body)
    assert (sent.status_code, sent.json()["error"]["field"]) == (status, field)
    assert not Assignment.objects.exists()
