"""Correcting claims: what is asked again, what stays with the old words, and what the scores say on the way.

Of "alder" the judge said yes, no, yes: unit 1 has claims 1 and 2, unit 2 has claim 3. So coverage is
(1/2 + 1) / 2 = .75; of "birch" everything is no.
"""

from __future__ import annotations

import random
import re
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection, transaction

from annotation.adjudicating.services.adjudicate import decide_check, withdraw_decision
from annotation.assessing.services.assign import assign
from annotation.assessing.services.save_acts import judge_unit
from annotation.core import jobs
from annotation.core.refusals import Conflict, Invalid, NotAllowed, NotFound
from annotation.judging.services.kept_answers import Judged, Located, write
from annotation.models import (
    Adjudication,
    Check,
    Claim,
    ClaimChange,
    ClaimSet,
    Dispute,
    Document,
    DocumentSet,
    Event,
    Job,
    Project,
    Run,
    Score,
    Summary,
    Verdict,
)
from annotation.reviewing.services.review import override, withdraw_verdict
from annotation.scoring.rescore import rescore
from annotation.texts.queries.claims import claims_of
from annotation.texts.services.change_claims import (
    Changed,
    add_claim,
    delete_claim,
    join_claims,
    reword_claim,
    split_claim,
    undo_claim_change,
)
from annotation.texts.services.change_units import join_units, undo_unit_change
from evaluation.judging.protocol import Verdict as Answer
from tests.annotation.cast import add_imported_verdict, add_units
from tests.annotation.imports.files import import_dataset, jsonl, nested
from tests.annotation.judging.doing import perform_all, run_to_end
from tests.annotation.statements import statements_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.annotation.cast import World


def claim(world: World, position: int) -> Claim:
    return Claim.objects.get(claim_set__summary=world.models["port"], position=position)


def texts(world: World) -> list[str]:
    claims = Claim.objects.filter(claim_set__summary=world.models["port"]).order_by("position")
    return list(claims.values_list("text", flat=True))


def coverage(world: World, system: str = "alder") -> float | None:
    return Score.objects.get(summary=world.peers["port", system]).coverage


def answer(world: World, text: str, label: str, system: str = "alder") -> None:
    check = Check.objects.get(claim__text=text, peer=world.peers["port", system], is_current=True)
    override(check=check, by=world.rex, label=label)


def is_sound(project: Project) -> bool:
    """Whether everything derived follows from what was said, `is_current` included."""
    call_command("verify_scores", project.slug, stdout=StringIO())
    return True


HALVES = ("The wall of the harbour is weak", "The wall is old")


# What the scores say


def test_the_parts_of_a_split_claim_are_open_and_count_once_they_are_answered(world: World) -> None:
    split_claim(claim=claim(world, 2), by=world.rex, texts=HALVES)
    assert texts(world) == [
        "The harbour closes in April",
        *HALVES,
        "Ferries move to the southern quay",
    ]
    # Only claim 1 of unit 1 is answered, yes: (1 + 1) / 2.
    assert coverage(world) == 1.0
    answer(world, HALVES[0], "no")
    assert coverage(world) == 0.75  # (1/2 + 1) / 2
    answer(world, HALVES[1], "no")
    assert coverage(world) == pytest.approx(2 / 3)  # (1/3 + 1) / 2
    assert is_sound(world.project)


def test_a_reworded_claim_is_asked_anew_of_every_peer_and_the_old_words_keep_their_answers(
    world: World,
) -> None:
    old = world.check("alder", 2)
    verdict = override(check=old, by=world.rex, label="yes").verdict
    assert coverage(world) == 1.0  # (2/2 + 1) / 2
    change = reword_claim(
        claim=old.claim, by=world.cleo, text=" The  wall is\nweak ", reason="No “its”"
    ).change
    new = claim(world, 2)
    assert (new.text, new.unit, new.weight, new.origin) == ("The wall is weak", old.claim.unit, 1.0, "person")
    assert (new.supersedes, new.made_by, change.reason) == (old.claim, change, "No “its”")
    peers = Check.objects.filter(claim=new).order_by("peer__system__name")
    assert [
        (check.peer.system.name, check.side, check.final_label) for check in peers if check.peer.system
    ] == [
        ("alder", "reference", None),
        ("birch", "reference", None),
    ]
    # What is left of unit 1 is claim 1, a yes.
    assert coverage(world) == 1.0
    old.refresh_from_db()
    assert (old.is_current, list(old.verdicts.filter(source="reviewer"))) == (False, [verdict])
    assert (old.final_label, old.final_source) == ("yes", "reviewer")
    assert is_sound(world.project)


