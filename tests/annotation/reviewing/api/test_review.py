from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from annotation.models import Check, Look, Project, Sample, SampledCheck
from annotation.texts.queries.check_text import text_of

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor

HERE = "/api/v1/projects/harbour/"


def at(world: World, system: str, position: int, rest: str = "") -> str:
    return f"{HERE}checks/{world.check(system, position).public_id}/{rest}"


def post(client: Any, path: str, body: dict[str, object] | None = None) -> Any:
    return client.post(path if path.startswith("/") else HERE + path, body or {}, format="json")


def test_checks_are_handed_out_to_one_person_each(world: World, client_of: ApiDoor) -> None:
    first = post(client_of("rex"), "checks/next/").json()["check"]
    second = post(client_of("cleo"), "checks/next/").json()["check"]
    assert first["id"] != second["id"]
    assert first["is_hidden_yet"] is True
    assert Check.objects.get(public_id=first["id"]).leased_to == world.rex
    third = post(client_of("rex"), f"checks/next/?after={first['id']}").json()["check"]
    assert third["id"] not in (first["id"], second["id"])
    assert Check.objects.get(public_id=first["id"]).leased_to is None


def test_a_look_is_kept_and_holds_the_check(world: World, client_of: ApiDoor) -> None:
    client = client_of("rex")
    assert post(client, at(world, "alder", 2, "looks/")).json()["judge_label"] is None
    assert Look.objects.get(person=world.rex).revealed_at is None
    assert world.check("alder", 2).leased_to == world.rex
    Project.objects.update(reveal="shown")
    assert post(client, at(world, "alder", 2, "looks/")).json()["judge_label"] == "no"
    assert Look.objects.get(person=world.rex).revealed_at is not None
    said = post(client, at(world, "alder", 2, "verdicts/"), {"label": "yes"}).json()
    assert said["verdict"]["had_seen"] is True


def test_checks_are_sampled_and_the_sample_fills(world: World, client_of: ApiDoor) -> None:
    body = {"method": "uniform", "share": 0.67, "seed": 3}
    made = post(client_of("mona"), "samples/", body).json()
    assert (made["frame"], made["sampled"], made["answered"], made["seed"]) == (6, 4, 0, 3)
    found = post(client_of("rex"), f"checks/next/?sample={made['sample_id']}").json()["check"]
    assert Sample.objects.get().sampled_checks.filter(check_row__public_id=found["id"]).exists()
    post(client_of("rex"), f"{HERE}checks/{found['id']}/verdicts/", {"label": "yes"})
    [row] = client_of("mona").get(f"{HERE}samples/").json()
    assert (row["answered"], row["sampled"]) == (1, 4)


def test_an_open_sample_comes_first_unless_the_queue_is_narrowed(world: World, client_of: ApiDoor) -> None:
    made = post(client_of("mona"), "samples/", {"method": "uniform", "share": 0.34, "seed": 3}).json()
    sampled = set(SampledCheck.objects.values_list("check_row__public_id", flat=True))
    rex = client_of("rex")
    first = post(rex, "checks/next/").json()
    second = post(rex, f"checks/next/?after={first['check']['id']}").json()
    assert {first["check"]["id"], second["check"]["id"]} == sampled
    assert first["sample"] == second["sample"] == made["sample_id"]
    other = post(rex, "checks/next/?sort=document").json()
    assert other["check"] is not None
    assert other["sample"] is None


def test_the_detail_of_a_check_carries_its_texts(world: World, client_of: ApiDoor) -> None:
    check = world.check("alder", 2)
    texts = client_of("rex").get(at(world, "alder", 2)).json()["texts"]
    assert [unit["text"] for unit in texts["compared"]] == [unit.text for unit in text_of(check.summary)]
    assert [unit["text"] for unit in texts["context"] if unit["is_here"]]


def test_where_all_that_waits_is_with_others_it_is_told_until_when(world: World, client_of: ApiDoor) -> None:
    # A share of .17 of six checks is one check.
    made = post(client_of("mona"), "samples/", {"share": 0.17, "seed": 3}).json()
    held = post(client_of("cleo"), f"checks/next/?sample={made['sample_id']}").json()
    waiting = post(client_of("rex"), f"checks/next/?sample={made['sample_id']}").json()
    assert waiting == {"check": None, "sample": None}
    # The rest of the queue remains available.
    assert post(client_of("rex"), "checks/next/").json()["sample"] is None
    until = Check.objects.get(public_id=held["check"]["id"]).lease_until
    assert until is not None
    [row] = client_of("mona").get(f"{HERE}samples/").json()
    assert (row["held"]["count"], datetime.fromisoformat(row["held"]["until"])) == (1, until)
