"""Decisions stand above everything until they are withdrawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.adjudicating.queries.dispute_view import dispute_view
from annotation.adjudicating.queries.disputes import DisputeFilter, queue
from annotation.adjudicating.queries.voices import voices_on_check, voices_on_unit
from annotation.adjudicating.services.adjudicate import (
    decide_check,
    decide_unit,
    reopen_dispute,
    settle,
    withdraw_decision,
)
from annotation.adjudicating.services.take_dispute import take_next
from annotation.assessing.services.unassign import unassign
from annotation.core.refusals import Conflict, Invalid, NotAllowed
from annotation.models import Adjudication, Dispute, Event, Membership, Project, Role, Score, Sitting
from annotation.reviewing.services.review import LONGEST_REASON, override, withdraw_verdict
from annotation.scoring.rescore import rescore
from annotation.texts.queries.unit_locks import dropped_by_reopening
from annotation.texts.services.reopen_units import reopen_units
from tests.annotation.cast import World
from tests.annotation.exports.acts import assess_and_close

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import Check


def coverage(world: World) -> float | None:
    return Score.objects.get(summary=world.peers["port", "alder"]).coverage


def disputed(world: World) -> Check:
    """Alder's claim 3, of which Rex says no and Olga yes."""
    override(check=world.check("alder", 3), by=world.rex, label="no", reason="Nothing on ferries.")
    override(check=world.check("alder", 3), by=world.olga, label="yes")
    return world.check("alder", 3)


def token_of(check: Check, person: User, label: str) -> str:
    return next(voice.token for voice in voices_on_check(check, person) if voice.label == label)


def test_a_decision_on_a_check_beats_the_reviewer(world: World) -> None:
    override(check=world.check("alder", 3), by=world.rex, label="no")
    decide_check(check=world.check("alder", 3), by=world.cleo, label="yes", reason="Unit 2 says it.")
    check = world.check("alder", 3)
    assert (check.human_label, check.final_label, check.final_source) == ("yes", "yes", "adjudicator")
    assert coverage(world) == pytest.approx(0.75)


def test_a_decided_check_is_no_longer_disputed(world: World) -> None:
    check = disputed(world)
    assert check.is_disputed
    decide_check(check=check, by=world.cleo, label="yes")
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


def test_reviewers_do_not_adjudicate(world: World) -> None:
    with pytest.raises(NotAllowed):
        decide_check(check=world.check("alder", 1), by=world.rex, label="no", reason="Not said.")


def test_an_answer_that_nobody_gave_needs_a_reason(world: World) -> None:
    check = disputed(world)
    with pytest.raises(Invalid) as refused:
        decide_check(check=check, by=world.cleo, label="unsure", reason="  ")
    assert refused.value.field == "reason"
    decision = decide_check(check=check, by=world.cleo, label="unsure", reason="It says neither.")
    assert decision.is_against_all


def test_an_answer_that_nobody_was_asked_for_needs_a_reason(world: World) -> None:
    with pytest.raises(Invalid) as refused:
        decide_check(check=world.check("alder", 1), by=world.cleo, label="no")
    assert refused.value.field == "reason"


def test_an_answer_that_somebody_gave_needs_no_reason(world: World) -> None:
    decision = decide_check(check=disputed(world), by=world.cleo, label="no")
    assert (decision.reason, decision.is_against_all, decision.adopted_verdict) == ("", False, None)


def test_an_adopted_answer_is_remembered_with_its_row(world: World) -> None:
    check = disputed(world)
    decision = decide_check(check=check, by=world.cleo, adopt=token_of(check, world.cleo, "no"))
    assert decision.adopted_verdict is not None
    assert (decision.label, decision.adopted_verdict.person) == ("no", world.rex)
    # Unit 1: yes, no; unit 2: no. (.5 + 0) / 2.
    assert coverage(world) == pytest.approx(0.25)


def test_an_adopted_answer_that_was_changed_meanwhile_is_a_conflict(world: World) -> None:
    check = disputed(world)
    token = token_of(check, world.cleo, "no")
    override(check=check, by=world.rex, label="unsure")
    with pytest.raises(Conflict) as refused:
        decide_check(check=check, by=world.cleo, adopt=token)
    assert refused.value.code == "newer_voices"
    assert not Adjudication.objects.exists()


