"""Gaps in the guidelines: marked with an answer, open until a newer version is written, told to whoever writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from annotation.adjudicating.services.adjudicate import decide_check, decide_unit, withdraw_decision
from annotation.core.permissions import Verb
from annotation.core.readers import CheckReader
from annotation.models import Membership
from annotation.projects.queries.guideline_gaps import gaps_of, may_see_gaps
from annotation.projects.services.write_guidelines import write_guidelines
from annotation.reviewing.services.review import override, withdraw_verdict

if TYPE_CHECKING:
    from tests.annotation.cast import World


def writer(world: World) -> CheckReader:
    return CheckReader(world.mona, may_see_all=True, must_wait=False)


def mark(world: World, position: int, *, by: str = "rex", reason: str = "") -> None:
    check = world.check("birch", position)
    override(check=check, by=world.users[by], label="unsure", error_type="guideline_gap", reason=reason)


def told(world: World, *, is_settled: bool = False) -> list[tuple[str, str, int, int | None]]:
    found = gaps_of(world.project, writer(world), is_settled=is_settled)
    assert found.count == len(found.newest)
    return [(gap.kind, gap.by, gap.marked_under, gap.settled_by) for gap in found.newest]


def test_marks_of_adjudicators_and_reviewers_are_told_newest_first(world: World) -> None:
    mark(world, 1, reason="Is a month a date?")
    decide_check(
        check=world.check("birch", 2), by=world.cleo, label="no", is_guideline_gap=True, reason="So."
    )
    decide_check(
        check=world.check("birch", 3), by=world.cleo, label="no", error_type="guideline_gap", reason="So."
    )
    found = gaps_of(world.project, writer(world)).newest
    assert [(gap.kind, gap.by) for gap in found] == [("decision", "cleo")] * 2 + [("verdict", "rex")]
    check = world.check("birch", 1)
    assert (found[-1].about, found[-1].reason) == (check.claim.text, "Is a month a date?")
    assert (found[-1].summary_id, found[-1].anchor) == (check.peer.public_id, f"check-{check.public_id}")


def test_a_unit_is_told_by_its_text(world: World) -> None:
    unit = world.units("bridge")[0]
    decide_unit(
        comparison=world.comparison("bridge", "alder"),
        unit=unit,
        by=world.cleo,
        percent=40,
        reason="So.",
        is_guideline_gap=True,
    )
    (gap,) = gaps_of(world.project, writer(world)).newest
    assert gap.about == world.models["bridge"].text[unit.start : unit.end].strip()
    assert gap.anchor == f"unit-{unit.public_id}"


def test_a_newer_version_settles_what_was_marked_before_it(world: World) -> None:
    mark(world, 1)
    write_guidelines(project=world.project, text="One.", by=world.mona)
    mark(world, 2)
    # Marked before there were any: version 1 settles it. Marked under version 1: open while it is in force.
    assert told(world, is_settled=True) == [("verdict", "rex", 0, 1)]
    assert told(world) == [("verdict", "rex", 1, None)]
    write_guidelines(project=world.project, text="Two.", by=world.mona)
    write_guidelines(project=world.project, text="Three.", by=world.mona)
    assert told(world, is_settled=True) == [("verdict", "rex", 1, 2), ("verdict", "rex", 0, 1)]
    assert told(world) == []


def test_what_was_taken_back_or_answered_anew_is_no_gap(world: World) -> None:
    mark(world, 1)
    override(check=world.check("birch", 1), by=world.rex, label="no")
    mark(world, 2)
    last = world.check("birch", 2).verdicts.get(person=world.rex)
    withdraw_verdict(verdict=last, by=world.rex)
    decision = decide_check(
        check=world.check("birch", 3), by=world.cleo, label="no", is_guideline_gap=True, reason="So."
    )
    decide_check(check=world.check("birch", 3), by=world.cleo, label="yes", reason="After all.")
    assert told(world) == []
    withdraw_decision(decision=world.check("birch", 3).adjudications.latest("pk"), by=world.cleo)
    assert [kind for kind, *_ in told(world)] == ["decision"]
    withdraw_decision(decision=decision, by=world.cleo)
    assert told(world) == []


def test_another_projects_gaps_are_not_told(world: World) -> None:
    mark(world, 1)
    assert gaps_of(world.other_project, writer(world)).count == 0


def test_the_newest_are_shown_and_all_are_counted(world: World) -> None:
    for position in (1, 2, 3):
        mark(world, position)
    found = gaps_of(world.project, writer(world), limit=2)
    assert found.count == 3
    assert [gap.about for gap in found.newest] == [world.check("birch", nth).claim.text for nth in (3, 2)]


def test_only_who_writes_guidelines_and_is_not_blind_sees_them(world: World) -> None:
    assert may_see_gaps({Verb.CHANGE_PROJECT, Verb.VIEW_SCORES})
    # Blind, a manager keeps the first of these and loses the second.
    assert not may_see_gaps({Verb.CHANGE_PROJECT})
    assert not may_see_gaps({Verb.VIEW_SCORES, Verb.REVIEW})


def test_a_manager_who_reviews_is_told_of_claims_that_they_know(world: World) -> None:
    Membership.objects.filter(user=world.mona).update(roles=["manager", "reviewer"])
    mark(world, 1)
    mark(world, 2)
    reader = CheckReader(world.mona, may_see_all=True, must_wait=True)
    assert gaps_of(world.project, reader).count == 0
    override(check=world.check("birch", 2), by=world.mona, label="no")
    (gap,) = gaps_of(world.project, reader).newest
    assert gap.about == world.check("birch", 2).claim.text
