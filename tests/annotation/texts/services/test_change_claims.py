"""Claims that are added, removed or reworded.

The judge says yes, no, yes for "alder": unit 1 has claims 1 and 2, unit 2 has claim 3. So coverage is (1/2 + 1) / 2 =
.75; for "birch" all answers are no.
"""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from annotation.adjudicating.services.adjudicate import decide_check
from annotation.assessing.services.assign import assign
from annotation.assessing.services.save_acts import judge_unit
from annotation.core.refusals import Conflict, Invalid, NotAllowed, NotFound
from annotation.judging.services.running.answers import Judged, JudgeOfRun, write
from annotation.models import (
    Check,
    Claim,
    ClaimSet,
    Dispute,
    Document,
    DocumentSet,
    Event,
    Look,
    Project,
    Score,
    Summary,
    Verdict,
)
from annotation.reviewing.queries.check_view import outcome_of
from annotation.reviewing.queries.sight import with_known
from annotation.reviewing.services.look_at_check import look_at
from annotation.reviewing.services.review import override, withdraw_answer
from annotation.sampling.services.sample_checks import sample_checks
from annotation.scoring.rescore import rescore
from annotation.texts.services.change_claims import add_claim, remove_claim, reword_claim
from evaluation.judging.protocol import Verdict as Answer
from tests.annotation.answering import decisions, look
from tests.annotation.cast import add_imported_verdict, add_units
from tests.annotation.imports.files import import_dataset, jsonl, nested
from tests.annotation.judging.doing import run_to_end
from tests.annotation.statements import statements_of

if TYPE_CHECKING:
    from tests.annotation.cast import World


def claim(world: World, position: int) -> Claim:
    return Claim.objects.get(claim_set__summary=world.references["port"], position=position)


def texts(world: World) -> list[str]:
    claims = Claim.objects.filter(claim_set__summary=world.references["port"]).order_by("position")
    return list(claims.values_list("text", flat=True))


def coverage(world: World, system: str = "alder") -> float | None:
    return Score.objects.get(summary=world.summaries["port", system]).coverage


def check_of(world: World, text: str, system: str = "alder") -> Check:
    return Check.objects.get(claim__text=text, summary=world.summaries["port", system], is_current=True)


def reword(world: World, position: int = 2, text: str = "The wall is weak") -> Claim:
    return reword_claim(claim=claim(world, position), by=world.olga, text=text)


def is_sound(project: Project) -> bool:
    call_command("verify_scores", project.slug, stdout=StringIO())
    return True


def test_a_reworded_claim_is_checked_again_with_every_summary_and_the_old_words_keep_their_answers(
    world: World,
) -> None:
    old = world.check("alder", 2)
    verdict = override(check=old, by=world.rex, label="yes").verdict
    assert coverage(world) == 1.0  # (2/2 + 1) / 2
    new = reword_claim(claim=old.claim, by=world.cleo, text=" The  wall is\nweak ")
    assert (new.text, new.unit, new.weight, new.origin) == ("The wall is weak", old.claim.unit, 1.0, "person")
    assert texts(world)[1] == "The wall is weak"
    checks = Check.objects.filter(claim=new).order_by("summary__system__name")
    assert list(checks.values_list("summary__system__name", "side", "final_label")) == [
        ("alder", "reference", None),
        ("birch", "reference", None),
    ]
    # Unit 1 has only claim 1 left, with yes.
    assert coverage(world) == 1.0
    override(check=check_of(world, "The wall is weak"), by=world.rex, label="no")
    assert coverage(world) == 0.75
    old.refresh_from_db()
    assert (old.is_current, list(old.verdicts.filter(role="reviewer"))) == (False, [verdict])
    assert (old.final_label, old.final_source) == ("yes", "reviewer")
    assert is_sound(world.project)


def test_a_removed_claim_is_no_longer_checked(world: World) -> None:
    remove_claim(claim=claim(world, 2), by=world.cleo)
    assert texts(world) == ["The harbour closes in April", "Ferries move to the southern quay"]
    assert coverage(world) == 1.0  # (1/1 + 1) / 2
    assert is_sound(world.project)


