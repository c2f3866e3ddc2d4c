from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from annotation.adjudicating.services.adjudicate import decide_check
from annotation.models import Dispute, Event
from annotation.reviewing.services.review import override
from tests.annotation.admin.rows import address
from tests.annotation.answering import decisions
from tests.annotation.cast import World, add_imported_verdict

if TYPE_CHECKING:
    from tests.annotation.conftest import StaffDoor


def disputed(world: World, position: int = 1, labels: tuple[str, str] = ("no", "yes")) -> Dispute:
    check = world.check("alder", position)
    override(check=check, by=world.rex, label=labels[0], reason="Rex's own words.")
    add_imported_verdict(check, labels[1], origin_name="gold.jsonl")
    return Dispute.objects.get(check_row=check)


def page_of(dispute: Dispute) -> str:
    return address(Dispute, f"{dispute.pk}/change/")


def test_a_dispute_is_shown_without_the_names_of_those_who_answered(world: World, staff: StaffDoor) -> None:
    dispute = disputed(world)
    client = staff("cleo")
    assert "The harbour closes in April" in client.get(address(Dispute)).content.decode()
    said = client.get(page_of(dispute)).content.decode()
    assert "Rex&#x27;s own words." in said
    # Search for whole words, because a random id may contain the three letters.
    assert not re.search(r"\brex\b|gold\.jsonl|lexical", said)
    assert override(check=world.check("alder", 1), by=world.cleo, label="no").verdict.had_seen


def test_an_adjudicator_decides_a_dispute(world: World, staff: StaffDoor) -> None:
    dispute = disputed(world, 2)
    decided = staff("cleo").post(page_of(dispute), {"label": "yes", "seen": ""})
    assert decided["Location"] == address(Dispute)
    [decision] = decisions()
    assert (decision.value, decision.person) == ("yes", world.cleo)
    dispute.refresh_from_db()
    assert dispute.state == Dispute.State.SETTLED
    # Unit 1 has claims 1 and 2, both yes now; unit 2 has claim 3, also yes: (1 + 1) / 2.
    assert world.summaries["port", "alder"].score.coverage == pytest.approx(1.0)
    assert Event.objects.get(verb="adjudicate").actor == world.cleo


def test_a_percent_of_a_unit_is_decided(world: World, staff: StaffDoor) -> None:
    dispute = Dispute.objects.create(
        project=world.project,
        comparison=world.comparison("port", "alder"),
        unit=world.units("port")[0],
        spread=1.0,
        answers=2,
        queue_key=1,
    )
    staff("cleo").post(page_of(dispute), {"percent": "40", "reason": "In part.", "seen": ""})
    assert decisions()[0].value == 40


def test_who_decides_after_somebody_else_is_told_and_decides_again(world: World, staff: StaffDoor) -> None:
    dispute = disputed(world)
    theirs = decide_check(check=world.check("alder", 1), by=world.olga, label="yes", reason="It is there.")
    client = staff("cleo")
    told = client.post(page_of(dispute), {"label": "no", "reason": "Not mentioned.", "seen": ""})
    assert b"decided" in told.content
    assert b"It is there." in told.content
    assert b"Not mentioned." in told.content
    assert decisions() == [theirs]
    seen = told.context["form"]["seen"].value()
    client.post(page_of(dispute), {"label": "no", "reason": "Not mentioned.", "seen": seen})
    assert decisions()[-1].person == world.cleo


def test_a_list_cannot_be_filtered_by_what_lies_behind_a_relation(world: World, staff: StaffDoor) -> None:
    lookup = "project__memberships__user__password__startswith"
    assert staff("cleo").get(address(Dispute), {lookup: "a"}).status_code == 400
