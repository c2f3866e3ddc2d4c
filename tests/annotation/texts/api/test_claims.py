"""Correcting claims through the API: the same services, the same refusals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from rest_framework.test import APIClient

from annotation.models import Claim, Score
from annotation.texts.services.change_claims import reword_claim

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from tests.annotation.cast import World

BASE = "/api/v1/projects/harbour/"


def ask(person: User, path: str, body: object | None = None) -> tuple[int, Any]:
    client = APIClient()
    client.force_authenticate(person)
    answer = client.get(BASE + path) if body is None else client.post(BASE + path, body, format="json")
    return answer.status_code, answer.json()


@pytest.fixture
def wall(world: World) -> Claim:
    """The second claim of "port": "its wall is weak"."""
    return world.check("alder", 2).claim


def test_every_act_answers_with_what_it_made(world: World, wall: Claim) -> None:
    status, reworded = ask(world.rex, f"claims/{wall.public_id}/reword/", {"text": "The wall is weak"})
    assert (status, [claim["text"] for claim in reworded["claims"]]) == (200, ["The wall is weak"])
    [claim] = reworded["claims"]
    status, split = ask(
        world.rex, f"claims/{claim['id']}/split/", {"texts": ["A wall is there", "It is weak"]}
    )
    assert [(each["text"], each["position"]) for each in split["claims"]] == [
        ("A wall is there", 2),
        ("It is weak", 3),
    ]
    ids = [each["id"] for each in split["claims"]]
    status, joined = ask(
        world.rex, "claims/join/", {"claims": ids, "text": "A wall is weak", "reason": "One"}
    )
    assert (status, joined["change"]["kind"], joined["change"]["reason"]) == (200, "join", "One")
    status, deleted = ask(world.cleo, f"claims/{joined['claims'][0]['id']}/delete/", {})
    assert (status, deleted["claims"], deleted["change"]["by"]) == (200, [], "cleo")
    status, undone = ask(world.rex, f"claim-changes/{deleted['change']['id']}/undo/", {})
    assert [each["text"] for each in undone["claims"]] == ["A wall is weak"]
    assert undone["change"]["undone_at"] is not None
    port = world.models["port"].public_id
    status, added = ask(world.rex, "claims/", {"text_id": port, "text": "Ferries use a quay", "unit": 2})
    assert (status, added["claims"][0]["position"], added["claims"][0]["origin"]) == (201, 4, "person")
    status, changes = ask(world.rex, f"claim-changes/?text_id={port}")
    assert [(each["kind"], each["undone_at"] is None) for each in changes["results"]] == [
        ("reword", True),
        ("split", True),
        ("join", True),
        ("delete", False),
        ("add", True),
    ]
    # Unit 1 has one yes of one answered claim, unit 2 one of one.
    assert Score.objects.get(summary=world.peers["port", "alder"]).coverage == 1.0


def test_an_old_wording_stays_readable_and_says_what_took_it_away(world: World, wall: Claim) -> None:
    change = reword_claim(claim=wall, by=world.cleo, text="The wall is weak").change
    _, old = ask(world.rex, f"claims/{wall.public_id}/")
    assert (old["text"], old["is_active"], old["retired_by"]) == ("its wall is weak", False, change.public_id)
    new = Claim.objects.get(text="The wall is weak")
    _, shown = ask(world.rex, f"claims/{new.public_id}/")
    assert (shown["is_active"], shown["supersedes"], shown["made_by"]) == (
        True,
        wall.public_id,
        change.public_id,
    )
    _, gone = ask(world.rex, "claims/?active=false")
    assert [claim["text"] for claim in gone["results"]] == ["its wall is weak"]


def test_whoever_comes_too_late_gets_both_versions(world: World, wall: Claim) -> None:
    reword_claim(claim=wall, by=world.cleo, text="The wall is weak")
    status, refused = ask(world.rex, f"claims/{wall.public_id}/reword/", {"text": "The wall is old"})
    assert (status, refused["error"]["code"]) == (409, "newer_claims")
    assert refused["error"]["details"]["yours"]["texts"] == ["The wall is old"]
    assert [claim["text"] for claim in refused["error"]["details"]["theirs"]["claims"]] == [
        "The wall is weak"
    ]


def test_claims_that_are_not_there_are_not_joined(world: World, wall: Claim) -> None:
    body = {"claims": [wall.public_id, "nowherenowhere12"], "text": "Both"}
    status, refused = ask(world.rex, "claims/join/", body)
    assert (status, refused["error"]["code"]) == (404, "not_found")
