from __future__ import annotations

from typing import TYPE_CHECKING, Any

from annotation.assessing.services.assign import assign
from annotation.models import Claim, ClaimSet, Judge, Summary
from tests.annotation.cast import CLAIMS, SOURCE, SUMMARIES, World

if TYPE_CHECKING:
    from tests.annotation.conftest import ApiDoor

HERE = "/api/v1/projects/harbour/"


def results(client: Any, path: str) -> list[dict[str, Any]]:
    answer = client.get(HERE + path)
    assert answer.status_code == 200, answer.content
    return list(answer.json()["results"])


def test_a_project_tells_the_callers_roles_and_verbs(world: World, client_of: ApiDoor) -> None:
    shown = client_of("rex").get(HERE).json()
    assert (shown["roles"], shown["verbs"]) == (
        ["reviewer"],
        ["change_claims", "comment", "review", "view_project"],
    )
    assert (shown["deciding_judge"], shown["is_blind"]) == ("lexical", False)


def test_a_project_tells_who_is_blind(world: World, client_of: ApiDoor) -> None:
    assign(document_set=world.sets["port"], assessor=world.ana, by=world.mona)
    assert client_of("ana").get(HERE).json()["is_blind"] is True


def test_the_deciding_judge_is_named_and_may_be_none(world: World, client_of: ApiDoor) -> None:
    Judge.objects.create(name="other", kind="lexical")
    client = client_of("mona")
    for name in ("other", None):
        answer = client.patch(HERE, {"deciding_judge": name}, format="json")
        assert answer.json()["deciding_judge"] == name


def test_a_document_set_holds_its_documents_and_units(world: World, client_of: ApiDoor) -> None:
    shown = client_of("ana").get(f"{HERE}document-sets/{world.sets['port'].public_id}/").json()
    assert (shown["document_id"], shown["documents_count"]) == ("port", 1)
    (document,) = shown["documents"]
    assert document["text"] == SOURCE
    assert [unit["position"] for unit in document["units"]] == [1, 2, 3]
    assert document["units"][2]["text"] == "Ferries will use the southern quay."


def test_a_summary_holds_its_text_units_and_comparisons(world: World, client_of: ApiDoor) -> None:
    summary = world.summaries["port", "alder"]
    shown = client_of("vic").get(f"{HERE}summaries/{summary.public_id}/").json()
    assert (shown["system"], shown["roles"], shown["text"]) == ("alder", ["summary"], SUMMARIES["alder"])
    assert [unit["text"] for unit in shown["units"]] == [
        "The harbour of Lund closes in April.",
        "Ferries will use the southern quay.",
    ]
    assert shown["comparisons"] == [
        {"id": world.comparison("port", "alder").public_id, "reference": world.references["port"].public_id}
    ]


def test_a_reviewer_is_not_told_who_wrote_a_summary(world: World, client_of: ApiDoor) -> None:
    summary = world.summaries["port", "alder"]
    Summary.objects.filter(pk=summary.pk).update(metadata={"run": "alder-7b"})
    client = client_of("rex")
    shown = client.get(f"{HERE}summaries/{summary.public_id}/").json()
    assert ("system" in shown, shown["metadata"], shown["text"]) == (False, {}, SUMMARIES["alder"])
    assert not any("system" in row for row in results(client, "summaries/"))
    for listed in ("summaries", "claims", "checks"):
        assert client.get(f"{HERE}{listed}/?system=alder").status_code == 403
    told = client_of("vic").get(f"{HERE}summaries/{summary.public_id}/").json()
    assert (told["system"], told["metadata"]) == ("alder", {"run": "alder-7b"})


def test_claims_name_their_text_and_unit(world: World, client_of: ApiDoor) -> None:
    listed = results(client_of("rex"), "claims/")
    assert [row["text"] for row in listed] == [text for text, _ in CLAIMS]
    units = [unit.public_id for unit in world.units("port")]
    assert [row["unit"] for row in listed] == [units[0], units[0], units[1]]
    assert {row["summary"] for row in listed} == {world.references["port"].public_id}
    assert {row["document_set"] for row in listed} == {world.sets["port"].public_id}


def test_claims_of_documents_and_of_a_system_are_found(world: World, client_of: ApiDoor) -> None:
    for place in ({"document_set": world.sets["bridge"]}, {"summary": world.summaries["bridge", "birch"]}):
        claim_set = ClaimSet.objects.create(origin="judge", origin_name="lexical", **place)
        Claim.objects.create(claim_set=claim_set, position=1, text=next(iter(place)), origin="judge")
    client = client_of("vic")
    bridge = world.sets["bridge"].public_id
    assert [row["text"] for row in results(client, f"claims/?document_set={bridge}")] == [
        "document_set",
        "summary",
    ]
    assert [row["text"] for row in results(client, "claims/?system=birch")] == ["summary"]


def test_judges_tell_no_key_and_addresses_to_those_alone_who_run_them(
    world: World, client_of: ApiDoor
) -> None:
    Judge.objects.create(
        name="remote", kind="openai", model="m", base_url="http://localhost:1/v1", api_key_env="REMOTE_KEY"
    )
    answer = client_of("mona").get(f"{HERE}judges/")
    assert [(row["name"], row["is_deciding"]) for row in answer.json()["results"]] == [
        ("lexical", True),
        ("remote", False),
    ]
    assert b"REMOTE_KEY" not in answer.content
    assert b"localhost:1" in answer.content
    assert b"localhost:1" not in client_of("vic").get(f"{HERE}judges/").content