def test_error_type_and_guideline_gap_are_kept_and_logged(world: World) -> None:
    decide_check(
        check=disputed(world), by=world.cleo, label="no", error_type="wrong_entity", is_guideline_gap=True
    )
    decision = Adjudication.objects.get()
    assert (decision.error_type, decision.is_guideline_gap) == ("wrong_entity", True)
    data = Event.objects.get(verb="adjudicate").data
    assert (data["error_type"], data["is_guideline_gap"], data["adopted"]) == ("wrong_entity", True, None)


def test_an_error_type_that_is_none_is_refused(world: World) -> None:
    with pytest.raises(Invalid) as refused:
        decide_check(check=disputed(world), by=world.cleo, label="no", error_type="typo")
    assert refused.value.field == "error_type"


def test_nobody_settles_what_they_have_answered_themselves(world: World) -> None:
    disputed(world)
    override(check=world.check("alder", 3), by=world.cleo, label="yes")
    with pytest.raises(NotAllowed) as refused:
        decide_check(check=world.check("alder", 3), by=world.cleo, label="yes")
    assert refused.value.code == "own_judgment"


def test_a_project_may_let_people_settle_their_own(world: World) -> None:
    disputed(world)
    override(check=world.check("alder", 3), by=world.cleo, label="yes")
    world.project.own_adjudication = True
    world.project.save()
    assert decide_check(check=world.check("alder", 3), by=world.cleo, label="yes").label == "yes"


def test_also_who_took_their_answer_back_first_leaves_it_to_others(world: World) -> None:
    disputed(world)
    verdict = override(check=world.check("alder", 3), by=world.cleo, label="yes").verdict
    withdraw_verdict(verdict=verdict, by=world.cleo)
    assert not any(voice.is_own for voice in voices_on_check(world.check("alder", 3), world.cleo))
    with pytest.raises(NotAllowed, match="even if you withdraw your answer") as refused:
        decide_check(check=world.check("alder", 3), by=world.cleo, label="yes")
    assert refused.value.code == "own_judgment"
    # Nor is it handed to her, in the queue or by name.
    page = queue(world.project, world.cleo, DisputeFilter())
    assert (page.rows, page.own, page.left) == ((), 1, 0)
    assert take_next(project=world.project, by=world.cleo, filters=DisputeFilter()) is None
    shown = dispute_view(Dispute.objects.get(), world.cleo, DisputeFilter())
    assert (shown.is_own, shown.may_decide) == (True, False)
    Project.objects.filter(pk=world.project.pk).update(own_adjudication=True)
    assert decide_check(check=world.check("alder", 3), by=world.cleo, label="yes").label == "yes"


def test_whose_answer_was_set_aside_leaves_it_to_others(world: World) -> None:
    override(check=world.check("alder", 3), by=world.rex, label="no")
    with pytest.raises(Conflict):
        override(check=world.check("alder", 3), by=world.cleo, label="yes", seen="")
    assert Dispute.objects.get().state == Dispute.State.OPEN
    with pytest.raises(NotAllowed) as refused:
        decide_check(check=world.check("alder", 3), by=world.cleo, label="yes")
    assert refused.value.code == "own_judgment"
    assert decide_check(check=world.check("alder", 3), by=world.olga, label="yes").label == "yes"


def test_nobody_takes_back_what_others_decided_on_their_own_answer(world: World) -> None:
    check = disputed(world)
    decision = decide_check(check=check, by=world.cleo, label="no")
    with pytest.raises(NotAllowed) as refused:
        withdraw_decision(decision=decision, by=world.olga)
    assert refused.value.code == "own_judgment"


