import pytest

from annotation.adjudicating.queries.answers import answers_on
from annotation.adjudicating.services.adjudicate import decide_check
from annotation.core.refusals import Conflict, Invalid, NotAllowed
from annotation.models import Check, Claim, ClaimSet, Dispute, Event, Score, Verdict
from annotation.reviewing.services.review import LONGEST_REASON, override, withdraw_answer
from tests.annotation.cast import World


def coverage(world: World, system: str) -> float | None:
    return Score.objects.get(summary=world.summaries["port", system]).coverage


def test_an_override_changes_the_final_label_and_the_score(world: World) -> None:
    override(check=world.check("alder", 2), by=world.rex, label="yes", reason="It says so.")
    check = world.check("alder", 2)
    assert (check.judge_label, check.human_label, check.final_label) == ("no", "yes", "yes")
    assert check.final_source == "reviewer"
    # Unit 1 has yes and yes now, which is 1, so the mean is (1 + 1) / 2 = 1. The other summary does not change.
    assert (coverage(world, "alder"), coverage(world, "birch")) == (1.0, 0.0)


def test_withdrawing_restores_what_stood_before(world: World) -> None:
    verdict = override(check=world.check("alder", 1), by=world.rex, label="no").verdict
    assert coverage(world, "alder") == pytest.approx(0.5)
    withdraw_answer(answer=verdict, by=world.rex)
    assert coverage(world, "alder") == pytest.approx(0.75)
    assert world.check("alder", 1).human_label is None


def test_withdrawing_twice_changes_nothing(world: World) -> None:
    verdict = override(check=world.check("alder", 1), by=world.rex, label="no").verdict
    withdraw_answer(answer=verdict, by=world.rex)
    withdraw_answer(answer=verdict, by=world.rex)
    assert Event.objects.filter(verb="withdraw verdict").count() == 1


def test_only_the_giver_withdraws(world: World) -> None:
    verdict = override(check=world.check("alder", 1), by=world.rex, label="no").verdict
    with pytest.raises(NotAllowed):
        withdraw_answer(answer=verdict, by=world.cleo)


def test_another_persons_answer_is_no_conflict_and_both_stand(world: World) -> None:
    override(check=world.check("alder", 1), by=world.olga, label="no", seen="")
    own = override(check=world.check("alder", 1), by=world.rex, label="yes", seen="").verdict
    assert own.had_seen is False
    check = world.check("alder", 1)
    assert (check.human_label, check.final_label, check.is_disputed) == ("yes", "yes", True)
    assert list(Dispute.objects.values_list("state", "answers")) == [("open", 2)]
    answers = answers_on(Dispute(check_row=check), world.cleo)
    assert sorted(answer.answer for answer in answers) == ["no", "yes"]
    decide_check(check=check, by=world.cleo, label="yes")
    assert list(Dispute.objects.values_list("state", "answers")) == [("settled", 2)]


def test_a_newer_answer_of_ones_own_is_a_conflict_that_shows_both(world: World) -> None:
    check = world.check("alder", 1)
    own = override(check=check, by=world.rex, label="no", reason="Not said.").verdict
    override(check=check, by=world.cleo, label="unsure")
    with pytest.raises(Conflict) as answered:
        override(check=check, by=world.rex, label="yes", reason=" It is. ", seen="")
    withdraw_answer(answer=own, by=world.rex)
    with pytest.raises(Conflict) as withdrawn:
        override(check=check, by=world.rex, label="yes", seen=own.public_id)
    assert [refused.value.code for refused in (answered, withdrawn)] == ["newer_verdict"] * 2
    assert answered.value.details == {
        "yours": {"label": "yes", "reason": "It is."},
        "theirs": {"label": "no", "reason": "Not said."},
    }
    assert withdrawn.value.details["theirs"] is None
    assert Verdict.objects.filter(person=world.rex).count() == 1


def test_who_saw_an_answer_that_is_not_theirs_is_asked_again_and_told_nothing(world: World) -> None:
    theirs = override(check=world.check("alder", 1), by=world.cleo, label="no", reason="Not said.").verdict
    elsewhere = override(check=world.check("alder", 2), by=world.rex, label="no").verdict
    judges = Verdict.objects.get(check_row=world.check("alder", 1), role="judge")
    for seen in ("made-up", theirs.public_id, elsewhere.public_id, judges.public_id):
        with pytest.raises(Invalid) as refused:
            override(check=world.check("alder", 1), by=world.rex, label="yes", seen=seen)
        assert (refused.value.field, refused.value.details) == ("seen", {})
    assert not Verdict.objects.filter(person=world.rex, check_row=world.check("alder", 1)).exists()


def test_an_answer_to_a_claim_that_is_no_longer_checked_is_not_kept(world: World) -> None:
    Check.objects.filter(pk=world.check("alder", 1).pk).update(is_current=False)
    with pytest.raises(Conflict) as refused:
        override(check=world.check("alder", 1), by=world.rex, label="yes")
    assert refused.value.code == "claim_changed"
    assert not Verdict.objects.filter(person=world.rex).exists()


@pytest.mark.parametrize(
    ("answer", "field"),
    [
        ({"label": "maybe"}, "label"),
        ({"label": "yes", "confidence": 1.5}, "confidence"),
        ({"label": "yes", "evidence": [0]}, "evidence"),
    ],
)
def test_a_senseless_answer_is_refused(world: World, answer: dict[str, object], field: str) -> None:
    with pytest.raises(Invalid) as refused:
        override(check=world.check("alder", 1), by=world.rex, **answer)  # type: ignore[arg-type]
    assert refused.value.field == field


def test_evidence_for_a_claim_of_the_summary_lies_in_the_source(world: World) -> None:
    alder = world.summaries["port", "alder"]
    claim_set = ClaimSet.objects.create(summary=alder, is_active=True)
    claim = Claim.objects.create(claim_set=claim_set, position=1, text="It closes", origin="judge")
    check = Check.objects.create(
        project=world.project,
        claim=claim,
        summary=alder,
        document_set_id=alder.document_set_id,
        side="summary",
    )
    # The source has three sentences, the summary only two.
    assert override(check=check, by=world.rex, label="yes", evidence=[3]).verdict.evidence == [3]
    with pytest.raises(Invalid, match="There is no unit 4 here"):
        override(check=check, by=world.rex, label="yes", evidence=[4])


def test_the_log_tells_who_changed_what(world: World) -> None:
    check = world.check("alder", 2)
    override(check=check, by=world.rex, label="yes", reason="It says so.")
    event = Event.objects.get(verb="override")
    assert (event.actor, event.target_id) == (world.rex, check.public_id)
    assert event.data["final_before"] == "no"
    assert (event.data["label"], event.data["reason"]) == ("yes", "It says so.")


def test_a_reason_has_an_end(world: World) -> None:
    check, told = world.check("alder", 1), "x" * LONGEST_REASON
    with pytest.raises(Invalid) as refused:
        override(check=check, by=world.rex, label="no", reason=told + "x")
    assert refused.value.field == "reason"
    assert override(check=check, by=world.rex, label="no", reason=f" {told} ").verdict.reason == told
