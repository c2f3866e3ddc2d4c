from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from rest_framework.test import APIClient

from annotation.models import Claim
from annotation.texts.services.change_claims import reword_claim

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from tests.annotation.cast import World

BASE = "/api/v1/projects/harbour/"


def ask(person: User, path: str, body: object | None = None) -> tuple[int, Any]:
    client = APIClient()
    client.force_authenticate(person)
    answer = client.get(BASE + path) if body is None else client.post(BASE + path, body, format="json")
    return answer.status_code, answer.json() if answer.content else None


@pytest.fixture
def wall(world: World) -> Claim:
    return world.check("alder", 2).claim


def test_every_act_answers_with_the_claim_that_it_made(world: World, wall: Claim) -> None:
    status, reworded = ask(world.rex, f"claims/{wall.public_id}/reword/", {"text": "The wall is weak"})
    assert (status, reworded["text"], reworded["position"]) == (200, "The wall is weak", 2)
    assert ask(world.cleo, f"claims/{reworded['id']}/remove/", {}) == (204, None)
    port = world.references["port"].public_id
    status, added = ask(world.rex, "claims/", {"text_id": port, "text": "Ferries use a quay", "unit": 2})
    assert (status, added["position"], added["origin"]) == (201, 4, "person")


def test_an_old_wording_stays_readable(world: World, wall: Claim) -> None:
    reword_claim(claim=wall, by=world.cleo, text="The wall is weak")
    _, old = ask(world.rex, f"claims/{wall.public_id}/")
    assert (old["text"], old["is_active"]) == ("its wall is weak", False)
    _, gone = ask(world.rex, "claims/?active=false")
    assert [claim["text"] for claim in gone["results"]] == ["its wall is weak"]