def test_a_newer_decision_than_the_one_on_screen_is_a_conflict_that_loses_nothing(world: World) -> None:
    check = disputed(world)
    world.project.memberships.filter(user=world.mona).update(roles=[Role.ADJUDICATOR])
    decide_check(check=check, by=world.mona, label="no", reason="Look at unit 2.", seen="")
    with pytest.raises(Conflict) as refused:
        decide_check(check=check, by=world.cleo, label="yes", reason="It is there.", seen="")
    assert refused.value.code == "newer_decision"
    details = refused.value.details
    assert details["yours"] == {"label": "yes", "reason": "It is there."}
    assert isinstance(details["theirs"], dict)
    assert (details["theirs"]["label"], details["theirs"]["reason"]) == ("no", "Look at unit 2.")
    assert details["is_own"] is False
    assert world.check("alder", 3).final_label == "no"


def assessed(world: World) -> None:
    """Ana gives 20 and 80 % to alder, Ben 60 and 80 %; both 0 % to birch."""
    assess_and_close(world, world.ana, {("alder", 1): 20, ("alder", 2): 80, ("birch", 1): 0, ("birch", 2): 0})
    assess_and_close(world, world.ben, {("alder", 1): 60, ("alder", 2): 80, ("birch", 1): 0, ("birch", 2): 0})


def test_a_percent_of_an_assessor_is_adopted(world: World) -> None:
    assessed(world)
    # Unit 1: the mean of 20 and 60 is .4; unit 2: .8. Mean .6.
    assert coverage(world) == pytest.approx(0.6)
    comparison, unit = world.comparison("port", "alder"), world.units("port")[0]
    voices = voices_on_unit(comparison, unit, world.cleo)
    token = next(voice.token for voice in voices if voice.percent == 60)
    decision = decide_unit(comparison=comparison, unit=unit, by=world.cleo, adopt=token)
    assert decision.adopted_judgment is not None
    assert decision.adopted_judgment.assignment.sitting is not None
    assert decision.adopted_judgment.assignment.sitting.assessor == world.ben
    # Unit 1: .6 by decision; unit 2: .8. Mean .7.
    assert coverage(world) == pytest.approx(0.7)


def test_a_percent_that_nobody_gave_needs_a_reason(world: World) -> None:
    assessed(world)
    place = {"comparison": world.comparison("port", "alder"), "unit": world.units("port")[0]}
    with pytest.raises(Invalid) as refused:
        decide_unit(**place, by=world.cleo, percent=35)  # type: ignore[arg-type]
    assert refused.value.field == "reason"
    assert not decide_unit(**place, by=world.cleo, percent=20).is_against_all  # type: ignore[arg-type]
    assert decide_unit(**place, by=world.cleo, percent=35, reason="A third.").is_against_all  # type: ignore[arg-type]


def test_an_assessor_who_adjudicates_leaves_their_own_units_to_others(world: World) -> None:
    assessed(world)
    Membership.objects.filter(user=world.ana).update(roles=[Role.ASSESSOR, Role.ADJUDICATOR])
    with pytest.raises(NotAllowed) as refused:
        decide_unit(
            comparison=world.comparison("port", "alder"),
            unit=world.units("port")[0],
            by=world.ana,
            percent=60,
        )
    assert refused.value.code == "own_judgment"


def test_also_where_their_work_was_opened_again_and_taken_away(world: World) -> None:
    assessed(world)
    Membership.objects.filter(user=world.ana).update(roles=[Role.ASSESSOR, Role.ADJUDICATOR])
    sitting = Sitting.objects.get(assessor=world.ana)
    model = world.models["port"]
    reopen_units(summary=model, by=world.olga, expected=dropped_by_reopening(model).number)
    unassign(sitting=sitting, by=world.olga)
    comparison, unit = world.comparison("port", "alder"), world.units("port")[0]
    assert not any(voice.is_own for voice in voices_on_unit(comparison, unit, world.ana))
    with pytest.raises(NotAllowed) as refused:
        decide_unit(comparison=comparison, unit=unit, by=world.ana, percent=60, reason="A bit more.")
    assert refused.value.code == "own_judgment"


