from __future__ import annotations

from html import unescape
from typing import TYPE_CHECKING

import pytest
from django.urls import reverse

from annotation.models import Claim, ClaimSet, Summary
from annotation.texts.queries.claims import claims_of
from annotation.texts.services.change_claims import reword_claim

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.test import Client

    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn


def address(world: World, name: str = "claims", text: Summary | None = None) -> str:
    text_id = (text or world.references["port"]).public_id
    return reverse(name, kwargs={"slug": "harbour", "text_id": text_id})


def texts(world: World) -> list[str]:
    claims = claims_of(ClaimSet.objects.get(summary=world.references["port"], is_active=True))
    return [claim.text for claim in claims]


def post(client: Client, place: str, fields: Mapping[str, object]) -> tuple[int, str]:
    answer = client.post(place, fields, follow=True)
    return answer.status_code, unescape(answer.content.decode())


@pytest.fixture
def wall(world: World) -> Claim:
    return world.check("alder", 2).claim


def test_each_act_is_a_form_that_works_without_scripts(world: World, rex: Client, wall: Claim) -> None:
    answer = rex.post(address(world, "reword-claim"), {"claim": wall.public_id, "text": "The wall is weak"})
    new = Claim.objects.get(text="The wall is weak")
    assert answer["Location"] == f"{address(world)}#claim-{new.public_id}"
    post(rex, address(world, "add-claim"), {"unit": "2", "text": "There is a quay"})
    status, page = post(rex, address(world, "remove-claim"), {"claim": new.public_id})
    assert (status, "Removed." in page) == (200, True)
    assert texts(world) == [
        "The harbour closes in April",
        "Ferries move to the southern quay",
        "There is a quay",
    ]


def test_a_refusal_shows_both_versions(world: World, rex: Client, wall: Claim) -> None:
    reword_claim(claim=wall, by=world.cleo, text="The wall is weak")
    fields = {"claim": wall.public_id, "text": "The wall is old"}
    status, page = post(rex, address(world, "reword-claim"), fields)
    notice = page.partition("warning refused")[2].partition("</div>")[0]
    assert status == 409
    assert ">The wall is weak</a>" in notice
    assert ">The wall is old</span>" in notice


def test_a_claim_of_another_text_is_not_found_here(world: World, rex: Client, wall: Claim) -> None:
    place = address(world, "remove-claim", world.summaries["port", "alder"])
    status, _ = post(rex, place, {"claim": wall.public_id})
    assert (status, wall.text in texts(world)) == (404, True)


def test_only_who_may_see_scores_is_told_the_systems(world: World, signed_in: SignIn) -> None:
    place = address(world, text=world.summaries["port", "alder"])
    pages = {name: signed_in(world.users[name]).get(place).content.decode() for name in ("rex", "cleo")}
    assert {name: "Summary by alder" in page for name, page in pages.items()} == {
        "rex": False,
        "cleo": True,
    }


def test_a_text_without_claims_says_so_and_takes_some(world: World, rex: Client) -> None:
    documents = reverse("claims", kwargs={"slug": "harbour", "text_id": world.sets["bridge"].public_id})
    assert "No claims yet" in rex.get(documents).content.decode()
    status, page = post(rex, f"{documents}add/", {"text": "The harbour closes", "unit": ""})
    assert (status, "Without a unit" in page, "<bdi>written by rex</bdi>" in page) == (200, True, True)


def test_a_wrong_unit_is_refused(world: World, rex: Client) -> None:
    status, page = post(rex, address(world, "add-claim"), {"unit": "nine", "text": "There is a quay"})
    assert (status, ">There is a quay</span>" in page) == (422, True)
    assert "A unit is named by its number, not by 'nine'." in page
