"""The page of a text's claims, and its plain forms."""

from __future__ import annotations

from html import unescape
from typing import TYPE_CHECKING

import pytest
from django.urls import reverse

from annotation.adjudicating.services.adjudicate import decide_check
from annotation.models import Claim, ClaimSet, Judge, Summary
from annotation.reviewing.services.review import override
from annotation.texts.queries.claims import claim_text, claims_of
from annotation.texts.services.change_claims import reword_claim, split_claim
from tests.annotation.statements import statements_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from django.contrib.auth.models import User
    from django.test import Client

    from tests.annotation.cast import World


def address(world: World, name: str = "claims", text: Summary | None = None) -> str:
    text_id = (text or world.models["port"]).public_id
    return reverse(name, kwargs={"slug": "harbour", "text_id": text_id})


def texts(world: World) -> list[str]:
    claims = claims_of(ClaimSet.objects.get(summary=world.models["port"], is_active=True))
    return [claim.text for claim in claims]


def post(client: Client, place: str, fields: Mapping[str, object]) -> tuple[int, str]:
    answer = client.post(place, fields, follow=True)
    return answer.status_code, unescape(answer.content.decode())


@pytest.fixture
def wall(world: World) -> Claim:
    return world.check("alder", 2).claim


def test_claims_stand_under_their_units_with_where_they_come_from(
    world: World, signed_in: Callable[[User], Client], wall: Claim
) -> None:
    split_claim(claim=wall, by=world.cleo, texts=["The wall is weak", "It is old"], reason="Two things")
    page = signed_in(world.rex).get(address(world)).content.decode()
    order = [
        "The harbour closes in April because",
        ">The harbour closes in April</p>",
        ">The wall is weak</p>",
        ">It is old</p>",
        "Ferries move to the southern quay.",
        ">Ferries move to the southern quay</p>",
    ]
    places = [page.index(words) for words in order]
    assert places == sorted(places)
    assert "v1 <bdi>by lexical</bdi>" in page
    assert "<bdi>cleo</bdi>" in page
    assert "“Two things”" in page
    # The words before are there, once beside each part and once among what people changed.
    assert page.count(">its wall is weak</span>") == 2


def test_each_act_is_a_form_that_works_without_scripts(
    world: World, signed_in: Callable[[User], Client], wall: Claim
) -> None:
    client = signed_in(world.rex)
    reworded = {"claim": wall.public_id, "text": "The wall is weak", "reason": ""}
    assert post(client, address(world, "reword-claim"), reworded)[0] == 200
    new = Claim.objects.get(text="The wall is weak")
    lines = {"claim": new.public_id, "texts": "A wall is there\n\nIt is weak\n"}
    status, page = post(client, address(world, "split-claim"), lines)
    assert "Open checks are sent to lexical." in page
    parts = list(Claim.objects.filter(made_by__kind="split").order_by("position"))
    join = {"claim": [part.public_id for part in parts], "text": "A weak wall"}
    post(client, address(world, "join-claims"), join)
    post(client, address(world, "add-claim"), {"unit": "2", "text": "There is a quay"})
    assert texts(world) == [
        "The harbour closes in April",
        "A weak wall",
        "Ferries move to the southern quay",
        "There is a quay",
    ]
    quay = Claim.objects.get(text="There is a quay")
    post(client, address(world, "delete-claim"), {"claim": quay.public_id})
    assert "There is a quay" not in texts(world)
    change = quay.claim_set.changes.latest("pk")
    status, page = post(client, address(world, "undo-claims"), {"change": change.public_id})
    assert (status, texts(world)[-1]) == (200, "There is a quay")
    assert "Undone." in page


def test_an_act_leads_back_to_the_claim_that_it_made(
    world: World, signed_in: Callable[[User], Client], wall: Claim
) -> None:
    fields = {"claim": wall.public_id, "text": "The wall is weak"}
    answer = signed_in(world.rex).post(address(world, "reword-claim"), fields)
    new = Claim.objects.get(text="The wall is weak")
    assert answer["Location"] == f"{address(world)}#claim-{new.public_id}"


def test_whoever_comes_too_late_sees_theirs_and_keeps_their_own_words(
    world: World, signed_in: Callable[[User], Client], wall: Claim
) -> None:
    reword_claim(claim=wall, by=world.cleo, text="The wall is weak")
    fields = {"claim": wall.public_id, "text": "The wall is old"}
    status, page = post(signed_in(world.rex), address(world, "reword-claim"), fields)
    notice = page.partition("warning refused")[2].partition("</div>")[0]
    assert status == 409
    assert "<bdi>cleo</bdi> changed it to:" in notice
    assert ">The wall is weak</a>" in notice
    assert ">The wall is old</li>" in notice


def test_words_that_are_refused_are_not_lost(
    world: World, signed_in: Callable[[User], Client], wall: Claim
) -> None:
    fields = {"unit": "nine", "text": "There is a quay"}
    status, page = post(signed_in(world.rex), address(world, "add-claim"), fields)
    assert (status, ">There is a quay</li>" in page) == (422, True)
    assert "A unit is named by its number, not by 'nine'." in page


def test_what_an_act_does_to_answers_and_scores_is_said_before_it(
    world: World, signed_in: Callable[[User], Client], wall: Claim
) -> None:
    override(check=world.check("alder", 2), by=world.rex, label="yes")
    page = unescape(signed_in(world.rex).get(address(world)).content.decode())
    checks = wall.checks.count()
    stays = (
        f"People have answered 1 of its {checks} checks. Their answers stay with this wording and no longer "
        "count."
    )
    assert [page.count(f"{stays} {then}") for then in ("The new wording", "The parts", "Undo")] == [1, 1, 1]
    # Joined with the other claim of its unit.
    assert page.count("People have answered 1 check of these claims.") == 1
    assert "The share of yes of unit 1 will use 1 claim" in page
    assert "This is the only claim of unit 2. Without it and without a percent, the unit has no value" in page