def test_an_added_claim_is_compared_with_every_summary(world: World) -> None:
    add_claim(owner=world.references["port"], by=world.rex, text="The wall costs money", unit=1)
    assert coverage(world) == 0.75  # the new claim is open and does not count yet
    override(check=check_of(world, "The wall costs money"), by=world.rex, label="no")
    assert coverage(world) == pytest.approx(2 / 3)  # (1/3 + 1) / 2
    override(check=check_of(world, "The wall costs money", "birch"), by=world.rex, label="yes")
    assert coverage(world, "birch") == pytest.approx(1 / 6)  # (1/3 + 0) / 2
    assert is_sound(world.project)


def test_a_summaries_own_claims_are_compared_with_its_sources(world: World) -> None:
    summary = world.summaries["port", "alder"]
    claim_set = ClaimSet.objects.create(summary=summary, origin="judge", origin_name="lexical")
    own = Claim.objects.create(claim_set=claim_set, position=1, text="It closes in April", origin="judge")
    check = Check.objects.create(
        project=world.project,
        claim=own,
        summary=summary,
        document_set_id=summary.document_set_id,
        side="summary",
    )
    Verdict.objects.create(check_row=check, role="judge", judge=world.judge, label="yes")
    rescore(project=world.project)
    assert Score.objects.get(summary=summary).alignment == 1.0
    new = reword_claim(claim=own, by=world.rex, text="The harbour of Lund closes")
    made = Check.objects.get(claim=new)
    assert (made.side, made.summary) == ("summary", summary)
    assert Score.objects.get(summary=summary).alignment is None
    override(check=made, by=world.rex, label="no")
    assert Score.objects.get(summary=summary).alignment == 0.0
    # Coverage uses only the reference.
    assert coverage(world) == 0.75


def test_claims_of_the_documents_are_compared_with_summaries_without_a_model_summary(world: World) -> None:
    lone = DocumentSet.objects.create(project=world.project, external_id="lone")
    document = Document.objects.create(document_set=lone, position=1, text="The mill burned. Nobody died.")
    add_units(document.text, document=document)
    summary = Summary.objects.create(
        document_set=lone, system=world.systems["alder"], is_summary=True, text="The mill burned."
    )
    rescore(project=world.project)
    added: list[Claim] = []
    asked = statements_of(
        lambda: added.append(add_claim(owner=lone, by=world.rex, text="the mill burned", unit=1))
    )
    if connection.features.has_select_for_update:
        # Lock the set before its summaries, as a worker that stores claims does; otherwise the two could deadlock.
        locks = [re.findall(r'FROM "annotation_(\w+)"', each)[0] for each in asked if "FOR " in each]
        assert locks.index("documentset") < locks.index("summary")
    [mill] = added
    assert (mill.start, mill.end) == (0, 15)
    assert (mill.claim_set.origin, mill.claim_set.origin_name) == ("person", "rex")
    second = add_claim(owner=lone, by=world.rex, text="Nobody died")
    for made, label in ((mill, "yes"), (second, "no")):
        override(check=Check.objects.get(claim=made, summary=summary), by=world.rex, label=label)
    assert Score.objects.get(summary=summary).coverage == 0.5
    assert is_sound(world.project)


def knew(world: World, text: str = "The wall is weak", system: str = "alder") -> bool:
    return override(check=check_of(world, text, system), by=world.rex, label="no").verdict.had_seen


def test_who_answered_the_old_words_is_not_blind_to_the_new_ones(world: World) -> None:
    override(check=world.check("alder", 2), by=world.rex, label="yes")
    reword(world)
    # The result is the same after another rewording.
    reword(world, text="The wall is old and weak")
    assert knew(world, "The wall is old and weak")
    assert not knew(world, "The wall is old and weak", "birch")


def test_who_answered_the_old_words_sees_nothing_of_the_new_ones_before_answering(world: World) -> None:
    override(check=world.check("alder", 2), by=world.rex, label="yes")
    reword(world)
    new = check_of(world, "The wall is weak")
    override(check=new, by=world.cleo, label="no")
    before = outcome_of(new, world.rex)
    assert (before.is_judge_shown, before.people, before.decision) == (False, (), None)
    told = with_known(Check.objects.filter(pk=new.pk), world.rex, is_kept_back=True)
    assert not told.get().is_known
    override(check=new, by=world.rex, label="yes")
    assert outcome_of(new, world.rex).is_judge_shown


