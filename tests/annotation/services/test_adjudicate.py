"""Decisions stand above everything until they are withdrawn."""

import pytest

from annotation.models import Event, Score
from annotation.refusals import Invalid, NotAllowed
from annotation.services.adjudicate import decide_check, decide_unit, withdraw_decision
from annotation.services.review import override
from tests.annotation.cast import World


def coverage(world: World) -> float | None:
    return Score.objects.get(summary=world.peers["port", "alder"]).coverage


def test_a_decision_on_a_check_beats_the_reviewer(world: World) -> None:
    override(check=world.check("alder", 3), by=world.rex, label="no")
    decide_check(check=world.check("alder", 3), by=world.cleo, label="yes", reason="Unit 2 says it.")
    check = world.check("alder", 3)
    assert (check.human_label, check.final_label, check.final_source) == ("yes", "yes", "adjudicator")
    assert coverage(world) == pytest.approx(0.75)


def test_a_decided_check_is_no_longer_disputed(world: World) -> None:
    override(check=world.check("alder", 3), by=world.rex, label="no")
    override(check=world.check("alder", 3), by=world.cleo, label="yes")
    decide_check(check=world.check("alder", 3), by=world.cleo, label="yes", reason="Unit 2 says it.")
    assert not world.check("alder", 3).is_disputed


def test_a_decision_on_a_unit_beats_its_claims(world: World) -> None:
    decide_unit(
        comparison=world.comparison("port", "alder"),
        unit=world.units("port")[0],
        by=world.cleo,
        percent=80,
        reason="Only the wall is missing.",
    )
    # Unit 1: .8 by decision; unit 2: yes. Mean .9.
    assert coverage(world) == pytest.approx(0.9)


def test_withdrawing_a_decision_restores_what_stood_before(world: World) -> None:
    decision = decide_check(check=world.check("alder", 1), by=world.cleo, label="no", reason="Not said.")
    assert coverage(world) == pytest.approx(0.5)
    withdraw_decision(decision=decision, by=world.cleo)
    withdraw_decision(decision=decision, by=world.cleo)
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


def test_a_decision_needs_a_reason(world: World) -> None:
    with pytest.raises(Invalid) as refused:
        decide_check(check=world.check("alder", 1), by=world.cleo, label="no", reason="  ")
    assert refused.value.field == "reason"


def test_reviewers_do_not_adjudicate(world: World) -> None:
    with pytest.raises(NotAllowed):
        decide_check(check=world.check("alder", 1), by=world.rex, label="no", reason="Not said.")
