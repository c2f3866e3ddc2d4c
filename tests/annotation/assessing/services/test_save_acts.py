"""The SEE form's acts: each once and in order, what is refused, what is open when."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.assessing.services.act_saving import Saved
from annotation.assessing.services.acts import Act, QualityAct, UnitAct, UnmarkedAct
from annotation.assessing.services.assign import assign
from annotation.assessing.services.close_assignment import close_assignment
from annotation.assessing.services.save_acts import judge_unit, save_acts, save_at_once
from annotation.core.refusals import Conflict, Invalid, NotAllowed, NotFound, Refusal
from annotation.models import (
    Assignment,
    Claim,
    ClaimSet,
    Comparison,
    Project,
    Reading,
    Summary,
    SummaryJudgment,
    UnitJudgment,
    Verdict,
)
from annotation.texts.services.change_units import join_units
from tests.annotation.cast import World, add_units, finish
from tests.annotation.laying import assign_part

OWN = [{"id": name, "text": f"Is it {name}?", "answers": ["no", "yes"]} for name in ("clear", "new")]


def sit(world: World, systems: tuple[str, ...] = ("alder",), name: str = "ana") -> Assignment:
    return assign_part(world, "port", getattr(world, name), *systems)


def reload(assignment: Assignment) -> Assignment:
    """The assignment as a door reads it anew for each request."""
    return Assignment.objects.select_related("document_set__project").get(pk=assignment.pk)


def reading_of(assignment: Assignment, place: int = 1) -> str:
    return assignment.readings.order_by("position")[place - 1].public_id


def on_unit(
    world: World,
    assignment: Assignment,
    seq: int = 1,
    unit: int = 1,
    percent: int | None = 20,
    marks: tuple[int, ...] = (1,),
) -> UnitAct:
    return UnitAct(seq, reading_of(assignment), world.units("port")[unit - 1].public_id, percent, marks)


def send(world: World, assignment: Assignment, *acts: Act, client: str = "tab") -> Saved:
    return save_acts(assignment=reload(assignment), by=world.ana, client_id=client, acts=acts)


def said(saved: Saved) -> list[tuple[int, str, str]]:
    return [(result.seq, result.status, result.code) for result in saved.results]


def refusal(world: World, assignment: Assignment, *acts: Act, client: str = "tab") -> Conflict:
    with pytest.raises(Conflict) as refused:
        send(world, assignment, *acts, client=client)
    return refused.value


def percents() -> list[tuple[int | None, bool]]:
    return [(row.percent, row.is_current) for row in UnitJudgment.objects.order_by("pk")]


# Each act once, and in order


def test_an_act_is_saved_with_all_that_was_said(world: World) -> None:
    assignment = sit(world)
    act = UnitAct(1, reading_of(assignment), world.units("port")[0].public_id, 60, [2, 1, 2], " half ", 4200)
    saved = send(world, assignment, act)
    row = UnitJudgment.objects.get()
    assert (row.percent, row.marks, row.note, row.active_ms) == (60, [1, 2], "half", 4200)
    assert (row.client_id, row.seq, row.is_current) == ("tab", 1, True)
    assert (said(saved), saved.heard) == ([(1, "saved", "")], 1)
    assignment.refresh_from_db()
    assert (assignment.pen, assignment.pen_seq) == ("tab", 1)
    assert assignment.worked_at is not None


def test_the_same_acts_again_are_heard_and_saved_once(world: World) -> None:
    assignment = sit(world)
    acts = [on_unit(world, assignment, 1), on_unit(world, assignment, 2, unit=2)]
    first = send(world, assignment, *acts)
    again = send(world, assignment, *acts)
    assert said(again) == [(1, "repeated", ""), (2, "repeated", "")]
    assert (again.heard, again.gates) == (first.heard, first.gates)
    assert UnitJudgment.objects.count() == 2


def test_a_number_that_comes_again_with_something_else_is_shown_with_both(world: World) -> None:
    assignment = sit(world)
    send(world, assignment, on_unit(world, assignment, 1, percent=60))
    with pytest.raises(Conflict) as met:
        send(
            world,
            assignment,
            on_unit(world, assignment, 1, percent=80),
            on_unit(world, assignment, 2, unit=2),
        )
    assert met.value.code == "elsewhere"
    theirs, yours = met.value.details["theirs"], met.value.details["yours"]
    assert ([act["percent"] for act in theirs], [act["percent"] for act in yours]) == ([60], [80])  # type: ignore[attr-defined]
    assert list(UnitJudgment.objects.values_list("seq", "percent")) == [(1, 60)]


def test_a_number_that_was_refused_may_come_again(world: World) -> None:
    assignment = sit(world)
    assert said(send(world, assignment, on_unit(world, assignment, 1, percent=30)))[0][1] == "refused"
    assert said(send(world, assignment, on_unit(world, assignment, 1, percent=30))) == [(1, "repeated", "")]


def test_several_acts_on_one_unit_in_a_batch_are_rows_of_which_the_last_stands(world: World) -> None:
    assignment = sit(world)
    send(
        world,
        assignment,
        *(on_unit(world, assignment, seq, percent=percent) for seq, percent in enumerate((0, 20, 60), 1)),
    )
    assert percents() == [(0, False), (20, False), (60, True)]


def test_a_gap_is_answered_with_both_versions_and_nothing_saved(world: World) -> None:
    assignment = sit(world)
    send(world, assignment, on_unit(world, assignment, 1))
    late = [on_unit(world, assignment, 3, percent=80), on_unit(world, assignment, 4, unit=2, percent=100)]
    gap = refusal(world, assignment, *late)
    assert (gap.code, gap.details["expected"]) == ("gap", 2)
    assert gap.details["yours"] == [act.as_json() for act in late]
    theirs = gap.details["theirs"]
    assert isinstance(theirs, list)
    assert [(each["percent"], each["marks"]) for each in theirs] == [(20, [1]), (None, [])]
    assert percents() == [(20, True)]
    # What was missing arrives, and everything after it.
    assert send(world, assignment, on_unit(world, assignment, 2, percent=40), *late).heard == 4


def test_another_form_is_told_and_shown_both_versions(world: World) -> None:
    assignment = sit(world)
    send(world, assignment, on_unit(world, assignment, 1, percent=20), client="phone")
    elsewhere = refusal(world, assignment, on_unit(world, assignment, 1, percent=80), client="desk")
    assert (elsewhere.code, elsewhere.details["pen"]) == ("elsewhere", "phone")
    theirs, yours = elsewhere.details["theirs"], elsewhere.details["yours"]
    assert isinstance(theirs, list)
    assert isinstance(yours, list)
    assert (theirs[0]["percent"], yours[0]["percent"]) == (20, 80)
    assert percents() == [(20, True)]


def test_a_form_whose_units_are_gone_is_told_so(world: World) -> None:
    assignment = sit(world)
    send(world, assignment, on_unit(world, assignment, 1))
    Assignment.objects.update(pen="units-0123", pen_seq=0)
    elsewhere = refusal(world, assignment, on_unit(world, assignment, 2))
    assert elsewhere.code == "elsewhere"
    assert "joined or split" in elsewhere.message


def test_a_form_without_the_pen_hears_that_what_it_sent_before_was_saved(world: World) -> None:
    assignment = sit(world)
    act = on_unit(world, assignment, 1)
    send(world, assignment, act, client="desk")
    Assignment.objects.update(pen="phone", pen_seq=0)
    assert said(send(world, assignment, act, client="desk")) == [(1, "repeated", "")]
    assert refusal(world, assignment, act, on_unit(world, assignment, 2), client="desk").code == "elsewhere"


def test_answers_are_among_both_versions(world: World) -> None:
    Project.objects.update(question_set="own", own_questions=OWN)
    assignment = sit(world)
    send(world, assignment, QualityAct(1, reading_of(assignment), "clear", 1), client="phone")
    mine = [QualityAct(1, reading_of(assignment), "clear", 0), UnmarkedAct(2, reading_of(assignment), 20)]
    theirs = refusal(world, assignment, *mine, client="desk").details["theirs"]
    assert isinstance(theirs, list)
    assert [(each["kind"], each.get("answer"), each.get("percent")) for each in theirs] == [
        ("quality", 1, None),
        ("unmarked", None, None),
    ]


# What is refused


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"percent": 30}, "invalid"),
        ({"percent": 120}, "invalid"),
        ({"percent": -20}, "invalid"),
        ({"percent": 10**30}, "invalid"),
        ({"marks": (3,)}, "invalid"),
        ({"marks": (0,)}, "invalid"),
    ],
)
def test_an_act_without_sense_is_refused_by_itself_and_does_not_hold_up_the_rest(
    world: World, wrong: dict[str, object], code: str
) -> None:
    assignment = sit(world)
    bad = on_unit(world, assignment, 1, **wrong)  # type: ignore[arg-type]
    saved = send(world, assignment, bad, on_unit(world, assignment, 2, unit=2))
    assert said(saved) == [(1, "refused", code), (2, "saved", "")]
    assert saved.heard == 2
    assert send(world, assignment, bad, on_unit(world, assignment, 2, unit=2)).results[0].status == "repeated"
    assert UnitJudgment.objects.count() == 1


@pytest.mark.parametrize("note", ["x" * 4001, "zero \0", "half \ud83d"])
def test_a_note_that_no_database_takes_is_refused(world: World, note: str) -> None:
    assignment = sit(world)
    act = UnitAct(1, reading_of(assignment), world.units("port")[0].public_id, 20, (1,), note)
    assert said(send(world, assignment, act)) == [(1, "refused", "invalid")]


@pytest.mark.parametrize(
    ("scale", "taken", "refused"), [("six", 40, 45), ("fives", 45, 47), ("free", 47, 101)]
)
def test_percents_lie_on_the_projects_scale(world: World, scale: str, taken: int, refused: int) -> None:
    Project.objects.update(percent_scale=scale)
    assignment = sit(world)
    acts = [on_unit(world, assignment, 1, percent=taken), on_unit(world, assignment, 2, percent=refused)]
    assert [status for _, status, _ in said(send(world, assignment, *acts))] == ["saved", "refused"]


def test_units_of_other_texts_and_summaries_of_other_sets_are_not_found(world: World) -> None:
    assignment = sit(world)
    other = assign(document_set=world.sets["bridge"], assessor=world.ana, by=world.mona)
    acts = [
        UnitAct(1, reading_of(assignment), world.units("bridge")[0].public_id, 20),
        UnitAct(2, reading_of(other), world.units("bridge")[0].public_id, 20),
        UnitAct(3, reading_of(assignment), "nosuchunit", 20),
    ]
    assert {code for _, _, code in said(send(world, assignment, *acts))} == {"not_found"}


def test_claims_stand_in_for_units_where_they_are_not_linked(world: World) -> None:
    claims = ClaimSet.objects.create(summary=world.models["bridge"], origin="import", origin_name="file")
    claim = Claim.objects.create(claim_set=claims, position=1, text="It closes", origin="import")
    assignment = assign(document_set=world.sets["bridge"], assessor=world.ana, by=world.mona)
    saved = send(world, assignment, UnitAct(1, reading_of(assignment), claim.public_id, 40))
    assert said(saved) == [(1, "saved", "")]
    assert (saved.judged, saved.total) == (1, 2)
    assert saved.slips == {claim.public_id: "Model unit 1 has 40 % but no peer unit is marked for it."}
    unit = UnitAct(2, reading_of(assignment), world.units("bridge")[0].public_id, 40)
    assert said(send(world, assignment, unit)) == [(2, "refused", "not_found")]


def test_a_closed_set_takes_nothing_and_repeats_are_still_heard(world: World) -> None:
    assignment = sit(world)
    acts = [on_unit(world, assignment, 1), on_unit(world, assignment, 2, unit=2)]
    send(world, assignment, *acts)
    Assignment.objects.update(pen="tab", pen_seq=2, closed_at=timezone.now())
    assert refusal(world, assignment, on_unit(world, assignment, 3)).code == "closed"
    assert said(send(world, assignment, *acts))[1] == (2, "repeated", "")


def test_that_a_set_is_over_is_told_before_who_has_its_pen(world: World) -> None:
    assignment = sit(world)
    send(world, assignment, on_unit(world, assignment, 1, percent=40), client="desk")
    Assignment.objects.update(unassigned_at=timezone.now())
    lapsed = refusal(world, assignment, on_unit(world, assignment, 1, percent=80), client="phone")
    assert lapsed.code == "unassigned"
    assert "pen" not in lapsed.details
    theirs, yours = lapsed.details["theirs"], lapsed.details["yours"]
    assert [side[0]["percent"] for side in (theirs, yours)] == [40, 80]  # type: ignore[index]
    Assignment.objects.update(unassigned_at=None, closed_at=timezone.now())
    assert refusal(world, assignment, on_unit(world, assignment, 1), client="phone").code == "closed"


def test_a_set_that_is_unassigned_between_reading_and_saving_takes_nothing(world: World) -> None:
    assignment = sit(world)
    seen = reload(assignment)
    Assignment.objects.update(unassigned_at=timezone.now())
    with pytest.raises(Conflict) as refused:
        save_acts(assignment=seen, by=world.ana, client_id="tab", acts=[on_unit(world, assignment, 1)])
    assert refused.value.code == "unassigned"


def test_somebody_elses_assignment_is_not_there_and_without_the_role_nothing_is_saved(world: World) -> None:
    assignment = sit(world)
    with pytest.raises(NotFound):
        save_acts(
            assignment=reload(assignment), by=world.ben, client_id="tab", acts=[on_unit(world, assignment)]
        )
    world.ana.memberships.update(roles=["reviewer"])
    with pytest.raises(NotAllowed):
        send(world, assignment, on_unit(world, assignment))


# Quality, units, unmarked


@pytest.fixture
def asked(world: World) -> Assignment:
    """An assignment on one peer in a project with two quality questions."""
    Project.objects.update(question_set="own", own_questions=OWN)
    return sit(world)


def test_units_are_shut_until_every_quality_question_is_answered(world: World, asked: Assignment) -> None:
    here = reading_of(asked)
    early = send(world, asked, on_unit(world, asked, 1))
    assert said(early) == [(1, "refused", "quality_first")]
    assert (early.gates[here].quality, early.gates[here].units, early.gates[here].unmarked) == (
        "open",
        "shut",
        "shut",
    )
    # Not even the number of the model units is told.
    assert (early.judged, early.total) == (0, 0)
    assert early.slips == {}
    half = send(world, asked, QualityAct(2, here, "clear", 1), on_unit(world, asked, 3))
    assert said(half) == [(2, "saved", ""), (3, "refused", "quality_first")]
    whole = send(world, asked, QualityAct(4, here, "new", 0), on_unit(world, asked, 5))
    assert said(whole) == [(4, "saved", ""), (5, "saved", "")]
    assert (whole.gates[here].quality, whole.gates[here].units) == ("done", "open")
    assert (whole.judged, whole.total) == (1, 2)


def test_each_answer_is_a_row_with_everything_said_so_far(world: World, asked: Assignment) -> None:
    here = reading_of(asked)
    send(world, asked, QualityAct(1, here, "clear", 1, 900), QualityAct(2, here, "new", 0, 800))
    send(world, asked, QualityAct(3, here, "clear", 0))
    rows = SummaryJudgment.objects.order_by("pk").values_list(
        "quality_answers", "is_current", "seq", "active_ms"
    )
    assert list(rows) == [
        ({"clear": 1}, False, 1, 900),
        ({"clear": 1, "new": 0}, False, 2, 800),
        ({"clear": 0, "new": 0}, True, 3, 0),
    ]


@pytest.mark.parametrize(
    ("question", "answer", "code"),
    [("clear", 2, "invalid"), ("clear", -1, "invalid"), ("grammar", 1, "not_found")],
)
def test_answers_without_sense_are_refused(
    world: World, asked: Assignment, question: str, answer: int, code: str
) -> None:
    assert said(send(world, asked, QualityAct(1, reading_of(asked), question, answer))) == [
        (1, "refused", code)
    ]


def test_an_answer_is_taken_back_before_the_model_was_shown_and_only_changed_after(
    world: World, asked: Assignment
) -> None:
    here = reading_of(asked)
    send(world, asked, QualityAct(1, here, "clear", 1), QualityAct(2, here, "clear", None))
    assert SummaryJudgment.objects.get(is_current=True).quality_answers == {}
    send(world, asked, QualityAct(3, here, "clear", 1), QualityAct(4, here, "new", 1))
    late = send(world, asked, QualityAct(5, here, "new", None), QualityAct(6, here, "new", 0))
    assert said(late) == [(5, "refused", "quality_answered"), (6, "saved", "")]


@pytest.mark.parametrize(("target", "is_asked"), [(10, False), (11, True), (None, True), (5, False)])
def test_headlines_are_not_asked_about(world: World, target: int | None, is_asked: bool) -> None:
    Project.objects.update(question_set="duc2002")
    Summary.objects.filter(is_peer=True).update(target_words=target)
    assignment = sit(world)
    assert (said(send(world, assignment, on_unit(world, assignment)))[0][2] == "quality_first") is is_asked


def test_an_empty_peer_is_not_asked_about_and_nothing_of_it_is_unmarked(world: World) -> None:
    Project.objects.update(question_set="duc2002")
    world.peers["port", "alder"].units.all().delete()
    assignment = sit(world)
    acts = [on_unit(world, assignment, unit, unit, percent=0, marks=()) for unit in (1, 2)]
    saved = send(world, assignment, *acts)
    assert saved.gates[reading_of(assignment)].unmarked == "rule"
    assert saved.is_complete
    assert close_assignment(assignment=reload(assignment), by=world.ana).closed_at


def test_the_unmarked_question_opens_when_every_unit_has_a_percent(world: World) -> None:
    assignment = sit(world)
    here = reading_of(assignment)
    early = send(world, assignment, on_unit(world, assignment, 1), UnmarkedAct(2, here, 40))
    assert said(early)[1] == (2, "refused", "units_first")
    assert early.gates[here].unmarked == "shut"
    ready = send(world, assignment, on_unit(world, assignment, 3, unit=2))
    assert (ready.gates[here].unmarked, ready.is_complete) == ("open", False)
    done = send(world, assignment, UnmarkedAct(4, here, 40))
    assert (done.gates[here].unmarked, done.is_complete) == ("done", True)
    assert SummaryJudgment.objects.get().unmarked_percent == 40


@pytest.mark.parametrize("percent", [10, 50, 101, -20])
def test_the_unmarked_percent_has_six_steps_whatever_the_scale(world: World, percent: int) -> None:
    Project.objects.update(percent_scale="free")
    assignment = sit(world)
    send(world, assignment, on_unit(world, assignment, 1), on_unit(world, assignment, 2, unit=2))
    saved = send(world, assignment, UnmarkedAct(3, reading_of(assignment), percent))
    assert said(saved) == [(3, "refused", "invalid")]


def test_nothing_unmarked_is_0_by_rule_and_a_later_act_opens_the_question_again(world: World) -> None:
    assignment = sit(world)
    here = reading_of(assignment)
    saved = send(
        world, assignment, on_unit(world, assignment, 1), on_unit(world, assignment, 2, unit=2, marks=(2,))
    )
    assert (saved.gates[here].unmarked, saved.is_complete) == ("rule", True)
    assert said(send(world, assignment, UnmarkedAct(3, here, 20))) == [(3, "refused", "none_unmarked")]
    saved = send(world, assignment, on_unit(world, assignment, 4, unit=2, marks=()))
    assert (saved.gates[here].unmarked, saved.is_complete) == ("open", False)


def test_what_looks_like_a_slip_is_said_and_blocks_nothing(world: World) -> None:
    assignment = sit(world)
    one, two = (unit.public_id for unit in world.units("port"))
    acts = [on_unit(world, assignment, 1, marks=()), on_unit(world, assignment, 2, unit=2, percent=0)]
    saved = send(world, assignment, *acts)
    assert saved.slips == {
        one: "Model unit 1 has 20 % but no peer unit is marked for it.",
        two: "Model unit 2 has marked peer units but 0 %.",
    }
    assert send(world, assignment, on_unit(world, assignment, 3)).slips == {one: ""}


# Several model summaries


@pytest.fixture
def twofold(world: World) -> Assignment:
    """One peer of "port" compared with two model summaries; the second has one unit."""
    model = Summary.objects.create(
        document_set=world.sets["port"], is_model=True, external_id="second", text="Ferries move."
    )
    add_units(model.text, summary=model)
    world.models["second"] = model
    assignment = sit(world)
    comparison = Comparison.objects.create(peer=world.peers["port", "alder"], model=model)
    Reading.objects.create(assignment=assignment, comparison=comparison, position=2)
    return assignment


def on_second(world: World, assignment: Assignment, seq: int, marks: tuple[int, ...] = ()) -> UnitAct:
    return UnitAct(seq, reading_of(assignment, 2), world.units("second")[0].public_id, 20, marks)


def test_the_unmarked_question_comes_once_at_the_peers_last_comparison(
    world: World, twofold: Assignment
) -> None:
    first, last = reading_of(twofold), reading_of(twofold, 2)
    saved = send(world, twofold, on_unit(world, twofold, 1), on_unit(world, twofold, 2, unit=2))
    assert (saved.gates[first].stage, saved.gates[first].unmarked) == ("done", "none")
    assert (saved.gates[last].stage, saved.gates[last].unmarked) == ("units", "shut")
    saved = send(world, twofold, on_second(world, twofold, 3))
    assert saved.gates[last].unmarked == "open"
    # Named by either comparison, the answer is one for the peer.
    saved = send(world, twofold, UnmarkedAct(4, first, 60))
    assert saved.is_complete
    assert SummaryJudgment.objects.count() == 1


def test_marks_of_all_comparisons_of_a_peer_count_together(world: World, twofold: Assignment) -> None:
    acts = [
        on_unit(world, twofold, 1),
        on_unit(world, twofold, 2, unit=2),
        on_second(world, twofold, 3, (2,)),
    ]
    assert send(world, twofold, *acts).gates[reading_of(twofold, 2)].unmarked == "rule"


# The pen, the lease, forms that number nothing


def test_a_save_renews_the_lease_of_a_pulled_set_only(world: World) -> None:
    assignment = sit(world)
    send(world, assignment, on_unit(world, assignment, 1))
    assert reload(assignment).lease_until is None
    past = timezone.now() - timedelta(minutes=1)
    Assignment.objects.update(lease_until=past)
    Project.objects.update(lease_minutes=45)
    send(world, assignment, on_unit(world, assignment, 2))
    left = reload(assignment).lease_until
    assert left is not None
    assert timedelta(minutes=44) < left - timezone.now() <= timedelta(minutes=45)


def test_a_form_without_numbers_saves_and_takes_the_pen(world: World) -> None:
    assignment = sit(world)
    send(world, assignment, on_unit(world, assignment, 1))
    saved = save_at_once(
        assignment=reload(assignment), by=world.ana, acts=[on_unit(world, assignment, 1, percent=80)]
    )
    assert said(saved) == [(1, "saved", "")]
    assert percents() == [(20, False), (80, True)]
    assert refusal(world, assignment, on_unit(world, assignment, 2)).code == "elsewhere"


def test_a_form_without_numbers_saves_all_or_nothing(world: World) -> None:
    assignment = sit(world)
    acts = [on_unit(world, assignment, 1), on_unit(world, assignment, 2, unit=2, percent=30)]
    with pytest.raises(Invalid) as refused:
        save_at_once(assignment=reload(assignment), by=world.ana, acts=acts)
    assert refused.value.field == "percent"
    assert not UnitJudgment.objects.exists()
    assert reload(assignment).pen == ""


def judge(world: World, assignment: Assignment, **changes: object) -> UnitJudgment:
    reading = assignment.readings.select_related("assignment__document_set__project").get()
    act = {"unit_id": world.units("port")[0].public_id, "percent": 20, "by": world.ana, **changes}
    return judge_unit(reading=reading, **act)  # type: ignore[arg-type]


def test_a_single_judgment_is_saved_and_returned(world: World) -> None:
    assignment = sit(world)
    assert [judge(world, assignment, percent=percent).percent for percent in (20, 60)] == [20, 60]
    assert percents() == [(20, False), (60, True)]
    assert assignment.readings.get().state == Reading.State.DRAFT


def test_a_single_judgment_of_one_name_and_number_is_saved_once(world: World) -> None:
    assignment = sit(world)
    one = judge(world, assignment, client_id="program", seq=3)
    assert judge(world, assignment, client_id="program", seq=3) == one
    assert UnitJudgment.objects.count() == 1


@pytest.mark.parametrize(
    ("changes", "kind"),
    [({"percent": 30}, Invalid), ({"marks": [3]}, Invalid), ({"unit_id": "none"}, NotFound)],
)
def test_a_single_judgment_without_sense_raises(
    world: World, changes: dict[str, object], kind: type[Refusal]
) -> None:
    assignment = sit(world)
    with pytest.raises(kind):
        judge(world, assignment, **changes)
    assert not UnitJudgment.objects.exists()


def test_a_single_judgment_of_somebody_else_or_in_a_closed_set_is_refused(world: World) -> None:
    assignment = sit(world)
    with pytest.raises(NotFound):
        judge(world, assignment, by=world.ben)
    send(world, assignment, on_unit(world, assignment, 1), on_unit(world, assignment, 2, unit=2))
    finish(reload(assignment))
    with pytest.raises(Conflict) as refused:
        judge(world, assignment)
    assert refused.value.code == "closed"


# Cost, and several at once


def test_the_number_of_queries_is_fixed(world: World) -> None:
    """Role; how far the set is, what stands, the unit; the turn; two writes. And BEGIN and COMMIT."""
    small = sit(world)

    def count(assignment: Assignment, seq: int) -> int:
        loaded, person = reload(assignment), assignment.assessor
        assert person is not None
        acts = [on_unit(world, assignment, seq, percent=20 * seq)]
        with CaptureQueriesContext(connection) as asked:
            save_acts(assignment=loaded, by=person, client_id="tab", acts=acts)
        return len([query for query in asked if "SAVEPOINT" not in query["sql"]])

    send(world, small, on_unit(world, small, 1))
    few = count(small, 2)
    large = sit(world, ("alder", "birch"), name="ben")
    save_acts(assignment=reload(large), by=world.ben, client_id="tab", acts=[on_unit(world, large, 1)])
    assert count(large, 2) == few == 7


@pytest.fixture
def joined_late(world: World) -> Iterator[None]:
    """The model units are joined after a save has read the assignment, at the moment at which it takes the turn."""
    Verdict.objects.all().delete()
    left, first = [world.units("port")[0]], "UPDATE annotation_assignment"

    def join_first(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        if left and sql.lstrip().startswith(first):
            join_units(summary=world.models["port"], by=world.mona, unit_id=left.pop().public_id)
        return execute(sql, *rest)

    with connection.execute_wrapper(join_first):
        yield
    assert not left


def test_units_joined_at_that_moment_send_an_open_form_back_to_its_page(
    world: World, joined_late: None
) -> None:
    assignment = sit(world)
    Assignment.objects.update(pen="tab")
    refused = refusal(world, assignment, on_unit(world, assignment))
    assert (refused.code, "joined or split" in refused.message) == ("elsewhere", True)
    assert not UnitJudgment.objects.exists()


def test_units_joined_at_that_moment_are_not_judged_by_a_form_without_the_pen(
    world: World, joined_late: None
) -> None:
    assignment = sit(world)
    assert said(send(world, assignment, on_unit(world, assignment))) == [(1, "refused", "not_found")]
    assert not UnitJudgment.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_the_same_act_from_two_threads_at_once_is_saved_once(world: World) -> None:
    assignment = sit(world)
    act = on_unit(world, assignment, 1)
    outcomes = at_once(*(lambda: send(world, assignment, act) for _ in range(4)))
    assert sorted(said(each)[0][1] for each in outcomes if isinstance(each, Saved)) == ["repeated"] * 3 + [
        "saved"
    ]
    assert UnitJudgment.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_forms_at_once_one_gets_the_pen_and_the_other_is_told(world: World) -> None:
    assignment = sit(world)
    acts = {
        client: on_unit(world, assignment, 1, percent=percent) for client, percent in (("a", 20), ("b", 80))
    }
    outcomes = at_once(*(lambda c=c: send(world, assignment, acts[c], client=c) for c in acts))
    refused = [each for each in outcomes if isinstance(each, Conflict)]
    assert [each.code for each in refused] == ["elsewhere"]
    assert UnitJudgment.objects.count() == 1
    assert reload(assignment).pen == UnitJudgment.objects.get().client_id


@pytest.mark.django_db(transaction=True)
def test_a_save_and_a_close_at_once_leave_nothing_half_done(world: World) -> None:
    assignment = sit(world)
    send(
        world, assignment, on_unit(world, assignment, 1, marks=(1, 2)), on_unit(world, assignment, 2, unit=2)
    )
    closing, saving = at_once(
        lambda: close_assignment(assignment=reload(assignment), by=world.ana),
        lambda: send(world, assignment, on_unit(world, assignment, 3, percent=100, marks=(1, 2))),
    )
    assert isinstance(closing, Assignment)
    first = UnitJudgment.objects.get(is_current=True, unit=world.units("port")[0])
    if isinstance(saving, Conflict):
        assert (saving.code, first.percent) == ("closed", 20)
    else:
        assert first.percent == 100
    # What counts is what stands, whoever was first: unit 2 has 20 %.
    score = world.peers["port", "alder"].score
    assert score.coverage == pytest.approx((first.percent / 100 + 0.2) / 2)  # type: ignore[operator]


def at_once(*works: object) -> list[object]:
    """Run each in a thread of its own, on a connection of its own, as near to the same instant as it gets."""
    start = threading.Barrier(len(works))
    outcomes: list[object] = [None] * len(works)

    def run(place: int, work: object) -> None:
        start.wait()
        try:
            outcomes[place] = work()  # type: ignore[operator]
        except Refusal as refused:
            outcomes[place] = refused
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return outcomes