def test_nor_is_who_took_the_answer_back_or_was_shown_what_others_said(world: World) -> None:
    check = world.check("alder", 2)
    withdraw_answer(answer=override(check=check, by=world.rex, label="yes").verdict, by=world.rex)
    look(check, world.cleo)
    reword(world)
    new = check_of(world, "The wall is weak")
    seen = Look.objects.filter(check_row=new, revealed_at__isnull=False)
    assert set(seen.values_list("person__username", flat=True)) == {"rex", "cleo"}


def test_who_only_opened_it_or_saw_another_answer_nothing_is_blind(world: World) -> None:
    check = world.check("alder", 2)
    look_at(check=check, by=world.rex)
    override(check=check, by=world.cleo, label="yes")
    reword(world)
    assert not knew(world)


def test_whoever_comes_too_late_sees_both_versions_and_changes_nothing(world: World) -> None:
    mine = claim(world, 2)
    new = reword(world)
    for act in (
        lambda: reword_claim(claim=mine, by=world.rex, text="The wall is old"),
        lambda: remove_claim(claim=mine, by=world.rex),
    ):
        with pytest.raises(Conflict) as refusal:
            act()
        assert refusal.value.code == "newer_claims"
        assert refusal.value.details["theirs"] == {"id": new.public_id, "text": "The wall is weak"}
    assert texts(world)[1] == "The wall is weak"


def test_a_claim_that_waits_for_a_sampled_answer_stays(world: World) -> None:
    sample_checks(project=world.project, by=world.olga, method="uniform", share=1.0, seed=7)
    for act in (lambda: reword(world), lambda: remove_claim(claim=claim(world, 2), by=world.olga)):
        with pytest.raises(Conflict) as refusal:
            act()
        assert refusal.value.code == "sampled"
    for system in ("alder", "birch"):
        override(check=world.check(system, 2), by=world.rex, label="yes")
    reword(world)
    assert texts(world)[1] == "The wall is weak"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (" \n", "invalid"),
        ("x" * 1001, "invalid"),
        ("its wall is weak", "same_words"),
        ("its wall is weak .", "same_words"),
        ("(its\u2003wall is weak?!)\u200b", "same_words"),
        ("ferries move to the southern quay.", "twin"),
    ],
    ids=["empty", "too long", "the same", "with a mark", "in marks and other white space", "another claim's"],
)
def test_words_that_make_no_new_claim_are_refused(world: World, text: str, code: str) -> None:
    with pytest.raises(Invalid) as refusal:
        reword(world, text=text)
    assert refusal.value.code == code
    assert texts(world)[1] == "its wall is weak"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("It fell by 5", "It fell by 5 %"),
        ("5 degrees", "-5 degrees"),
        ("They polish shoes", "They Polish shoes"),
        ("It costs 3,5", "It costs 3.5"),
    ],
)
def test_a_sign_that_says_something_makes_other_words(world: World, before: str, after: str) -> None:
    Claim.objects.filter(pk=claim(world, 2).pk).update(text=before)
    reword(world, text=after)
    assert texts(world)[1] == after


def test_a_claim_on_which_a_decision_rests_is_changed_by_adjudicators_alone(world: World) -> None:
    check = world.check("alder", 2)
    decide_check(check=check, by=world.cleo, label="yes", reason="as it stands there")
    for act in (
        lambda: reword_claim(claim=check.claim, by=world.rex, text="The wall is weak"),
        lambda: remove_claim(claim=check.claim, by=world.rex),
    ):
        with pytest.raises(NotAllowed) as refusal:
            act()
        assert refusal.value.code == "decided"
    withdraw_answer(answer=decisions()[0], by=world.cleo)
    reword_claim(claim=check.claim, by=world.rex, text="The wall is weak")
    decide_check(check=check_of(world, "The wall is weak"), by=world.cleo, label="yes", reason="so")
    reword(world, text="The wall is old")
    assert texts(world)[1] == "The wall is old"


def test_a_claim_of_a_model_summary_names_its_unit(world: World) -> None:
    with pytest.raises(Invalid, match="Enter the claim's unit"):
        add_claim(owner=world.references["port"], by=world.rex, text="It rained")
    with pytest.raises(Invalid, match="no unit 9"):
        add_claim(owner=world.references["port"], by=world.rex, text="It rained", unit=9)