def test_joined_claims_are_one_question(world: World) -> None:
    joined = "The harbour closes in April because its wall is weak"
    join_claims(claims=[claim(world, 2), claim(world, 1)], by=world.rex, text=joined)
    assert texts(world) == [joined, "Ferries move to the southern quay"]
    # Nothing is known of unit 1; unit 2 is covered.
    assert coverage(world) == 1.0
    answer(world, joined, "no")
    assert coverage(world) == 0.5
    # The words stand in the model summary, across what both covered.
    new = claim(world, 1)
    assert world.models["port"].text[new.start : new.end] == joined
    assert is_sound(world.project)


def test_a_deleted_claim_is_asked_of_nobody_and_comes_back_with_its_answers(world: World) -> None:
    override(check=world.check("alder", 2), by=world.rex, label="unsure")
    changed = delete_claim(claim=claim(world, 2), by=world.cleo, reason="Twice said")
    assert coverage(world) == 1.0  # 1/1 and 1
    assert changed.claims == ()
    undo_claim_change(change=changed.change, by=world.rex)
    assert coverage(world) == 0.75  # unsure is not yes
    back = world.check("alder", 2)
    assert (back.human_label, back.final_label, back.is_current) == ("unsure", "unsure", True)
    assert is_sound(world.project)


def test_an_added_claim_stands_last_in_its_unit_and_is_held_against_every_peer(world: World) -> None:
    add_claim(owner=world.models["port"], by=world.rex, text="The wall costs money", unit=1)
    assert texts(world)[2] == "The wall costs money"
    assert coverage(world) == 0.75  # open: it counts for nothing yet
    answer(world, "The wall costs money", "no")
    assert coverage(world) == pytest.approx(2 / 3)  # (1/3 + 1) / 2
    answer(world, "The wall costs money", "yes", "birch")
    assert coverage(world, "birch") == pytest.approx(1 / 6)  # (1/3 + 0) / 2
    assert is_sound(world.project)


def test_undoing_step_by_step_gives_back_everything(world: World) -> None:
    def state() -> list[object]:
        claims = Claim.objects.order_by("position").values_list("public_id", "position", "unit_id")
        checks = Check.objects.filter(is_current=True).order_by("pk").values_list("pk", "final_label")
        scores = Score.objects.order_by("summary_id").values_list("coverage", "claims", "claims_unscored")
        return [*claims, *checks, *scores]

    chance = random.Random(11)
    for _ in range(3):
        before = state()
        done: list[ClaimChange] = []
        for number in range(5):
            claims = claims_of(ClaimSet.objects.get(summary=world.models["port"]))
            one = chance.choice(claims)
            same_unit = [each for each in claims if each.unit_id == one.unit_id]
            way = chance.choice(["reword", "split", "join", "delete", "add"])
            if way == "reword":
                changed = reword_claim(claim=one, by=world.rex, text=f"reworded {number}")
            elif way == "split" or len(claims) == 1:
                words = [f"part {number} {part}" for part in "abc"]
                changed = split_claim(claim=one, by=world.rex, texts=words)
            elif way == "join" and len(same_unit) > 1:
                changed = join_claims(claims=same_unit, by=world.rex, text=f"joined {number}")
            elif way == "delete":
                changed = delete_claim(claim=one, by=world.rex)
            else:
                changed = add_claim(
                    owner=world.models["port"],
                    by=world.rex,
                    text=f"added {number}",
                    unit=chance.choice([1, 2]),
                )
            done.append(changed.change)
            places = [each.position for each in claims_of(one.claim_set)]
            assert places == list(range(1, len(places) + 1))
        for change in reversed(done):
            undo_claim_change(change=change, by=world.cleo)
        assert state() == before
    assert is_sound(world.project)


