"""Projects, document sets, summaries, claims, scores, judges: what they show and how they are filtered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from annotation.assessing.services.assign import assign
from annotation.models import Claim, ClaimSet, Event, Judge, Summary
from tests.annotation.cast import CLAIMS, REFERENCE, SOURCE, SUMMARIES, World

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


def test_a_changed_rule_is_kept_and_logged(world: World, client_of: ApiDoor) -> None:
    answer = client_of("mona").patch(HERE, {"composite_weight": 1.0}, format="json")
    assert (answer.status_code, answer.json()["composite_weight"]) == (200, 1.0)
    assert Event.objects.get(verb="change project").actor == world.mona


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


def test_document_sets_are_listed_by_name_and_filtered(world: World, client_of: ApiDoor) -> None:
    client = client_of("ana")
    assert [row["document_id"] for row in results(client, "document-sets/")] == ["bridge", "port"]
    assert [row["document_id"] for row in results(client, "document-sets/?document_id=port")] == ["port"]


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("", 6),
        ("?role=summary", 4),
        ("?role=reference", 2),
        ("?system=alder", 2),
        ("?system=alder&document_set={port}", 1),
        ("?target_words=20", 4),
        ("?target_words=21", 0),
    ],
)
def test_summaries_are_filtered(world: World, client_of: ApiDoor, query: str, count: int) -> None:
    query = query.format(port=world.sets["port"].public_id)
    assert len(results(client_of("vic"), f"summaries/{query}")) == count


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


def test_a_model_summary_has_no_system(world: World, client_of: ApiDoor) -> None:
    shown = client_of("vic").get(f"{HERE}summaries/{world.references['port'].public_id}/").json()
    assert (shown["system"], shown["roles"], shown["text"]) == (None, ["reference"], REFERENCE)


def test_claims_name_their_text_and_unit(world: World, client_of: ApiDoor) -> None:
    listed = results(client_of("rex"), "claims/")
    assert [row["text"] for row in listed] == [text for text, _ in CLAIMS]
    units = [unit.public_id for unit in world.units("port")]
    assert [row["unit"] for row in listed] == [units[0], units[0], units[1]]
    assert {row["summary"] for row in listed} == {world.references["port"].public_id}
    assert {row["document_set"] for row in listed} == {world.sets["port"].public_id}


def test_claims_that_were_replaced_are_shown_when_asked_for(world: World, client_of: ApiDoor) -> None:
    ClaimSet.objects.update(is_active=False)
    client = client_of("rex")
    assert results(client, "claims/") == []
    assert len(results(client, "claims/?active=false")) == 3


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


def test_scores_carry_the_columns_of_the_export(world: World, client_of: ApiDoor) -> None:
    (row,) = results(client_of("vic"), f"scores/?system=alder&document_set={world.sets['port'].public_id}")
    # Unit 1 has yes, no -> 1/2; unit 2 has yes -> 1. Mean 0.75. Words: 13 of 20, so brevity 7/20.
    assert (row["coverage"], row["coverage_human"]) == (pytest.approx(0.75), None)
    assert row["summary_words"] == len(SUMMARIES["alder"].split()) == 13
    assert row["brevity"] == pytest.approx(0.35)
    assert row["composite_2_3"] == pytest.approx(2 / 3 * 0.75 + 1 / 3 * 0.35)
    assert (row["claims"], row["claims_unscored"]) == (3, 0)


def test_the_leaderboard_of_another_target_is_empty(world: World, client_of: ApiDoor) -> None:
    assert client_of("vic").get(f"{HERE}leaderboard/?target_words=7").json()["tables"] == []


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