def test_claims_that_replace_units_stay_once_they_have_percents(world: World) -> None:
    Claim.objects.filter(claim_set__summary=world.references["port"]).update(unit=None)
    assignment = assign(document_set=world.sets["port"], assessor=world.ana, by=None, seed=1)
    shown = claim(world, 1).public_id
    # The claims are not judged yet, so they may be changed; an open form gets a refusal for the removed claim.
    reword(world, 1, "The port closes in April")
    reading = assignment.readings.select_related("assignment__document_set__project").earliest("position")
    with pytest.raises(NotFound, match="Reload the page"):
        judge_unit(reading=reading, by=world.ana, unit_id=shown, percent=40)
    judge_unit(reading=reading, by=world.ana, unit_id=claim(world, 2).public_id, percent=40, marks=[1])
    for act in (
        lambda: remove_claim(claim=claim(world, 1), by=world.rex),
        lambda: add_claim(owner=world.references["port"], by=world.rex, text="It rained"),
    ):
        with pytest.raises(Conflict) as refusal:
            act()
        assert refusal.value.code == "judged"


def test_every_act_is_in_the_log_with_both_wordings(world: World) -> None:
    new = reword(world)
    event = Event.objects.get(verb="reword claim")
    assert (event.actor, event.target_id) == (world.olga, new.public_id)
    assert event.data == {
        "text": world.references["port"].public_id,
        "before": "its wall is weak",
        "after": "The wall is weak",
    }


def test_a_dispute_on_the_old_words_goes(world: World) -> None:
    check = world.check("alder", 2)
    override(check=check, by=world.rex, label="yes")
    add_imported_verdict(check, "no")
    assert Dispute.objects.filter(check_row=check, state="open").exists()
    reword(world)
    assert not Dispute.objects.filter(check_row=check).exists()


def test_a_judge_answers_in_its_next_run_only_what_is_new(world: World) -> None:
    run_to_end(world.project, world.judge)
    before = Verdict.objects.count()
    reword(world, text="The harbour of Lund closes in April")
    run_to_end(world.project, world.judge)
    # The claim is checked in two summaries: the lexical judge finds its words in alder's summary and not in birch's.
    made = Verdict.objects.order_by("pk")[before:]
    assert {
        (each.check_row.summary.system.name, each.label) for each in made if each.check_row.summary.system
    } == {
        ("alder", "yes"),
        ("birch", "no"),
    }
    assert is_sound(world.project)


def test_an_answer_that_comes_too_late_stays_with_the_old_words(world: World) -> None:
    old = claim(world, 2)
    reword(world)
    Check.objects.filter(claim=old).delete()
    judged = Judged(world.summaries["port", "alder"], {old.pk: Check.Side.REFERENCE})
    judged.answers[old.pk] = Answer("yes", 0.9, [1])
    write([judged], project=world.project, by=JudgeOfRun(world.judge, "lexical|v:1", None))
    assert not Check.objects.get(claim=old).is_current
    assert coverage(world) == 1.0
    assert is_sound(world.project)


def test_a_file_that_is_read_again_leaves_corrections_alone(db: None, tmp_path: Path) -> None:
    project = Project.objects.create(slug="trams", name="Trams")
    import_dataset(project=project, path=jsonl(tmp_path, nested()), by=None)
    reword_claim(claim=Claim.objects.get(position=1), by=None, text="Rain fell")
    before = list(Check.objects.order_by("pk").values_list("pk", "is_current"))
    import_dataset(project=project, path=jsonl(tmp_path, nested()), by=None)
    assert list(Claim.objects.order_by("position").values_list("text", flat=True)) == [
        "Rain fell",
        "Trams stopped",
    ]
    assert list(Check.objects.order_by("pk").values_list("pk", "is_current")) == before
    assert is_sound(project)


def test_a_check_that_says_otherwise_than_its_claim_is_found_and_put_right(world: World) -> None:
    Check.objects.filter(pk=world.check("alder", 1).pk).update(is_current=False)
    with pytest.raises(CommandError, match="difference"):
        is_sound(world.project)
    rescore(project=world.project)
    assert is_sound(world.project)