def test_a_peers_own_claims_are_held_against_its_sources(world: World) -> None:
    peer = world.peers["port", "alder"]
    claim_set = ClaimSet.objects.create(summary=peer, origin="judge", origin_name="lexical")
    own = Claim.objects.create(claim_set=claim_set, position=1, text="It closes in April", origin="judge")
    check = Check.objects.create(
        project=world.project, claim=own, peer=peer, document_set_id=peer.document_set_id, side="peer"
    )
    Verdict.objects.create(check_row=check, source="judge", judge=world.judge, label="yes")
    rescore(project=world.project)
    assert Score.objects.get(summary=peer).alignment == 1.0
    split_claim(claim=own, by=world.rex, texts=["The harbour of Lund closes", "It closes in April."])
    made = Check.objects.filter(claim__claim_set=claim_set, is_current=True).order_by("claim__position")
    assert [(each.side, each.peer_id) for each in made] == [("peer", peer.pk)] * 2
    assert Score.objects.get(summary=peer).alignment is None
    for each, label in zip(made, ("yes", "no"), strict=True):
        override(check=each, by=world.rex, label=label)
    assert Score.objects.get(summary=peer).alignment == 0.5
    # Coverage looks at the model summary alone.
    assert coverage(world) == 0.75


def test_claims_of_the_documents_are_held_against_peers_without_a_model_summary(world: World) -> None:
    lone = DocumentSet.objects.create(project=world.project, external_id="lone")
    document = Document.objects.create(document_set=lone, position=1, text="The mill burned. Nobody died.")
    add_units(document.text, document=document)
    peer = Summary.objects.create(
        document_set=lone, system=world.systems["alder"], is_peer=True, text="The mill burned."
    )
    rescore(project=world.project)
    added: list[Changed] = []
    asked = statements_of(
        lambda: added.append(add_claim(owner=lone, by=world.rex, text="the mill burned", unit=1))
    )
    if connection.features.has_select_for_update:
        # The set before its summaries, as a worker that keeps the claims of a judge: else the two could deadlock.
        locks = [re.findall(r'FROM "annotation_(\w+)"', each)[0] for each in asked if "FOR " in each]
        assert locks.index("documentset") < locks.index("summary")
    [first] = added
    [mill] = first.claims
    assert (mill.start, mill.end, mill.claim_set.origin, mill.claim_set.origin_name) == (
        0,
        15,
        "person",
        "rex",
    )
    second = add_claim(owner=lone, by=world.rex, text="Nobody died")
    for made, label in ((mill, "yes"), (second.claims[0], "no")):
        override(check=Check.objects.get(claim=made, peer=peer), by=world.rex, label=label)
    assert Score.objects.get(summary=peer).coverage == 0.5
    # Once everything that people wrote is taken back, it is as if nobody had looked for claims.
    for change in (second.change, first.change):
        undo_claim_change(change=change, by=world.rex)
    assert not ClaimSet.objects.filter(document_set=lone, is_active=True).exists()
    assert Score.objects.get(summary=peer).coverage is None
    again = add_claim(owner=lone, by=world.rex, text="The mill burned")
    assert again.claims[0].claim_set.version == 2
    assert is_sound(world.project)


# Who was quicker, and what is refused