def test_a_settled_dispute_is_taken_up_again(world: World) -> None:
    check = disputed(world)
    decide_check(check=check, by=world.cleo, label="no")
    decide_check(check=check, by=world.cleo, label="yes", reason="On second thoughts.")
    dispute = Dispute.objects.get()
    assert dispute.state == "settled"
    withdrawn = reopen_dispute(dispute=dispute, by=world.cleo, reason="The guidelines changed.")
    dispute.refresh_from_db()
    assert (len(withdrawn), dispute.state, dispute.leased_to) == (2, "open", world.cleo)
    # Olga's yes was the last verdict.
    assert world.check("alder", 3).final_source == "reviewer"
    event = Event.objects.get(verb="reopen dispute")
    assert event.data["reason"] == "The guidelines changed."
    assert event.data["decisions"] == [decision.public_id for decision in withdrawn]


def test_what_is_open_is_not_opened_again(world: World) -> None:
    disputed(world)
    assert reopen_dispute(dispute=Dispute.objects.get(), by=world.cleo) == []
    assert not Event.objects.filter(verb="reopen dispute").exists()


def test_rebuilding_the_queue_keeps_decisions(world: World) -> None:
    decide_check(check=disputed(world), by=world.cleo, label="no")
    Dispute.objects.all().delete()
    rescore(project=world.project)
    assert Dispute.objects.get(check_row=world.check("alder", 3)).state == "settled"
    assert world.check("alder", 3).final_label == "no"


def over_a_unit(world: World) -> Dispute:
    """Ana gave 20 % of alder's first unit and Ben 60."""
    assessed(world)
    return Dispute.objects.get(comparison=world.comparison("port", "alder"), unit=world.units("port")[0])


def test_a_dispute_is_settled_by_what_it_is_about(world: World) -> None:
    check = disputed(world)
    by_label = settle(dispute=check.disputes.get(), by=world.cleo, label="no")
    assert (by_label.check_row, by_label.label, by_label.percent) == (check, "no", None)
    by_percent = settle(dispute=over_a_unit(world), by=world.cleo, percent=20)
    assert (by_percent.unit, by_percent.percent, by_percent.label) == (world.units("port")[0], 20, None)


def test_a_check_takes_no_percent_and_a_unit_no_label(world: World) -> None:
    check = disputed(world)
    with pytest.raises(Invalid) as refused:
        settle(dispute=check.disputes.get(), by=world.cleo, label="no", percent=20)
    assert refused.value.field == "percent"
    with pytest.raises(Invalid) as refused:
        settle(dispute=over_a_unit(world), by=world.cleo, label="no", percent=20)
    assert refused.value.field == "label"
    assert not Adjudication.objects.exists()


def test_an_answer_of_ones_own_beside_another_that_is_taken_over_is_refused(world: World) -> None:
    check = disputed(world)
    with pytest.raises(Invalid) as refused:
        settle(
            dispute=check.disputes.get(), by=world.cleo, label="yes", adopt=token_of(check, world.cleo, "no")
        )
    assert refused.value.field == "label"


def test_taken_up_again_and_settled_is_both_or_neither(world: World) -> None:
    check = disputed(world)
    first = decide_check(check=check, by=world.cleo, label="no")
    dispute = check.disputes.get()
    with pytest.raises(Invalid):
        # Nobody said unsure, so it needs a reason.
        settle(dispute=dispute, by=world.cleo, label="unsure", seen=first.public_id, again=True)
    assert Adjudication.objects.get(withdrawn_at=None) == first
    second = settle(dispute=dispute, by=world.cleo, label="yes", seen=first.public_id, again=True)
    assert Adjudication.objects.get(withdrawn_at=None) == second
    with pytest.raises(Conflict):
        settle(dispute=dispute, by=world.cleo, label="no", seen=first.public_id, again=True)


def test_a_reason_has_an_end(world: World) -> None:
    check = disputed(world)
    told = "x" * LONGEST_REASON
    for reason in (told + "x", told):
        if reason == told:
            assert decide_check(check=check, by=world.cleo, label="no", reason=reason).reason == told
            continue
        with pytest.raises(Invalid) as refused:
            decide_check(check=check, by=world.cleo, label="no", reason=reason)
        assert refused.value.field == "reason"
    with pytest.raises(Invalid) as refused:
        reopen_dispute(dispute=check.disputes.get(), by=world.cleo, reason=told + "x")
    assert refused.value.field == "reason"
