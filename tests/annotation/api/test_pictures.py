"""The figures of the pictures over the API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils import timezone

from annotation.services.review import override
from tests.annotation.cast import CLAIMS

if TYPE_CHECKING:
    from tests.annotation.api.conftest import Client
    from tests.annotation.cast import World


def test_the_claim_map_has_every_answer(world: World, client_of: Client) -> None:
    check = world.check("alder", 1)
    override(check=check, by=world.rex, label="unsure")
    told = client_of("vic").get("/api/v1/projects/harbour/claim-map/?target_words=20").json()
    assert (told["systems"], told["after"]) == (["alder", "birch"], "")
    assert [row["claim"] for row in told["claims"]] == [text for text, _ in CLAIMS]
    assert told["claims"][0]["answers"]["alder"] == {
        "check": check.public_id,
        "summary": world.peers["port", "alder"].public_id,
        "final_label": "unsure",
        "by_person": True,
    }


def test_the_claim_map_goes_on_after_a_claim(world: World, client_of: Client) -> None:
    first = world.check("alder", 1).claim.public_id
    told = client_of("vic").get(f"/api/v1/projects/harbour/claim-map/?target_words=20&after={first}").json()
    assert [row["claim"] for row in told["claims"]] == [text for text, _ in CLAIMS[1:]]


def test_work_is_told_by_day(world: World, client_of: Client) -> None:
    override(check=world.check("alder", 1), by=world.rex, label="yes")
    told = client_of("mona").get("/api/v1/projects/harbour/progress/days/").json()
    assert told == {
        "judged": {"scope": 0, "done": 0, "by_day": {}},
        "answered": {"scope": 6, "done": 1, "by_day": {timezone.localdate().isoformat(): 1}},
    }