def test_whoever_comes_too_late_sees_both_versions_and_changes_nothing(world: World) -> None:
    mine = claim(world, 2)
    reword_claim(claim=mine, by=world.cleo, text="The wall is weak")
    with pytest.raises(Conflict) as refusal:
        split_claim(claim=mine, by=world.rex, texts=HALVES)
    assert refusal.value.code == "newer_claims"
    theirs = refusal.value.details["theirs"]
    assert isinstance(theirs, dict)
    assert (theirs["kind"], theirs["by"], [each["text"] for each in theirs["claims"]]) == (
        "reword",
        "cleo",
        ["The wall is weak"],
    )
    assert refusal.value.details["yours"] == {
        "act": "split",
        "claims": [{"id": mine.public_id, "text": "its wall is weak"}],
        "texts": list(HALVES),
    }
    assert ClaimChange.objects.count() == 1


def test_an_answer_to_the_old_words_is_refused_with_both(world: World) -> None:
    check = world.check("alder", 2)
    reword_claim(claim=check.claim, by=world.cleo, text="The wall is weak")
    with pytest.raises(Conflict) as refusal:
        override(check=check, by=world.rex, label="yes")
    assert refusal.value.code == "claim_changed"


def test_only_the_last_change_is_undone_and_only_once(world: World) -> None:
    first = reword_claim(claim=claim(world, 1), by=world.rex, text="The port closes in April").change
    second = delete_claim(claim=claim(world, 3), by=world.cleo).change
    with pytest.raises(Conflict) as refusal:
        undo_claim_change(change=first, by=world.rex)
    assert refusal.value.code == "newer_claims"
    undo_claim_change(change=second, by=world.rex)
    with pytest.raises(Conflict) as refusal:
        undo_claim_change(change=second, by=world.rex)
    assert refusal.value.code == "nothing_to_undo"
    undo_claim_change(change=first, by=world.rex)
    assert texts(world)[0] == "The harbour closes in April"


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
        reword_claim(claim=claim(world, 2), by=world.rex, text=text)
    assert refusal.value.code == code
    assert not ClaimChange.objects.exists()


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
    reword_claim(claim=claim(world, 2), by=world.rex, text=after)
    assert texts(world)[1] == after


# What an adjudicator has decided


def settled(world: World, text: str = "its wall is weak", label: str = "yes") -> Claim:
    """A claim of which two reviewers said yes and no of alder, and cleo settled it."""
    check = Check.objects.get(claim__text=text, peer=world.peers["port", "alder"], is_current=True)
    override(check=check, by=world.rex, label="no")
    add_imported_verdict(check, "yes")
    decide_check(check=check, by=world.cleo, label=label, reason="as it stands there")
    return check.claim


@pytest.mark.parametrize("act", ["reword", "split", "join", "delete"])
def test_a_claim_on_which_a_decision_rests_is_not_changed_by_a_reviewer(world: World, act: str) -> None:
    decided = settled(world)
    acts: dict[str, Callable[[], Changed]] = {
        "reword": lambda: reword_claim(claim=decided, by=world.rex, text="The wall is weak"),
        "split": lambda: split_claim(claim=decided, by=world.rex, texts=HALVES),
        "join": lambda: join_claims(claims=[claim(world, 1), decided], by=world.rex, text="Both"),
        "delete": lambda: delete_claim(claim=decided, by=world.rex),
    }
    with pytest.raises(NotAllowed, match=r"cleo resolved .* only an adjudicator can change it") as refusal:
        acts[act]()
    assert refusal.value.code == "decided"
    assert coverage(world) == 1.0  # (2/2 + 1) / 2
    assert not ClaimChange.objects.exists()


def test_a_change_is_not_undone_by_a_reviewer_once_what_it_made_is_settled(world: World) -> None:
    changed = reword_claim(claim=claim(world, 2), by=world.rex, text="The wall is weak")
    settled(world, "The wall is weak")
    with pytest.raises(NotAllowed) as refusal:
        undo_claim_change(change=changed.change, by=world.rex)
    assert refusal.value.code == "decided"
    undo_claim_change(change=changed.change, by=world.olga)
    assert texts(world)[1] == "its wall is weak"


def test_a_decision_that_was_taken_back_holds_nothing(world: World) -> None:
    decided = settled(world)
    withdraw_decision(decision=Adjudication.objects.get(), by=world.cleo)
    reword_claim(claim=decided, by=world.rex, text="The wall is weak")
    assert texts(world)[1] == "The wall is weak"


