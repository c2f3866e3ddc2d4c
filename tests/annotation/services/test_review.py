"""A reviewer's verdict: what it changes, what it refuses, what it logs."""

from typing import Any

import pytest

from annotation.models import Check, Claim, ClaimSet, Event, Project, Score, Verdict
from annotation.refusals import Conflict, Invalid, NotAllowed, NotFound
from annotation.services.review import Quote, override, withdraw_verdict
from tests.annotation.cast import World


def coverage(world: World, system: str) -> float | None:
    return Score.objects.get(summary=world.peers["port", system]).coverage


def test_the_world_is_scored_as_its_docstring_says(world: World) -> None:
    # alder: unit 1 has yes, no -> 1/2; unit 2 has yes -> 1. Mean (0.5 + 1) / 2 = 0.75.
    assert coverage(world, "alder") == pytest.approx(0.75)
    assert coverage(world, "birch") == 0.0


def test_an_override_changes_the_final_label_and_the_score(world: World) -> None:
    override(check=world.check("alder", 2), by=world.rex, label="yes", reason="It says so.")
    check = world.check("alder", 2)
    assert (check.judge_label, check.human_label, check.final_label) == ("no", "yes", "yes")
    assert check.final_source == "reviewer"
    # Unit 1 is now yes, yes -> 1. Mean (1 + 1) / 2 = 1.
    assert coverage(world, "alder") == 1.0


def test_an_override_leaves_the_other_summaries_alone(world: World) -> None:
    override(check=world.check("alder", 2), by=world.rex, label="yes")
    assert coverage(world, "birch") == 0.0


def test_a_confirmation_counts_as_a_persons_verdict(world: World) -> None:
    override(check=world.check("alder", 3), by=world.rex, label="yes")
    score = Score.objects.get(summary=world.peers["port", "alder"])
    assert score.coverage == pytest.approx(0.75)
    # Unit 1: no person's verdict, h = 0; unit 2: its one claim has one, h = 1. Mean 0.5.
    assert score.human_share == pytest.approx(0.5)


def test_withdrawing_restores_what_stood_before(world: World) -> None:
    verdict = override(check=world.check("alder", 1), by=world.rex, label="no")
    assert coverage(world, "alder") == pytest.approx(0.5)
    withdraw_verdict(verdict=verdict, by=world.rex)
    assert coverage(world, "alder") == pytest.approx(0.75)
    assert world.check("alder", 1).human_label is None


def test_withdrawing_twice_changes_nothing(world: World) -> None:
    verdict = override(check=world.check("alder", 1), by=world.rex, label="no")
    withdraw_verdict(verdict=verdict, by=world.rex)
    withdraw_verdict(verdict=verdict, by=world.rex)
    assert Event.objects.filter(verb="withdraw verdict").count() == 1


def test_only_the_giver_withdraws(world: World) -> None:
    verdict = override(check=world.check("alder", 1), by=world.rex, label="no")
    with pytest.raises(NotAllowed):
        withdraw_verdict(verdict=verdict, by=world.cleo)


def test_reviewers_who_differ_make_a_dispute_and_the_latest_stands(world: World) -> None:
    override(check=world.check("alder", 1), by=world.rex, label="no")
    override(check=world.check("alder", 1), by=world.cleo, label="yes")
    check = world.check("alder", 1)
    assert check.is_disputed
    assert check.final_label == "yes"


def test_a_change_of_mind_is_a_new_row_and_no_dispute(world: World) -> None:
    override(check=world.check("alder", 1), by=world.rex, label="no")
    override(check=world.check("alder", 1), by=world.rex, label="unsure")
    assert Verdict.objects.filter(person=world.rex).count() == 2
    assert not world.check("alder", 1).is_disputed


def test_a_newer_verdict_than_the_one_on_screen_is_a_conflict_that_loses_nothing(world: World) -> None:
    override(check=world.check("alder", 1), by=world.cleo, label="no", reason="Not said.")
    with pytest.raises(Conflict) as refused:
        override(check=world.check("alder", 1), by=world.rex, label="yes", reason="It is.", seen="")
    assert refused.value.code == "newer_verdict"
    assert refused.value.details["yours"] == {"label": "yes", "reason": "It is."}
    assert refused.value.details["theirs"]["label"] == "no"  # type: ignore[index]
    assert Verdict.objects.filter(person=world.rex).count() == 0


def test_a_conflict_says_that_the_newer_verdict_is_ones_own(world: World) -> None:
    check = world.check("alder", 1)
    own = override(check=check, by=world.rex, label="no")
    with pytest.raises(Conflict) as answered:
        override(check=check, by=world.rex, label="yes", seen="")
    withdraw_verdict(verdict=own, by=world.rex)
    with pytest.raises(Conflict) as withdrawn:
        override(check=check, by=world.rex, label="yes", seen=own.public_id)
    override(check=check, by=world.cleo, label="unsure")
    with pytest.raises(Conflict) as theirs:
        override(check=check, by=world.rex, label="yes", seen="")
    refusals = (answered.value, withdrawn.value, theirs.value)
    assert [refusal.details["is_own"] for refusal in refusals] == [True, True, False]


@pytest.mark.parametrize("name", ["ana", "vic", "mona"])
def test_roles_without_review_are_refused(world: World, name: str) -> None:
    with pytest.raises(NotAllowed):
        override(check=world.check("alder", 1), by=getattr(world, name), label="no")


def test_an_outsider_finds_nothing(world: World) -> None:
    with pytest.raises(NotFound):
        override(check=world.check("alder", 1), by=world.dan, label="no")


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


@pytest.mark.parametrize(
    "pointing", [{"evidence": [2, 3]}, {"quotes": [Quote(unit=3, start=0, end=4)]}], ids=["unit", "passage"]
)
def test_evidence_that_the_text_does_not_hold_is_refused(world: World, pointing: dict[str, Any]) -> None:
    # Alder's summary has two sentences.
    with pytest.raises(Invalid, match="There is no unit 3 here") as refused:
        override(check=world.check("alder", 1), by=world.rex, label="yes", **pointing)
    assert refused.value.field == "evidence"
    assert not Verdict.objects.filter(person=world.rex).exists()


def test_evidence_for_a_claim_of_the_summary_lies_in_the_source(world: World) -> None:
    alder = world.peers["port", "alder"]
    claim_set = ClaimSet.objects.create(summary=alder, is_active=True)
    claim = Claim.objects.create(claim_set=claim_set, position=1, text="It closes", origin="judge")
    check = Check.objects.create(project=world.project, claim=claim, peer=alder, side="peer")
    # The source has three sentences, the summary only two.
    assert override(check=check, by=world.rex, label="yes", evidence=[3]).evidence == [3]
    with pytest.raises(Invalid, match="There is no unit 4 here"):
        override(check=check, by=world.rex, label="yes", evidence=[4])


def test_the_log_tells_who_changed_what(world: World) -> None:
    check = world.check("alder", 2)
    override(check=check, by=world.rex, label="yes", reason="It says so.")
    event = Event.objects.get(verb="override")
    assert (event.actor, event.target_id) == (world.rex, check.public_id)
    assert event.data["final_before"] == "no"
    assert (event.data["label"], event.data["reason"]) == ("yes", "It says so.")


def test_cost_does_not_grow_with_the_project(world: World, django_assert_max_num_queries) -> None:  # type: ignore[no-untyped-def]
    check = world.check("alder", 2)
    Project.objects.filter(pk=world.project.pk).update(description="warm")
    with django_assert_max_num_queries(32):
        override(check=check, by=world.rex, label="yes")
