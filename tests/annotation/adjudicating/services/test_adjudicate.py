from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from annotation.adjudicating.services.adjudicate import decide_check, decide_unit, settle
from annotation.core.refusals import Conflict, Invalid
from annotation.models import Event, Role, Score
from annotation.reviewing.services.review import LONGEST_REASON, override, withdraw_answer
from tests.annotation.answering import decisions, differ_on_a_unit
from tests.annotation.cast import World

if TYPE_CHECKING:
    from annotation.models import Check


def coverage(world: World) -> float | None:
    return Score.objects.get(summary=world.summaries["port", "alder"]).coverage


def disputed(world: World) -> Check:
    override(check=world.check("alder", 3), by=world.rex, label="no", reason="Nothing on ferries.")
    override(check=world.check("alder", 3), by=world.olga, label="yes")
    return world.check("alder", 3)


def test_a_decision_on_a_check_beats_the_reviewer(world: World) -> None:
    override(check=world.check("alder", 3), by=world.rex, label="no")
    decide_check(check=world.check("alder", 3), by=world.cleo, label="yes", reason="Unit 2 says it.")
    check = world.check("alder", 3)
    assert (check.human_label, check.final_label, check.final_source) == ("yes", "yes", "adjudicator")
    assert coverage(world) == pytest.approx(0.75)


def test_a_decision_on_a_unit_beats_its_claims(world: World) -> None:
    decide_unit(
        comparison=world.comparison("port", "alder"),
        unit=world.units("port")[0],
        by=world.cleo,
        percent=80,
        reason="Only the wall is missing.",
    )
    # Unit 1 has .8 by decision and unit 2 has yes: (.8 + 1) / 2 = .9.
    assert coverage(world) == pytest.approx(0.9)


def test_withdrawing_a_decision_restores_what_stood_before(world: World) -> None:
    decision = decide_check(check=world.check("alder", 1), by=world.cleo, label="no", reason="Not said.")
    assert coverage(world) == pytest.approx(0.5)
    withdraw_answer(answer=decision, by=world.cleo)
    withdraw_answer(answer=decision, by=world.cleo)
    assert coverage(world) == pytest.approx(0.75)
    assert Event.objects.filter(verb="withdraw decision").count() == 1


def test_a_unit_of_another_summary_is_refused(world: World) -> None:
    with pytest.raises(Invalid):
        decide_unit(
            comparison=world.comparison("port", "alder"),
            unit=world.units("bridge")[0],
            by=world.cleo,
            percent=80,
            reason="Why not.",
        )


def test_the_error_type_is_kept_and_logged(world: World) -> None:
    decide_check(check=disputed(world), by=world.cleo, label="no", error_type="wrong_entity")
    [decision] = decisions()
    assert decision.error_type == "wrong_entity"
    data = Event.objects.get(verb="adjudicate").data
    assert data["error_type"] == "wrong_entity"


def test_a_newer_decision_than_the_one_on_screen_is_a_conflict_that_loses_nothing(world: World) -> None:
    check = disputed(world)
    world.project.memberships.filter(user=world.mona).update(roles=[Role.ADJUDICATOR])
    decide_check(check=check, by=world.mona, label="no", reason="Look at unit 2.", seen="")
    with pytest.raises(Conflict) as refused:
        decide_check(check=check, by=world.cleo, label="yes", reason="It is there.", seen="")
    assert refused.value.code == "newer_decision"
    details = refused.value.details
    nothing = {"percent": None, "rating": None}
    assert details["yours"] == {"answer": "yes", "label": "yes", "reason": "It is there."} | nothing
    assert details["theirs"] == {"answer": "no", "label": "no", "reason": "Look at unit 2."} | nothing
    assert world.check("alder", 3).final_label == "no"


def test_a_check_takes_no_percent_and_a_unit_no_label(world: World) -> None:
    check = disputed(world)
    with pytest.raises(Invalid) as refused:
        settle(dispute=check.disputes.get(), by=world.cleo, label="no", percent=20)
    assert refused.value.field == "percent"
    with pytest.raises(Invalid) as refused:
        settle(dispute=differ_on_a_unit(world), by=world.cleo, label="no", percent=20)
    assert refused.value.field == "label"
    assert not decisions()


@pytest.mark.parametrize(
    ("given", "field"),
    [({"error_type": "typo"}, "error_type"), ({"reason": "x" * (LONGEST_REASON + 1)}, "reason")],
)
def test_what_is_no_reason_is_refused(world: World, given: dict[str, Any], field: str) -> None:
    with pytest.raises(Invalid) as refused:
        decide_check(check=disputed(world), by=world.cleo, label="no", **given)
    assert refused.value.field == field