def test_who_may_adjudicate_changes_it_and_the_decision_falls(world: World) -> None:
    decided = settled(world)
    reword_claim(claim=decided, by=world.olga, text="The wall is weak")
    act = Event.objects.get(verb="reword claim")
    # Rex's answer and the imported one.
    assert (act.data["answers_fallen"], act.data["decisions_fallen"]) == (2, 1)


def test_an_answer_that_was_changed_or_taken_back_falls_once_or_not_at_all(world: World) -> None:
    check = world.check("alder", 2)
    override(check=check, by=world.rex, label="yes")
    override(check=check, by=world.rex, label="no")
    withdraw_verdict(verdict=override(check=check, by=world.olga, label="yes").verdict, by=world.olga)
    delete_claim(claim=check.claim, by=world.cleo)
    assert Event.objects.get(verb="delete claim").data["answers_fallen"] == 1


def test_claims_of_different_units_are_not_joined(world: World) -> None:
    with pytest.raises(Invalid, match="different"):
        join_claims(claims=[claim(world, 2), claim(world, 3)], by=world.rex, text="Both")
    with pytest.raises(Invalid, match="two claims"):
        join_claims(claims=[claim(world, 2), claim(world, 2)], by=world.rex, text="Both")


@pytest.mark.parametrize("parts", [["One part"], ["a"] * 11, ["The same", "the same."]])
def test_parts_of_a_split_are_several_and_differ(world: World, parts: list[str]) -> None:
    with pytest.raises(Invalid):
        split_claim(claim=claim(world, 2), by=world.rex, texts=parts)


def test_a_claim_of_a_model_summary_names_its_unit(world: World) -> None:
    with pytest.raises(Invalid, match="Enter the claim's unit"):
        add_claim(owner=world.models["port"], by=world.rex, text="It rained")
    with pytest.raises(Invalid, match="no unit 9"):
        add_claim(owner=world.models["port"], by=world.rex, text="It rained", unit=9)


def test_claims_that_stand_in_for_units_stay_once_they_have_percents(world: World) -> None:
    Claim.objects.filter(claim_set__summary=world.models["port"]).update(unit=None)
    sitting = assign(document_set=world.sets["port"], assessor=world.ana, by=None, seed=1)
    opened = sitting.pen = "form"
    sitting.save(update_fields=["pen"])
    # Not judged yet: they may be changed, and the open form is told to load its units anew.
    reword_claim(claim=claim(world, 1), by=world.rex, text="The port closes in April")
    sitting.refresh_from_db()
    assert sitting.pen != opened
    assignment = sitting.assignments.select_related("sitting__document_set__project").earliest("position")
    judge_unit(assignment=assignment, by=world.ana, unit_id=claim(world, 2).public_id, percent=40, marks=[1])
    for act in (
        lambda: delete_claim(claim=claim(world, 1), by=world.rex),
        lambda: add_claim(owner=world.models["port"], by=world.rex, text="It rained"),
        lambda: undo_claim_change(change=ClaimChange.objects.get(), by=world.rex),
    ):
        with pytest.raises(Conflict) as refusal:
            act()
        assert refusal.value.code == "judged"


@pytest.mark.parametrize("name", ["mona", "ana", "vic"])
def test_others_may_not(world: World, name: str) -> None:
    with pytest.raises(NotAllowed):
        reword_claim(claim=claim(world, 1), by=world.users[name], text="It shuts")
    with pytest.raises(NotAllowed):
        add_claim(owner=world.models["port"], by=world.users[name], text="It shuts", unit=1)


def test_an_outsider_learns_nothing(world: World) -> None:
    with pytest.raises(NotFound):
        delete_claim(claim=claim(world, 1), by=world.dan)


