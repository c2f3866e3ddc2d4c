"""Who judges what, through the API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from annotation.assessing.services.assign import assign
from annotation.models import Event, Sitting, System
from tests.annotation.laying import begin, judge_and_close

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor

HERE = "/api/v1/projects/harbour/"


def post(client: Any, path: str, **body: Any) -> Any:
    return client.post(f"{HERE}{path}", body, format="json")


def test_a_plan_is_previewed_and_then_done_as_it_was_shown(world: World, client_of: ApiDoor) -> None:
    mona = client_of("mona")
    wanted = {"way": "plan", "people": ["ana", "ben"], "per_set": 1}
    shown = post(mona, "assignments/", **wanted, preview=True)
    assert shown.status_code == 200
    plan = shown.json()["plan"]
    assert (plan["sittings"], plan["sets"], plan["summaries"], plan["short"]) == (2, 2, 4, 0)
    assert plan["loads"] == [
        {"person": "ana", "sets": 1, "summaries": 2},
        {"person": "ben", "sets": 1, "summaries": 2},
    ]
    assert not Sitting.objects.exists()
    done = post(mona, "assignments/", **wanted, seed=plan["seed"], expected=plan["fingerprint"])
    assert done.status_code == 201
    assert sorted(done.json()["sittings"]) == sorted(Sitting.objects.values_list("public_id", flat=True))
    again = post(mona, "assignments/", **wanted, seed=plan["seed"], expected=plan["fingerprint"])
    assert (again.status_code, again.json()["error"]["code"]) == (409, "changed")


def test_sets_are_given_by_hand_by_count_and_to_the_queue(world: World, client_of: ApiDoor) -> None:
    mona = client_of("mona")
    port = world.sets["port"].public_id
    assert post(mona, "assignments/", way="hand", people=["ana"], document_sets=[port]).status_code == 201
    assert post(mona, "assignments/", way="more", people=["ana"], count=5).status_code == 201
    assert post(mona, "assignments/", way="queue", per_set=2).status_code == 201
    assert Sitting.objects.filter(assessor=world.ana).count() == 2
    assert Sitting.objects.filter(assessor__isnull=True).count() == 2


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"way": "magic"}, 400, "way"),
        ({"way": "queue", "per_set": 0}, 400, "per_set"),
        ({"way": "queue", "people": ["ana"]}, 422, "people"),
        ({"way": "plan", "people": ["rex"]}, 422, "people"),
        ({"way": "hand", "people": ["ana"]}, 422, "document_sets"),
        ({"way": "queue", "system": "alder"}, 400, "system"),
    ],
)
def test_a_senseless_order_is_refused(
    world: World, client_of: ApiDoor, body: dict[str, Any], status: int, field: str
) -> None:
    sent = post(client_of("mona"), "assignments/", **body)
    assert (sent.status_code, sent.json()["error"]["field"]) == (status, field)
    assert not Sitting.objects.exists()


def test_everybodys_sittings_are_listed_by_state_and_person(world: World, client_of: ApiDoor) -> None:
    begin(assign(document_set=world.sets["port"], assessor=world.ana, by=None))
    judge_and_close(assign(document_set=world.sets["port"], assessor=world.ben, by=None))
    mona = client_of("mona")
    post(mona, "assignments/", way="queue", per_set=1)

    def listed(query: str) -> list[tuple[Any, ...]]:
        rows = mona.get(f"{HERE}assignments/?{query}").json()["results"]
        return [(row["assessor"], row["document_id"], row["state"], row["judged_units"]) for row in rows]

    assert listed("") == [
        (None, "bridge", "waiting", 0),
        ("ben", "port", "closed", 4),
        ("ana", "port", "open", 1),
    ]
    assert listed("state=open") == [("ana", "port", "open", 1)]
    assert listed("assessor=ben") == [("ben", "port", "closed", 4)]


def test_a_list_goes_on_where_its_page_ended(world: World, client_of: ApiDoor) -> None:
    mona = client_of("mona")
    post(mona, "assignments/", way="queue", per_set=3)
    seen, address = [], f"{HERE}assignments/?limit=4"
    while address:
        page = mona.get(address).json()
        seen += [row["id"] for row in page["results"]]
        address = page["next"]
    assert len(seen) == len(set(seen)) == 6


def test_an_assessor_pulls_gives_back_and_takes_up(world: World, client_of: ApiDoor) -> None:
    post(client_of("mona"), "assignments/", way="queue")
    ana = client_of("ana")
    pulled = post(ana, "sittings/pull/")
    assert pulled.status_code == 201
    assert len(pulled.json()["assignments"]) == 2
    again = post(ana, "sittings/pull/")
    assert again.json()["error"]["details"] == {"sitting": pulled.json()["id"]}
    address = f"sittings/{pulled.json()['id']}/"
    assert post(ana, f"{address}take-up/").json()["id"] == pulled.json()["id"]
    assert post(client_of("ben"), f"{address}give-back/").status_code == 404
    assert post(ana, f"{address}give-back/").status_code == 204
    assert client_of("mona").get(f"{HERE}queue/").json() == {
        "waiting": 2,
        "waiting_sets": 2,
        "held": [],
        "stalled": 0,
        "lapsed": 0,
        "stranded": 0,
        "stranded_sets": [],
        "for_authors_alone": 0,
    }


def test_what_waits_for_nobody_is_told_and_withdrawn(world: World, client_of: ApiDoor) -> None:
    # Ana, Ben and Olga, who owns the project, may assess: of four copies of each set one is for nobody.
    mona = client_of("mona")
    plan = post(mona, "assignments/", way="queue", per_set=4, preview=True).json()["plan"]
    assert (plan["sittings"], plan["stranded"]) == (8, 2)
    post(mona, "assignments/", way="queue", per_set=4)
    queue = mona.get(f"{HERE}queue/").json()
    assert (queue["waiting"], queue["stranded"], queue["stranded_sets"]) == (8, 2, ["bridge", "port"])
    assert post(mona, "queue/withdraw/").json() == {"withdrawn": 2}
    assert mona.get(f"{HERE}queue/").json()["waiting"] == 6
    assert Event.objects.filter(verb="withdraw").get().actor == world.mona


def test_the_blind_do_not_see_how_much_others_judged_in_their_set(world: World, client_of: ApiDoor) -> None:
    begin(assign(document_set=world.sets["port"], assessor=world.ben, by=None))
    begin(assign(document_set=world.sets["bridge"], assessor=world.ben, by=None))
    begin(assign(document_set=world.sets["port"], assessor=world.ana, by=None))
    world.ana.memberships.update(roles=["assessor", "manager"])
    rows = client_of("ana").get(f"{HERE}assignments/").json()["results"]
    told = [(row["assessor"], row["document_id"], row["judged_units"]) for row in rows]
    assert told == [("ana", "port", 1), ("ben", "bridge", 1), ("ben", "port", None)]


def test_work_is_taken_away_given_on_and_put_back(world: World, client_of: ApiDoor) -> None:
    sitting = assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    begin(sitting)
    mona = client_of("mona")
    given = post(mona, f"sittings/{sitting.public_id}/reassign/", assessor="ben").json()
    assert (given["assessor"], given["state"], given["judged_units"]) == ("ben", "open", 0)
    waiting = post(mona, f"sittings/{given['id']}/requeue/").json()
    assert (waiting["assessor"], waiting["state"]) == (None, "waiting")
    gone = post(mona, f"sittings/{waiting['id']}/recall/").json()
    assert (gone["state"], gone["recalled_as"]) == ("recalled", "Recalled")
    wrong = post(mona, f"sittings/{sitting.public_id}/reassign/", assessor="dan")
    assert (wrong.status_code, wrong.json()["error"]["field"]) == (422, "assessor")


def test_the_load_of_everybody(world: World, client_of: ApiDoor) -> None:
    begin(assign(document_set=world.sets["port"], assessor=world.ana, by=None))
    rows = client_of("mona").get(f"{HERE}assessors/").json()
    assert rows[0] == {
        "person": "ana",
        "is_assessor": True,
        "open": 1,
        "drafts": 1,
        "closed": 0,
        "recalled": 0,
        "judged_units": 1,
        "hours": 0.0,
    }
    assert rows[1]["person"] == "ben"


def test_authors_are_named_and_work_is_flagged(world: World, client_of: ApiDoor) -> None:
    System.objects.filter(name="alder").update(kind="person")
    sitting = assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    mona = client_of("mona")
    (author,) = mona.get(f"{HERE}authors/").json()
    assert (author["system"], author["person"]) == ("alder", None)
    named = mona.patch(f"{HERE}authors/{author['id']}/", {"person": "ana"}, format="json")
    assert named.json()["person"] == "ana"
    assert sitting.assignments.filter(is_own_peer=True).count() == 1
    assert mona.patch(f"{HERE}authors/{author['id']}/", {"person": "dan"}, format="json").status_code == 422
