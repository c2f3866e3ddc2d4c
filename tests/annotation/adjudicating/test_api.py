from __future__ import annotations

from typing import TYPE_CHECKING, Any

from annotation.models import Dispute
from annotation.reviewing.services.review import override
from tests.annotation.cast import add_imported_verdict

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor

HERE = "/api/v1/projects/harbour/disputes/"


def dispute_on(world: World, number: int, first: str = "no", second: str = "yes") -> Dispute:
    override(check=world.check("alder", number), by=world.rex, label=first, reason="By unit 2.", evidence=[2])
    add_imported_verdict(world.check("alder", number), second)
    return Dispute.objects.get(check_row=world.check("alder", number))


def shown(client: Any, dispute: Dispute) -> dict[str, Any]:
    answer = client.get(f"{HERE}{dispute.public_id}/")
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


def test_answers_come_without_names(world: World, client_of: ApiDoor) -> None:
    body = shown(client_of("cleo"), dispute_on(world, 1))
    assert [answer["letter"] for answer in body["said"]] == ["A", "B"]
    assert {answer["label"]: (answer["reason"], answer["evidence"]) for answer in body["said"]} == {
        "no": ("By unit 2.", [2]),
        "yes": ("", []),
    }
    assert not {"rex", "gold.jsonl"} & set(str(body).replace("'", " ").split())


def test_the_worst_is_handed_out_until_none_is_left(world: World, client_of: ApiDoor) -> None:
    worst = dispute_on(world, 1)
    client, other = client_of("cleo"), client_of("olga")
    assert client.post(f"{HERE}next/", {}, format="json").json()["dispute"]["id"] == worst.public_id
    assert other.post(f"{HERE}next/", {}, format="json").json() == {"dispute": None}
    assert shown(other, worst)["held_by"] == "somebody"
    assert override(check=world.check("alder", 1), by=world.cleo, label="no").verdict.had_seen


def test_a_decision_is_made_and_withdrawn(world: World, client_of: ApiDoor) -> None:
    dispute, client = dispute_on(world, 1), client_of("cleo")
    full = {"label": "unsure", "reason": "Neither.", "error_type": "not_checkable"}
    made = client.post(f"{HERE}{dispute.public_id}/decisions/", full, format="json").json()
    assert {name: made[name] for name in full} == full
    assert world.check("alder", 1).final_source == "adjudicator"
    assert (shown(client, dispute)["state"], shown(client, dispute)["seen"]) == ("settled", made["id"])
    assert client.delete(f"/api/v1/projects/harbour/adjudications/{made['id']}/").status_code == 204
    assert shown(client, dispute)["state"] == "open"
