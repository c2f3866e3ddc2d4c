"""Disputes through the API: the same queue and decisions as on the web, and no names with the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from annotation.models import Adjudication, Dispute, Event
from annotation.reviewing.services.review import override
from tests.annotation.cast import add_imported_verdict

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor

HERE = "/api/v1/projects/harbour/disputes/"


@pytest.fixture(autouse=True)
def no_audit(world: World) -> None:
    world.project.audit_share = 0
    world.project.save()


def dispute_on(world: World, number: int, first: str = "no", second: str = "yes") -> Dispute:
    override(check=world.check("alder", number), by=world.rex, label=first, reason="By unit 2.", evidence=[2])
    add_imported_verdict(world.check("alder", number), second)
    return Dispute.objects.get(check_row=world.check("alder", number))


def shown(client: Any, dispute: Dispute) -> dict[str, Any]:
    answer = client.get(f"{HERE}{dispute.public_id}/")
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


def test_the_list_is_worst_first_and_filtered(world: World, client_of: ApiDoor) -> None:
    dispute_on(world, 3, "no", "unsure")
    dispute_on(world, 1)
    client = client_of("cleo")
    rows = client.get(HERE).json()["results"]
    assert [(row["kind"], row["text"], row["spread"], row["voices"]) for row in rows] == [
        ("check", "The harbour closes in April", 1.0, 2),
        ("check", "Ferries move to the southern quay", 0.5, 2),
    ]
    assert client.get(f"{HERE}?kind=unit").json()["results"] == []
    assert client.get(f"{HERE}?kind=all").status_code == 400


def test_the_list_is_read_page_by_page(world: World, client_of: ApiDoor) -> None:
    dispute_on(world, 3, "no", "unsure")
    dispute_on(world, 1)
    client = client_of("cleo")
    first = client.get(f"{HERE}?limit=1").json()
    second = client.get(first["next"]).json()
    assert [row["spread"] for row in (*first["results"], *second["results"])] == [1.0, 0.5]
    assert second["next"] is None


def test_answers_come_without_names(world: World, client_of: ApiDoor) -> None:
    body = shown(client_of("cleo"), dispute_on(world, 1))
    assert [voice["letter"] for voice in body["said"]] == ["A", "B"]
    assert {voice["label"]: (voice["reason"], voice["evidence"]) for voice in body["said"]} == {
        "no": ("By unit 2.", [2]),
        "yes": ("", []),
    }
    assert not {"rex", "gold.jsonl"} & set(str(body).replace("'", " ").split())
    assert (body["seen"], body["may_decide"], body["is_own"]) == ("", True, False)


def test_whoever_was_shown_a_dispute_answers_its_check_with_the_judge_in_sight(
    world: World, client_of: ApiDoor
) -> None:
    worst = dispute_on(world, 1)
    client_of("cleo").post(f"{HERE}next/", {}, format="json")
    assert override(check=worst.check_row, by=world.cleo, label="no").verdict.had_seen


def test_the_worst_is_handed_out_until_none_is_left(world: World, client_of: ApiDoor) -> None:
    worst = dispute_on(world, 1)
    client, other = client_of("cleo"), client_of("olga")
    assert client.post(f"{HERE}next/", {}, format="json").json()["dispute"]["id"] == worst.public_id
    assert other.post(f"{HERE}next/", {}, format="json").json() == {"dispute": None}
    assert shown(other, worst)["held_by"] == "somebody"
    assert client.post(f"{HERE}{worst.public_id}/release/").json()["held_by"] == ""
    assert Event.objects.get(verb="release dispute").data["held_by"] == "cleo"


def test_an_answer_is_taken_over_by_its_id(world: World, client_of: ApiDoor) -> None:
    dispute, client = dispute_on(world, 1), client_of("cleo")
    voice = next(voice for voice in shown(client, dispute)["said"] if voice["label"] == "no")
    answer = client.post(
        f"{HERE}{dispute.public_id}/decisions/", {"adopt": voice["id"], "seen": ""}, format="json"
    )
    assert answer.status_code == 201, answer.content
    assert (answer.json()["label"], answer.json()["is_against_all"]) == ("no", False)
    assert world.check("alder", 1).final_source == "adjudicator"
    assert shown(client, dispute)["state"] == "settled"


def test_the_id_of_an_answer_means_nothing_to_another_adjudicator(world: World, client_of: ApiDoor) -> None:
    dispute = dispute_on(world, 1)
    token = shown(client_of("cleo"), dispute)["said"][0]["id"]
    answer = client_of("olga").post(f"{HERE}{dispute.public_id}/decisions/", {"adopt": token}, format="json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "newer_voices")


def test_an_answer_that_nobody_gave_needs_a_reason(world: World, client_of: ApiDoor) -> None:
    dispute, client = dispute_on(world, 1), client_of("cleo")
    address = f"{HERE}{dispute.public_id}/decisions/"
    refused = client.post(address, {"label": "unsure"}, format="json")
    assert (refused.status_code, refused.json()["error"]["field"]) == (422, "reason")
    full = {"label": "unsure", "reason": "Neither.", "error_type": "not_checkable", "is_guideline_gap": True}
    made = client.post(address, full, format="json").json()
    assert {name: made[name] for name in full} == full
    assert made["is_against_all"]


@pytest.mark.parametrize("answer", [{}, {"percent": 20}, {"label": "maybe"}])
def test_an_answer_of_another_kind_is_refused(
    world: World, client_of: ApiDoor, answer: dict[str, object]
) -> None:
    dispute = dispute_on(world, 1)
    sent = client_of("cleo").post(f"{HERE}{dispute.public_id}/decisions/", answer, format="json")
    assert sent.status_code in (400, 422)
    assert not Adjudication.objects.exists()


def test_ones_own_is_refused_by_its_code(world: World, client_of: ApiDoor) -> None:
    dispute = dispute_on(world, 1)
    override(check=world.check("alder", 1), by=world.cleo, label="no")
    sent = client_of("cleo").post(f"{HERE}{dispute.public_id}/decisions/", {"label": "no"}, format="json")
    assert (sent.status_code, sent.json()["error"]["code"]) == (403, "own_judgment")


def test_a_newer_decision_is_told_with_both(world: World, client_of: ApiDoor) -> None:
    dispute = dispute_on(world, 1)
    address = f"{HERE}{dispute.public_id}/decisions/"
    client_of("olga").post(address, {"label": "no", "seen": ""}, format="json")
    sent = client_of("cleo").post(address, {"label": "yes", "reason": "There.", "seen": ""}, format="json")
    error = sent.json()["error"]
    assert (sent.status_code, error["code"]) == (409, "newer_decision")
    assert error["details"]["yours"] == {"label": "yes", "reason": "There."}
    assert error["details"]["theirs"]["label"] == "no"


def test_a_settled_one_is_taken_up_again(world: World, client_of: ApiDoor) -> None:
    dispute, client = dispute_on(world, 1), client_of("cleo")
    made = client.post(f"{HERE}{dispute.public_id}/decisions/", {"label": "no"}, format="json").json()
    body = client.post(
        f"{HERE}{dispute.public_id}/reopen/", {"reason": "New rules.", "seen": made["id"]}, format="json"
    ).json()
    assert (body["state"], body["held_by"]) == ("open", "you")
    assert [decision["withdrawn_at"] is None for decision in body["decisions"]] == [False]


def test_the_rules_of_adjudication_are_changed(world: World, client_of: ApiDoor) -> None:
    dispute = dispute_on(world, 3, "no", "unsure")
    rules = {
        "dispute_threshold": 0.5,
        "dispute_voices": "people",
        "own_adjudication": True,
    }
    answer = client_of("mona").patch("/api/v1/projects/harbour/", rules, format="json")
    assert {name: answer.json()[name] for name in rules} == rules
    dispute.refresh_from_db()
    assert dispute.state == "agreed"
