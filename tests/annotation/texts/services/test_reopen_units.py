"""The owner opens judged units again: what that undoes, what it keeps, and that the number must be named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.adjudicating.services.adjudicate import decide_unit
from annotation.assessing.services.assign import assign
from annotation.assessing.services.close_sitting import close_sitting
from annotation.assessing.services.save_acts import judge_unit
from annotation.core.permissions import is_blind
from annotation.core.refusals import Conflict, NotAllowed
from annotation.core.tables.pseudonyms import People
from annotation.exports.judgments.level import rows as exported
from annotation.models import (
    Adjudication,
    Assignment,
    Event,
    Project,
    PublishedPercent,
    PublishedScore,
    Score,
    Sitting,
    Summary,
    SummaryJudgment,
    UnitChange,
    UnitJudgment,
    Verdict,
)
from annotation.texts.queries.unit_locks import dropped_by_reopening, judged_texts
from annotation.texts.queries.unit_texts import current_units
from annotation.texts.services.change_units import join_units
from annotation.texts.services.reopen_units import reopen_units
from annotation.texts.words import dropped_in_words
from tests.annotation.cast import answer_rest, finish

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from tests.annotation.cast import World


def judged(world: World, person: User, *percents: int, close: bool = True) -> Sitting:
    """That person's sitting on "bridge": these percents for the two units of alder's, then of birch's summary.

    What is above 0 is marked by the first peer unit.
    """
    sitting = assign(document_set=world.sets["bridge"], assessor=person, by=None, seed=1)
    wanted = iter(percents)
    for name in ("alder", "birch"):
        assignment = sitting.assignments.select_related(
            "comparison__peer", "comparison__model", "sitting__document_set__project"
        ).get(comparison__peer__system__name=name)
        for unit in world.units("bridge"):
            percent = next(wanted)
            judge_unit(
                assignment=assignment,
                by=person,
                unit_id=unit.public_id,
                percent=percent,
                marks=[1] if percent else [],
            )
    return finish(sitting) if close else sitting


def reopen(world: World, summary: Summary, expected: int) -> None:
    reopen_units(summary=summary, by=world.olga, expected=expected)


def coverage(world: World, system: str) -> float | None:
    return Score.objects.get(summary=world.peers["bridge", system]).coverage


def test_the_consequence_is_told_with_names_and_numbers(world: World) -> None:
    judged(world, world.ana, 40, 60, 0, 0)
    judged(world, world.ben, 80, 100, 0, 20, close=False)
    dropped = dropped_by_reopening(world.models["bridge"])
    # Four percents of each; Ana's two answers on unmarked units, since she has closed the set.
    assert (len(dropped.judgments), len(dropped.answers), dropped.number) == (8, 2, 10)
    assert (dropped.assessors, dropped.reopened) == (("ana", "ben"), ("ana",))
    assert dropped_in_words(dropped) == (
        "8 judgments and 2 answers about unmarked units of 2 assessors on this summary will no longer count. "
        "They stay in the log and, as superseded, in exports. Sets are reopened for: ana. Their judgments in "
        "these sets do not count until they close them again, and they may have seen other people's "
        "judgments by now."
    )


def test_a_model_summary_loses_its_judgments_and_keeps_their_rows(world: World) -> None:
    judged(world, world.ana, 40, 60, 0, 0)
    assert coverage(world, "alder") == pytest.approx(0.5)
    reopen(world, world.models["bridge"], 6)
    assert UnitJudgment.objects.count() == 4
    assert not UnitJudgment.objects.filter(is_current=True).exists()
    assert coverage(world, "alder") is None
    assert judged_texts([world.models["bridge"].pk]) == set()
    join_units(
        summary=world.models["bridge"],
        by=world.mona,
        unit_id=current_units(world.models["bridge"])[0].public_id,
    )
    assert UnitJudgment.objects.filter(unit__retired_by__isnull=False).count() == 4


def test_a_closed_set_is_opened_again_as_a_whole_and_can_be_closed_anew(world: World) -> None:
    sitting = judged(world, world.ana, 40, 60, 0, 0)
    assert not is_blind(world.ana, world.project)
    reopen(world, world.models["bridge"], 6)
    sitting.refresh_from_db()
    assert (sitting.is_open, sitting.reopened_at is not None) == (True, True)
    assert set(sitting.assignments.values_list("state", flat=True)) == {Assignment.State.DRAFT}
    assert is_blind(world.ana, world.project)
    for assignment in sitting.assignments.all():
        for unit in world.units("bridge"):
            judge_unit(assignment=assignment, by=world.ana, unit_id=unit.public_id, percent=100, marks=[1, 2])
    close_sitting(sitting=sitting, by=world.ana)
    assert coverage(world, "alder") == pytest.approx(1)


def test_a_pulled_set_stays_with_its_assessor(world: World) -> None:
    sitting = judged(world, world.ana, 40, 60, 0, 0)
    reopen(world, world.models["bridge"], 6)
    sitting.refresh_from_db()
    assert (sitting.is_open, sitting.lease_until) == (True, None)


def test_quality_answers_are_kept_and_the_unmarked_answer_is_asked_anew(world: World) -> None:
    Project.objects.filter(pk=world.project.pk).update(
        question_set="own", own_questions=[{"id": "clear", "text": "Is it clear?", "answers": ["no", "yes"]}]
    )
    world.sets["bridge"].project.refresh_from_db()
    sitting = assign(document_set=world.sets["bridge"], assessor=world.ana, by=None, seed=1)
    answer_rest(sitting)
    for assignment in sitting.assignments.all():
        for unit in world.units("bridge"):
            judge_unit(assignment=assignment, by=world.ana, unit_id=unit.public_id, percent=20, marks=[2])
    finish(sitting)
    reopen(world, world.models["bridge"], 6)
    said = SummaryJudgment.objects.filter(sitting=sitting, is_current=True)
    assert [(row.quality_answers, row.unmarked_percent) for row in said] == [({"clear": 0}, None)] * 2


def test_a_peer_loses_what_names_its_numbers_and_nothing_else(world: World) -> None:
    sitting = judged(world, world.ana, 40, 0, 60, 0)
    alder = world.peers["bridge", "alder"]
    dropped = dropped_by_reopening(alder)
    assert (len(dropped.judgments), len(dropped.answers)) == (1, 1)
    reopen(world, alder, 2)
    kept = UnitJudgment.objects.filter(is_current=True).order_by("pk")
    assert [(row.percent, row.marks) for row in kept] == [(0, []), (60, [1]), (0, [])]
    unmarked = SummaryJudgment.objects.filter(sitting=sitting, is_current=True).order_by("peer_id")
    assert [row.unmarked_percent for row in unmarked] == [None, 0]
    join_units(summary=alder, by=world.mona, unit_id=current_units(alder)[0].public_id)
    with pytest.raises(Conflict):
        join_units(
            summary=world.peers["bridge", "birch"],
            by=world.mona,
            unit_id=current_units(world.peers["bridge", "birch"])[0].public_id,
        )


def test_answers_to_checks_stand(world: World) -> None:
    alder, before = world.peers["port", "alder"], Score.objects.get(summary=world.peers["port", "alder"])
    assert dropped_in_words(dropped_by_reopening(alder)) == (
        "No judgments are lost. 2 answers to checks point to units of this summary. They still count, and "
        "their evidence moves with the words."
    )
    reopen(world, alder, 0)
    join_units(summary=alder, by=world.mona, unit_id=current_units(alder)[0].public_id)
    after = Score.objects.get(summary=alder)
    assert (after.coverage, after.claims_unscored) == (before.coverage, before.claims_unscored)
    # New evidence, about the new units, locks them again.
    verdict = Verdict.objects.filter(check_row__peer=alder).latest("pk")
    verdict.pk, verdict.public_id, verdict.evidence = None, "a" * 16, [1]
    verdict.save()
    assert judged_texts([alder.pk]) == {alder.pk}


def test_an_adjudicated_percent_is_withdrawn(world: World) -> None:
    decision = decide_unit(
        comparison=world.comparison("bridge", "alder"),
        unit=world.units("bridge")[0],
        by=world.cleo,
        percent=40,
        reason="So.",
    )
    reopen(world, world.models["bridge"], 1)
    assert Adjudication.objects.get(pk=decision.pk).withdrawn_at is not None
    assert coverage(world, "alder") is None


def test_another_number_than_the_one_shown_changes_nothing(world: World) -> None:
    judged(world, world.ana, 40, 60, 0, 0, close=False)
    with pytest.raises(Conflict) as refused:
        reopen(world, world.models["bridge"], 3)
    assert refused.value.code == "newer_judgments"
    assert refused.value.details == {"yours": 3, "theirs": 4}
    assert UnitJudgment.objects.filter(is_current=True).count() == 4


def test_where_nothing_is_judged_nothing_happens(world: World) -> None:
    reopen(world, world.models["bridge"], 0)
    judged(world, world.ana, 40, 60, 0, 0, close=False)
    reopen(world, world.models["bridge"], 4)
    reopen(world, world.models["bridge"], 4)
    assert UnitChange.objects.count() == 1


@pytest.mark.parametrize("name", ["mona", "cleo", "ana", "rex", "vic"])
def test_only_an_owner_may(world: World, name: str) -> None:
    with pytest.raises(NotAllowed):
        reopen_units(summary=world.models["bridge"], by=getattr(world, name), expected=0)


def test_a_blind_owner_may_not_since_the_numbers_tell(world: World) -> None:
    world.ana.memberships.update(roles=["owner", "assessor"])
    assign(document_set=world.sets["port"], assessor=world.ana, by=None, seed=1)
    with pytest.raises(NotAllowed) as refused:
        reopen_units(summary=world.models["bridge"], by=world.ana, expected=0)
    assert refused.value.code == "blind"


def test_what_a_published_table_says_holds_for_good(world: World) -> None:
    line = PublishedScore.objects.create(
        project=world.project, table="2001", origin_name="t", line=1, cells=[], set_name="b", system="alder"
    )
    PublishedPercent.objects.create(
        score=line,
        comparison=world.comparison("bridge", "alder"),
        unit=world.units("bridge")[0],
        percent=75,
        marks=[1],
    )
    for summary in (world.models["bridge"], world.peers["bridge", "alder"]):
        assert judged_texts([summary.pk]) == {summary.pk}
        with pytest.raises(Conflict) as refused:
            reopen(world, summary, 0)
        assert refused.value.code == "published"


def test_it_is_logged_with_the_sets_that_were_opened(world: World) -> None:
    sitting = judged(world, world.ana, 40, 60, 0, 0)
    reopen(world, world.models["bridge"], 6)
    told = {event.verb: event for event in Event.objects.filter(actor=world.olga)}
    assert told["reopen units"].target_id == world.models["bridge"].public_id
    assert told["reopen units"].data["judgments"] == 4
    assert told["reopen sitting"].target_id == sitting.public_id


def test_the_export_keeps_what_was_submitted_as_superseded(world: World) -> None:
    judged(world, world.ana, 40, 60, 0, 0)
    reopen(world, world.models["bridge"], 6)
    judged_before = [
        row for row in exported(world.project, People(project=world.project, named=True)) if row[4] == "unit"
    ]
    ours = [(row[10], row[15]) for row in judged_before if row[8] == "ana"]
    assert sorted(ours) == [("0", True), ("0", True), ("40", True), ("60", True)]
