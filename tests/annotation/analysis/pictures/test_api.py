"""The figures of the pictures over the API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils import timezone

from annotation.models import CheckLook
from annotation.reviewing.services.review import override
from tests.annotation.cast import CLAIMS

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor


def test_the_claim_map_has_every_answer(world: World, client_of: ApiDoor) -> None:
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


def test_whoever_may_review_knows_the_answers_of_the_claim_map_from_then_on(
    world: World, client_of: ApiDoor
) -> None:
    last_but_one = world.check("alder", 2).claim.public_id
    for name in ("olga", "vic"):
        address = f"/api/v1/projects/harbour/claim-map/?target_words=20&after={last_but_one}"
        assert client_of(name).get(address).status_code == 200
    # One claim is left, compared with two systems' summaries.
    looks = CheckLook.objects.filter(revealed_at__isnull=False)
    assert {(each.person.username, each.check_row) for each in looks} == {
        ("olga", world.check("alder", 3)),
        ("olga", world.check("birch", 3)),
    }


def test_the_claim_map_goes_on_after_a_claim(world: World, client_of: ApiDoor) -> None:
    first = world.check("alder", 1).claim.public_id
    told = client_of("vic").get(f"/api/v1/projects/harbour/claim-map/?target_words=20&after={first}").json()
    assert [row["claim"] for row in told["claims"]] == [text for text, _ in CLAIMS[1:]]


def test_work_is_told_by_day(world: World, client_of: ApiDoor) -> None:
    override(check=world.check("alder", 1), by=world.rex, label="yes")
    told = client_of("mona").get("/api/v1/projects/harbour/progress/days/").json()
    assert told == {
        "judged": {"scope": 0, "done": 0, "by_day": {}},
        "answered": {"scope": 6, "done": 1, "by_day": {timezone.localdate().isoformat(): 1}},
    }