def test_parts_of_a_split_that_are_the_same_are_named_so(
    world: World, signed_in: Callable[[User], Client], wall: Claim
) -> None:
    fields = {"claim": wall.public_id, "texts": "It is weak\nit is weak."}
    status, page = post(signed_in(world.rex), address(world, "split-claim"), fields)
    assert status == 422
    assert "Two of the parts are the same: “it is weak.”." in page
    assert "among the claims of this text" not in page


def test_a_claim_of_another_text_is_not_found_here(
    world: World, signed_in: Callable[[User], Client], wall: Claim
) -> None:
    place = address(world, "delete-claim", world.peers["port", "alder"])
    status, _ = post(signed_in(world.rex), place, {"claim": wall.public_id})
    assert (status, wall.text in texts(world)) == (404, True)


def test_older_lists_stay_readable(world: World, signed_in: Callable[[User], Client]) -> None:
    model = world.models["port"]
    ClaimSet.objects.filter(summary=model).update(is_active=False)
    newer = ClaimSet.objects.create(summary=model, version=2, origin="imported", origin_name="gold.jsonl")
    Claim.objects.create(
        claim_set=newer, position=1, text="It closes", origin="imported", unit=world.units("port")[0]
    )
    page = signed_in(world.rex).get(address(world)).content.decode()
    count = len(statements_of(lambda: claim_text(model, names_systems=False)))
    ClaimSet.objects.create(summary=model, version=3, origin="imported", is_active=False)
    assert len(statements_of(lambda: claim_text(model, names_systems=False))) == count
    assert "v2 <bdi>imported from gold.jsonl</bdi>" in page
    assert "v1 <bdi>by lexical</bdi>, replaced: 3 claims" in page


def test_only_who_may_see_scores_is_told_the_systems(
    world: World, signed_in: Callable[[User], Client]
) -> None:
    place = address(world, text=world.peers["port", "alder"])
    pages = {name: signed_in(world.users[name]).get(place).content.decode() for name in ("rex", "cleo")}
    assert {name: "Peer summary of alder" in page for name, page in pages.items()} == {
        "rex": False,
        "cleo": True,
    }


def test_a_text_without_claims_says_so_and_takes_some(
    world: World, signed_in: Callable[[User], Client]
) -> None:
    client = signed_in(world.rex)
    documents = reverse("claims", kwargs={"slug": "harbour", "text_id": world.sets["bridge"].public_id})
    assert "No claims yet" in client.get(documents).content.decode()
    status, page = post(client, f"{documents}add/", {"text": "The harbour closes", "unit": ""})
    assert (status, "Without a unit" in page, "<bdi>written by rex</bdi>" in page) == (200, True, True)


def test_queries_do_not_grow_with_claims(
    world: World,
    signed_in: Callable[[User], Client],
    wall: Claim,
    django_assert_max_num_queries: Callable[[int], object],
) -> None:
    client = signed_in(world.rex)
    client.get(address(world))
    for number in range(6):
        [claim] = reword_claim(claim=wall, by=world.rex, text=f"The wall is weak {number}").claims
        wall = claim
    with django_assert_max_num_queries(30):  # type: ignore[attr-defined]
        client.get(address(world))


def test_a_settled_claim_says_who_settled_it_in_the_place_of_its_forms(
    world: World, signed_in: Callable[[User], Client], wall: Claim
) -> None:
    check = world.check("alder", 2)
    decide_check(check=check, by=world.cleo, label="yes", reason="It says so.")
    client = signed_in(world.rex)
    page = client.get(address(world)).content.decode()
    assert "cleo resolved a dispute on this claim, so only an adjudicator can change it" in page
    # Of the other two alone.
    assert page.count("<summary>Reword") == 2
    assert page.count("data-tick") == 1
    wanted = {"claim": wall.public_id, "text": "The wall gives way", "reason": ""}
    status, page = post(client, address(world, "reword-claim"), wanted)
    assert status == 403
    assert "“its wall is weak”: cleo resolved" in page
    assert '<li dir="auto">The wall gives way</li>' in page


def test_an_adjudicator_is_told_what_becomes_of_a_decision(
    world: World, signed_in: Callable[[User], Client], wall: Claim
) -> None:
    decide_check(check=world.check("alder", 2), by=world.cleo, label="yes", reason="It says so.")
    page = " ".join(signed_in(world.olga).get(address(world)).content.decode().split())
    assert page.count("<summary>Reword") == 3
    assert (
        "adjudicators’ decisions on them are kept but no longer count. The new claim is checked again."
        in page
    )
    # To reword, to split, to delete.
    assert page.count("cleo resolved a dispute on this claim. The decision stays with this wording") == 3


def test_a_reviewer_is_told_where_the_judge_waits_for_its_next_run(
    world: World, signed_in: Callable[[User], Client], wall: Claim
) -> None:
    Judge.objects.filter(pk=world.judge.pk).update(prompt_price=2.0, completion_price=8.0)
    wanted = {"claim": wall.public_id, "text": "The wall gives way", "reason": ""}
    _, page = post(signed_in(world.rex), address(world, "reword-claim"), wanted)
    assert "Reworded. Nobody has started a run of lexical here yet, and it costs money" in page
    assert "Open checks are sent to" not in page