def test_whoever_has_open_assessor_work_may_not(world: World) -> None:
    world.ana.memberships.update(roles=["assessor", "reviewer"])
    assign(document_set=world.sets["bridge"], assessor=world.ana, by=None, seed=1)
    with pytest.raises(NotAllowed) as refusal:
        delete_claim(claim=claim(world, 1), by=world.ana)
    assert refusal.value.code == "blind"


# What follows


def test_every_act_is_in_the_log_with_both_wordings(world: World) -> None:
    old = claim(world, 2)
    changed = split_claim(claim=old, by=world.rex, texts=HALVES, reason="Two things")
    undo_claim_change(change=changed.change, by=world.cleo)
    undone, split = Event.objects.filter(target_kind="claim")[:2]
    assert (split.verb, split.actor, split.target_id) == ("split claim", world.rex, old.public_id)
    assert split.data == {
        "change": changed.change.public_id,
        "text": world.models["port"].public_id,
        "before": [{"claim": old.public_id, "text": "its wall is weak"}],
        "after": [{"claim": each.public_id, "text": each.text} for each in changed.claims],
        "answers_fallen": 0,
        "decisions_fallen": 0,
        "reason": "Two things",
    }
    assert (undone.verb, undone.actor, undone.data["after"]) == (
        "undo claim change",
        world.cleo,
        [{"claim": old.public_id, "text": "its wall is weak"}],
    )


def test_a_dispute_on_the_old_words_goes_and_comes_back(world: World) -> None:
    check = world.check("alder", 2)
    override(check=check, by=world.rex, label="yes")
    add_imported_verdict(check, "no")
    assert Dispute.objects.filter(check_row=check, state="open").exists()
    changed = reword_claim(claim=check.claim, by=world.cleo, text="The wall is weak")
    assert not Dispute.objects.filter(check_row=check).exists()
    undo_claim_change(change=changed.change, by=world.cleo)
    assert Dispute.objects.filter(check_row=check, state="open").exists()


def test_older_wordings_go_with_their_words_when_units_are_cut(world: World) -> None:
    Project.objects.filter(pk=world.project.pk).update(deciding_judge=None)
    changed = reword_claim(claim=claim(world, 2), by=world.rex, text="The wall is weak")
    model = world.models["port"]
    join_units(summary=model, by=world.mona, unit_id=world.units("port")[0].public_id)
    undo_claim_change(change=changed.change, by=world.rex)
    assert {each.unit.position for each in Claim.objects.filter(claim_set__summary=model) if each.unit} == {1}
    undo_unit_change(summary=model, by=world.mona)
    assert [each.unit.position for each in claims_of(claim(world, 1).claim_set) if each.unit] == [1, 1, 2]
    assert not Claim.all_claims.filter(unit__retired_by__isnull=False).exists()


# The deciding judge


def test_the_deciding_judge_is_asked_again_over_that_document_set_alone(world: World) -> None:
    changed = reword_claim(claim=claim(world, 2), by=world.rex, text="The harbour of Lund closes in April")
    assert changed.run is not None
    assert (changed.run.metrics, changed.run.started_by) == (["coverage"], world.rex)
    assert [job.document_set for job in changed.run.jobs.all()] == [world.sets["port"]]
    assert Event.objects.filter(verb="start run", actor=world.rex, target_id=changed.run.public_id).exists()
    perform_all(changed.run)
    assert changed.run.state == Run.State.FINISHED
    # The lexical judge finds these words in alder's summary and not in birch's.
    made = Check.objects.filter(claim=changed.claims[0]).order_by("peer__system__name")
    assert [(check.judge_label, check.final_source) for check in made] == [("yes", "judge"), ("no", "judge")]
    assert is_sound(world.project)


def test_a_judge_answers_only_what_is_new(world: World) -> None:
    run_to_end(world.project, world.judge)
    before = Verdict.objects.count()
    changed = split_claim(claim=claim(world, 2), by=world.rex, texts=HALVES)
    assert changed.run is not None
    perform_all(changed.run)
    # Two claims, two peers.
    assert Verdict.objects.count() == before + 4
    said = Verdict.objects.order_by("pk").values_list("check_row__claim__text", flat=True)[before:]
    assert set(said) == set(HALVES)
    assert not Check.objects.filter(is_current=True, judge_label=None).exists()


