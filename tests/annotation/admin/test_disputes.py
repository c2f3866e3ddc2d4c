"""Disputes in the admin: shown without names, decided by the same service as on the page Adjudicate."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from annotation.adjudicating.services.adjudicate import decide_check
from annotation.models import Adjudication, Dispute, Event
from annotation.reviewing.services.review import override
from tests.annotation.admin.rows import address
from tests.annotation.cast import World, add_imported_verdict

if TYPE_CHECKING:
    from tests.annotation.conftest import StaffDoor


def disputed(world: World) -> Dispute:
    check = world.check("alder", 1)
    override(check=check, by=world.rex, label="no", reason="Rex's own words.")
    add_imported_verdict(check, "yes", origin_name="gold.jsonl")
    return Dispute.objects.get(check_row=check)


def page_of(dispute: Dispute) -> str:
    return address(Dispute, f"{dispute.pk}/change/")


def test_a_dispute_is_shown_without_the_names_of_those_who_answered(world: World, staff: StaffDoor) -> None:
    dispute = disputed(world)
    client = staff("cleo")
    assert "The harbour closes in April" in client.get(address(Dispute)).content.decode()
    said = client.get(page_of(dispute)).content.decode()
    assert "Rex&#x27;s own words." in said
    # As a word: three letters of it can stand in a random id.
    assert not re.search(r"\brex\b|gold\.jsonl|lexical", said)
    assert override(check=world.check("alder", 1), by=world.cleo, label="no").verdict.shown == "judge"


def test_an_adjudicator_decides_and_a_newer_decision_is_shown(world: World, staff: StaffDoor) -> None:
    dispute = disputed(world)
    theirs = decide_check(check=world.check("alder", 1), by=world.olga, label="yes")
    typed = {"label": "no", "reason": "The wall is not mentioned.", "error_type": "omission", "seen": ""}
    told = staff("cleo").post(page_of(dispute), typed)
    assert "The wall is not mentioned." in told.content.decode()
    assert told.context["form"]["seen"].value() == theirs.public_id
    assert list(Adjudication.objects.all()) == [theirs]
    staff("cleo").post(page_of(dispute), {**typed, "seen": theirs.public_id})
    assert Adjudication.objects.latest("pk").decided_by == world.cleo
    assert world.check("alder", 1).final_label == "no"
    assert Event.objects.filter(verb="adjudicate").latest("pk").actor == world.cleo


def test_who_may_not_adjudicate_is_refused(world: World, staff: StaffDoor) -> None:
    dispute = disputed(world)
    for name in ("rex", "vic", "dan"):
        client = staff(name)
        assert client.get(page_of(dispute)).status_code in (302, 403, 404)
        assert client.post(page_of(dispute), {"label": "no"}).status_code in (302, 403, 404)
    assert not Adjudication.objects.exists()