def test_further_changes_join_the_run_under_way_and_take_the_set_from_its_worker(world: World) -> None:
    first = reword_claim(claim=claim(world, 2), by=world.rex, text="The wall is weak")
    assert first.run is not None
    job = Job.objects.get(run=first.run)
    [working] = jobs.take(run=first.run)
    second = reword_claim(claim=claim(world, 1), by=world.rex, text="The port closes in April")
    assert second.run == first.run
    with transaction.atomic():
        assert jobs.hold([working]) == set()
    job.refresh_from_db()
    assert (job.state, job.attempt) == (Job.State.WAITING, 0)
    perform_all(first.run)
    assert not Check.objects.filter(
        peer__document_set=world.sets["port"], is_current=True, judge_label=None
    ).exists()


def test_an_answer_that_comes_too_late_stays_with_the_old_words(world: World) -> None:
    old = claim(world, 2)
    reword_claim(claim=old, by=world.rex, text="The wall is weak")
    Check.objects.filter(claim=old).delete()
    judged = Judged(world.peers["port", "alder"], {old.pk: Check.Side.REFERENCE})
    judged.answers[old.pk] = Located(Answer("yes", 0.9), [1])
    write([judged], project=world.project, judge=world.judge, signature="lexical|v:1", run=None)
    assert not Check.objects.get(claim=old).is_current
    assert coverage(world) == 1.0
    assert is_sound(world.project)


def test_a_claim_of_a_text_that_no_judge_answered_for_sets_no_judge_to_work(world: World) -> None:
    changed = add_claim(owner=world.models["bridge"], by=world.rex, text="It closes", unit=1)
    assert (changed.run, Run.objects.count()) == (None, 0)
    assert Check.objects.filter(claim__in=changed.claims, is_current=True).count() == 2


def test_without_a_deciding_judge_the_new_checks_stay_unscored(world: World) -> None:
    Project.objects.filter(pk=world.project.pk).update(deciding_judge=None)
    changed = reword_claim(claim=claim(world, 2), by=world.rex, text="The wall is weak")
    assert changed.run is None
    assert set(Check.objects.filter(claim__in=changed.claims).values_list("final_label", flat=True)) == {None}


def test_a_judge_that_takes_a_text_anew_is_not_misled_by_corrected_claims(world: World) -> None:
    run_to_end(world.project, world.judge, ["alignment"])
    own = ClaimSet.objects.get(summary=world.peers["port", "alder"])
    for each in claims_of(own):
        reword_claim(claim=each, by=world.rex, text=f"{each.text} indeed")
    run = Run.objects.latest("pk")
    perform_all(run)
    assert run.state == Run.State.FINISHED
    assert not Check.objects.filter(claim__claim_set=own, is_current=True, judge_label=None).exists()
    assert is_sound(world.project)


# Imports


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


def test_a_list_that_a_file_replaces_is_no_longer_in_force(db: None, tmp_path: Path) -> None:
    project = Project.objects.create(slug="trams", name="Trams")
    import_dataset(project=project, path=jsonl(tmp_path, nested()), by=None)
    Verdict.objects.all().delete()
    claims = [{"claim_text": "It snowed", "verdicts": {"alder": 1, "birch": 0}}]
    import_dataset(project=project, path=jsonl(tmp_path, nested(claims=claims)), by=None)
    current = Check.objects.filter(is_current=True)
    assert set(current.values_list("claim__text", flat=True)) == {"It snowed"}
    assert Check.objects.filter(is_current=False).count() == 4
    assert is_sound(project)


def test_a_check_that_says_otherwise_than_its_claim_is_found_and_put_right(world: World) -> None:
    Check.objects.filter(pk=world.check("alder", 1).pk).update(is_current=False)
    with pytest.raises(CommandError, match="difference"):
        is_sound(world.project)
    rescore(project=world.project)
    assert is_sound(world.project)
