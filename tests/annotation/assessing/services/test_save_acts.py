from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.assessing.services.acts import Act, UnitAct
from annotation.assessing.services.assign import assign
from annotation.assessing.services.close_assignment import close_assignment
from annotation.assessing.services.save_acts import Saved, judge_unit, save_acts
from annotation.core.refusals import Conflict, Invalid, NotAllowed, NotFound
from annotation.models import (
    Assignment,
    Claim,
    ClaimSet,
    Comparison,
    CoverageJudgment,
    Project,
    Rating,
    Reading,
    Summary,
)
from evaluation.metrics import PACKS, Criterion
from tests.annotation.at_once import at_once
from tests.annotation.cast import World, add_units
from tests.annotation.laying import assign_part
from tests.annotation.rated import answers, ask, on

OWN = [Criterion(name, f"Is it {name}?", "yes_no") for name in ("clear", "new")]


def sit(world: World, systems: tuple[str, ...] = ("alder",), name: str = "ana") -> Assignment:
    return assign_part(world, "port", getattr(world, name), *systems)


def reload(assignment: Assignment) -> Assignment:
    return Assignment.objects.select_related("document_set__project").get(pk=assignment.pk)


def reading_of(assignment: Assignment, place: int = 1) -> str:
    return assignment.readings.order_by("position")[place - 1].public_id


def on_unit(
    world: World,
    assignment: Assignment,
    unit: int = 1,
    percent: int | None = 20,
    marks: tuple[int, ...] = (1,),
    follows: int | None = None,
) -> UnitAct:
    public_id = world.units("port")[unit - 1].public_id
    return UnitAct(reading_of(assignment), public_id, percent, marks, follows=follows)


def send(world: World, assignment: Assignment, *acts: Act) -> Saved:
    return save_acts(assignment=reload(assignment), by=world.ana, acts=acts)


def said(saved: Saved) -> list[tuple[int, str]]:
    return [(result.status, result.code) for result in saved.results]


def versions(saved: Saved) -> list[int]:
    return [result.version for result in saved.results]


def percents() -> list[tuple[int, int | None, bool]]:
    rows = CoverageJudgment.objects.order_by("pk")
    return [(row.version, row.percent, row.is_current) for row in rows]


SAVED = (200, "")


def test_an_act_is_saved_with_all_that_was_said(world: World) -> None:
    assignment = sit(world)
    act = UnitAct(reading_of(assignment), world.units("port")[0].public_id, 60, [2, 1, 2], " half ", 4200)
    saved = send(world, assignment, act)
    row = CoverageJudgment.objects.get()
    assert (row.percent, row.evidence, row.reason, row.active_ms) == (60, [1, 2], "half", 4200)
    assert (row.version, row.is_current) == (1, True)
    assert (said(saved), versions(saved)) == ([SAVED], [1])
    assert reload(assignment).worked_at is not None


def test_equal_acts_are_saved_once(world: World) -> None:
    assignment = sit(world)
    acts = [on_unit(world, assignment, unit, follows=0) for unit in (1, 2)]
    first, again = send(world, assignment, *acts), send(world, assignment, *acts)
    assert said(first) == said(again) == [SAVED] * 2
    assert versions(again) == [1, 1]
    assert (again.gates, again.slips) == (first.gates, first.slips)
    assert CoverageJudgment.objects.count() == 2


def test_a_changed_answer_is_the_next_version(world: World) -> None:
    assignment = sit(world)
    for version, percent in enumerate((20, 60, 20)):
        saved = send(world, assignment, on_unit(world, assignment, percent=percent, follows=version))
        assert versions(saved) == [version + 1]
    assert percents() == [(1, 20, False), (2, 60, False), (3, 20, True)]


def test_an_act_that_follows_an_older_version_is_refused_with_both_values_and_the_rest_saved(
    world: World,
) -> None:
    assignment = sit(world)
    send(world, assignment, on_unit(world, assignment, percent=60, follows=0))
    saved = send(
        world,
        assignment,
        on_unit(world, assignment, percent=80, marks=(2,), follows=0),
        on_unit(world, assignment, 2, follows=0),
    )
    refused = saved.results[0]
    assert said(saved) == [(409, "newer"), SAVED]
    assert (refused.version, refused.theirs) == (1, {"percent": 60, "marks": [1], "note": ""})
    assert refused.yours == {"percent": 80, "marks": [2], "note": ""}
    assert "60 %, marked 1. Yours, not saved: 80 %, marked 2" in refused.message
    assert percents() == [(1, 60, True), (1, 20, True)]


def test_several_acts_on_one_unit_in_a_batch_are_rows_of_which_the_last_is_current(world: World) -> None:
    assignment = sit(world)
    acts = [on_unit(world, assignment, percent=percent, follows=0) for percent in (0, 20, 60)]
    assert versions(send(world, assignment, *acts)) == [1, 2, 3]
    assert percents() == [(1, 0, False), (2, 20, False), (3, 60, True)]
    # A repeated act is outdated, except the one that gave the current value.
    assert said(send(world, assignment, *acts)) == [(409, "newer"), (409, "newer"), SAVED]


def test_each_answer_on_a_summary_has_its_versions(world: World) -> None:
    ask(world.project, *OWN)
    assignment = sit(world)
    here = reading_of(assignment)
    send(world, assignment, on(here, "clear", 1, follows=0))
    late = send(world, assignment, on(here, "clear", 0, follows=0), on(here, "new", 1, follows=0))
    assert said(late) == [(409, "newer"), SAVED]
    assert (late.results[0].yours, late.results[0].theirs) == ({"value": 0}, {"value": 1})
    assert versions(late) == [1, 1]
    assert said(send(world, assignment, on(here, "new", 1, follows=0))) == [SAVED]
    assert Rating.objects.count() == 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"percent": 30},
        {"percent": 120},
        {"percent": -20},
        {"percent": 10**30},
        {"marks": (3,)},
        {"marks": (0,)},
    ],
)
def test_an_act_without_sense_is_refused_by_itself_and_does_not_hold_up_the_rest(
    world: World, wrong: dict[str, object]
) -> None:
    assignment = sit(world)
    bad = on_unit(world, assignment, **wrong)  # type: ignore[arg-type]
    assert said(send(world, assignment, bad, on_unit(world, assignment, 2))) == [(422, "invalid"), SAVED]
    assert CoverageJudgment.objects.count() == 1


@pytest.mark.parametrize("note", ["x" * 4001, "zero \0", "half \ud83d"])
def test_a_note_that_no_database_takes_is_refused(world: World, note: str) -> None:
    assignment = sit(world)
    act = UnitAct(reading_of(assignment), world.units("port")[0].public_id, 20, (1,), note)
    assert said(send(world, assignment, act)) == [(422, "invalid")]


@pytest.mark.parametrize(
    ("scale", "taken", "refused"), [("six", 40, 45), ("fives", 45, 47), ("free", 47, 101)]
)
def test_percents_lie_on_the_projects_scale(world: World, scale: str, taken: int, refused: int) -> None:
    Project.objects.update(percent_scale=scale)
    assignment = sit(world)
    acts = [on_unit(world, assignment, percent=taken), on_unit(world, assignment, 2, percent=refused)]
    assert said(send(world, assignment, *acts)) == [SAVED, (422, "invalid")]


def test_units_of_other_texts_and_summaries_of_other_sets_are_not_found(world: World) -> None:
    assignment = sit(world)
    other = assign(document_set=world.sets["bridge"], assessor=world.ana, by=world.mona)
    acts = [
        UnitAct(reading_of(assignment), world.units("bridge")[0].public_id, 20),
        UnitAct(reading_of(other), world.units("bridge")[0].public_id, 20),
        UnitAct(reading_of(assignment), "nosuchunit", 20),
    ]
    assert said(send(world, assignment, *acts)) == [(404, "not_found")] * 3


def test_claims_stand_in_for_units_where_they_are_not_linked(world: World) -> None:
    claims = ClaimSet.objects.create(summary=world.references["bridge"], origin="import", origin_name="file")
    claim = Claim.objects.create(claim_set=claims, position=1, text="It closes", origin="import")
    assignment = assign(document_set=world.sets["bridge"], assessor=world.ana, by=world.mona)
    saved = send(world, assignment, UnitAct(reading_of(assignment), claim.public_id, 40))
    assert said(saved) == [SAVED]
    assert saved.slips == {claim.public_id: "Reference unit 1 has 40 % but no summary unit is marked for it."}
    unit = UnitAct(reading_of(assignment), world.units("bridge")[0].public_id, 40)
    assert said(send(world, assignment, unit)) == [(404, "not_found")]


@pytest.mark.parametrize(("column", "code"), [("closed_at", "closed"), ("unassigned_at", "unassigned")])
def test_a_set_that_is_over_takes_nothing(world: World, column: str, code: str) -> None:
    assignment = sit(world)
    Assignment.objects.update(**{column: timezone.now()})
    with pytest.raises(Conflict) as refused:
        send(world, assignment, on_unit(world, assignment))
    assert refused.value.code == code
    assert not CoverageJudgment.objects.exists()


def test_a_set_that_is_unassigned_between_reading_and_saving_takes_nothing(world: World) -> None:
    assignment = sit(world)
    seen = reload(assignment)
    Assignment.objects.update(unassigned_at=timezone.now())
    with pytest.raises(Conflict) as refused:
        save_acts(assignment=seen, by=world.ana, acts=[on_unit(world, assignment)])
    assert refused.value.code == "unassigned"


def test_somebody_elses_assignment_is_not_there_and_without_the_role_nothing_is_saved(world: World) -> None:
    assignment = sit(world)
    with pytest.raises(NotFound):
        save_acts(assignment=reload(assignment), by=world.ben, acts=[on_unit(world, assignment)])
    world.ana.memberships.update(roles=["reviewer"])
    with pytest.raises(NotAllowed):
        send(world, assignment, on_unit(world, assignment))


@pytest.fixture
def asked(world: World) -> Assignment:
    ask(world.project, *OWN)
    return sit(world)


def test_units_are_shut_until_every_criterion_before_them_is_answered(
    world: World, asked: Assignment
) -> None:
    here = reading_of(asked)
    early = send(world, asked, on_unit(world, asked))
    assert said(early) == [(409, "ratings_first")]
    assert (early.gates[here].before, early.gates[here].units, early.gates[here].after) == (
        "open",
        "shut",
        "shut",
    )
    assert early.slips == {}
    half = send(world, asked, on(here, "clear", 1), on_unit(world, asked))
    assert said(half) == [SAVED, (409, "ratings_first")]
    whole = send(world, asked, on(here, "new", 0), on_unit(world, asked))
    assert said(whole) == [SAVED, SAVED]
    assert (whole.gates[here].before, whole.gates[here].units) == ("done", "open")


def test_each_answer_is_one_row(world: World, asked: Assignment) -> None:
    here = reading_of(asked)
    send(world, asked, on(here, "clear", 1, 900), on(here, "new", 0, 800))
    send(world, asked, on(here, "clear", 0))
    rows = Rating.objects.order_by("pk").values_list(
        "criterion__name", "value", "version", "active_ms", "role", "person"
    )
    ana = ("assessor", world.ana.pk)
    assert list(rows) == [("clear", 1, 1, 900, *ana), ("new", 0, 1, 800, *ana), ("clear", 0, 2, 0, *ana)]


@pytest.mark.parametrize("answer", [2, -1, 10**30])
def test_answers_without_sense_are_refused(world: World, asked: Assignment, answer: int) -> None:
    assert said(send(world, asked, on(reading_of(asked), "clear", answer)))[0][1] == "invalid"


def test_an_answer_is_taken_back_before_the_model_was_shown_and_only_changed_after(
    world: World, asked: Assignment
) -> None:
    here = reading_of(asked)
    send(world, asked, on(here, "clear", 1), on(here, "clear", None))
    assert answers() == {}
    send(world, asked, on(here, "clear", 1), on(here, "new", 1))
    late = send(world, asked, on(here, "new", None), on(here, "new", 0))
    assert said(late) == [(409, "model_shown"), SAVED]


@pytest.mark.parametrize(("target", "is_asked"), [(10, False), (11, True), (None, True), (5, False)])
def test_headlines_are_not_asked_about(world: World, target: int | None, is_asked: bool) -> None:
    ask(world.project, *PACKS["DUC 2002"])
    Summary.objects.filter(is_summary=True).update(target_words=target)
    assignment = sit(world)
    assert (said(send(world, assignment, on_unit(world, assignment)))[0][1] == "ratings_first") is is_asked


def test_an_empty_summary_is_not_asked_about_and_nothing_of_it_is_unmarked(world: World) -> None:
    ask(world.project, *PACKS["DUC 2002"])
    world.summaries["port", "alder"].units.all().delete()
    assignment = sit(world)
    acts = [on_unit(world, assignment, unit, percent=0, marks=()) for unit in (1, 2)]
    saved = send(world, assignment, *acts)
    assert saved.gates[reading_of(assignment)].after == "done"
    assert close_assignment(assignment=reload(assignment), by=world.ana).closed_at


def test_the_unmarked_question_opens_when_every_unit_has_a_percent(world: World) -> None:
    assignment = sit(world)
    here = reading_of(assignment)
    early = send(world, assignment, on_unit(world, assignment), on(here, "unmarked", 40))
    assert said(early)[1] == (409, "units_first")
    assert early.gates[here].after == "shut"
    ready = send(world, assignment, on_unit(world, assignment, 2))
    assert ready.gates[here].after == "open"
    done = send(world, assignment, on(here, "unmarked", 40))
    assert done.gates[here].after == "done"
    assert answers() == {"unmarked": 40}


@pytest.mark.parametrize("percent", [10, 50, 101, -20])
def test_the_unmarked_percent_has_six_steps_whatever_the_scale(world: World, percent: int) -> None:
    Project.objects.update(percent_scale="free")
    assignment = sit(world)
    send(world, assignment, on_unit(world, assignment), on_unit(world, assignment, 2))
    saved = send(world, assignment, on(reading_of(assignment), "unmarked", percent))
    assert said(saved) == [(422, "invalid")]


def test_nothing_unmarked_is_0_by_rule_and_a_later_act_opens_the_question_again(world: World) -> None:
    assignment = sit(world)
    here = reading_of(assignment)
    saved = send(world, assignment, on_unit(world, assignment), on_unit(world, assignment, 2, marks=(2,)))
    assert saved.gates[here].after == "done"
    assert said(send(world, assignment, on(here, "unmarked", 20))) == [(409, "none_unmarked")]
    saved = send(world, assignment, on_unit(world, assignment, 2, marks=()))
    assert saved.gates[here].after == "open"


def test_a_criterion_of_the_projects_own_comes_after_the_units(world: World) -> None:
    ask(world.project, Criterion("told", "How much is told?", "percent", reads="reference", asked="after"))
    assignment = sit(world)
    here = reading_of(assignment)
    early = send(world, assignment, on_unit(world, assignment), on(here, "told", 33))
    assert said(early)[1] == (409, "units_first")
    # No unit is unmarked, so a rule answers the criterion about unmarked units, but not this one.
    ready = send(world, assignment, on_unit(world, assignment, 2, marks=(2,)), on(here, "told", 101))
    assert (said(ready)[1], ready.gates[here].after) == ((422, "invalid"), "open")
    assert send(world, assignment, on(here, "told", 33)).gates[here].after == "done"
    assert answers() == {"told": 33}


def test_what_looks_like_a_slip_is_said_and_blocks_nothing(world: World) -> None:
    assignment = sit(world)
    one, two = (unit.public_id for unit in world.units("port"))
    acts = [on_unit(world, assignment, marks=()), on_unit(world, assignment, 2, percent=0)]
    saved = send(world, assignment, *acts)
    assert saved.slips == {
        one: "Reference unit 1 has 20 % but no summary unit is marked for it.",
        two: "Reference unit 2 has marked summary units but 0 %.",
    }
    assert send(world, assignment, on_unit(world, assignment)).slips == {one: ""}


@pytest.fixture
def twofold(world: World) -> Assignment:
    reference = Summary.objects.create(
        document_set=world.sets["port"], is_reference=True, external_id="second", text="Ferries move."
    )
    add_units(reference.text, summary=reference)
    world.references["second"] = reference
    assignment = sit(world)
    comparison = Comparison.objects.create(summary=world.summaries["port", "alder"], reference=reference)
    Reading.objects.create(assignment=assignment, comparison=comparison, position=2)
    return assignment


def on_second(world: World, assignment: Assignment, marks: tuple[int, ...] = ()) -> UnitAct:
    return UnitAct(reading_of(assignment, 2), world.units("second")[0].public_id, 20, marks)


def test_the_unmarked_question_comes_once_at_the_summaries_last_comparison(
    world: World, twofold: Assignment
) -> None:
    first, last = reading_of(twofold), reading_of(twofold, 2)
    saved = send(world, twofold, on_unit(world, twofold), on_unit(world, twofold, 2))
    assert (saved.gates[first].stage, saved.gates[first].after) == ("done", "none")
    assert (saved.gates[last].stage, saved.gates[last].after) == ("units", "shut")
    saved = send(world, twofold, on_second(world, twofold))
    assert saved.gates[last].after == "open"
    # The answer belongs to the summary, whichever comparison names it.
    saved = send(world, twofold, on(first, "unmarked", 60))
    assert saved.gates[last].after == "done"
    assert Rating.objects.count() == 1


def test_marks_of_all_comparisons_of_a_summary_count_together(world: World, twofold: Assignment) -> None:
    acts = [on_unit(world, twofold), on_unit(world, twofold, 2), on_second(world, twofold, (2,))]
    assert send(world, twofold, *acts).gates[reading_of(twofold, 2)].after == "done"


def test_a_save_renews_the_lease_of_a_pulled_set_only(world: World) -> None:
    assignment = sit(world)
    send(world, assignment, on_unit(world, assignment))
    assert reload(assignment).lease_until is None
    past = timezone.now() - timedelta(minutes=1)
    Assignment.objects.update(lease_until=past)
    Project.objects.update(lease_minutes=45)
    send(world, assignment, on_unit(world, assignment, 2))
    left = reload(assignment).lease_until
    assert timedelta(minutes=44) < left - timezone.now() <= timedelta(minutes=45)


def test_a_plain_form_saves_all_or_nothing(world: World) -> None:
    assignment = sit(world)
    acts = [on_unit(world, assignment), on_unit(world, assignment, 2, percent=30)]
    with pytest.raises(Invalid) as refused:
        save_acts(assignment=reload(assignment), by=world.ana, acts=acts, all_or_none=True)
    assert refused.value.field == "percent"
    assert not CoverageJudgment.objects.exists()


def judge(world: World, assignment: Assignment, **changes: object) -> CoverageJudgment:
    reading = assignment.readings.select_related("assignment__document_set__project").get()
    act = {"unit_id": world.units("port")[0].public_id, "percent": 20, "by": world.ana, **changes}
    return judge_unit(reading=reading, **act)  # type: ignore[arg-type]


def test_the_number_of_queries_is_fixed(world: World) -> None:
    small = sit(world)

    def count(assignment: Assignment) -> int:
        loaded, person = reload(assignment), assignment.assessor
        acts = [on_unit(world, assignment, percent=60)]
        with CaptureQueriesContext(connection) as asked:
            save_acts(assignment=loaded, by=person, acts=acts)
        return len([query for query in asked if "SAVEPOINT" not in query["sql"]])

    send(world, small, on_unit(world, small))
    large = sit(world, ("alder", "birch"), name="ben")
    save_acts(assignment=reload(large), by=world.ben, acts=[on_unit(world, large)])
    assert (count(small), count(large)) == (9, 9)


@pytest.mark.django_db(transaction=True)
def test_the_same_act_from_two_threads_at_once_is_saved_once(world: World) -> None:
    assignment = sit(world)
    act = on_unit(world, assignment)
    outcomes = at_once(*(lambda: send(world, assignment, act) for _ in range(4)))
    assert [said(each) for each in outcomes if isinstance(each, Saved)] == [[SAVED]] * 4
    assert CoverageJudgment.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_forms_at_once_one_is_shown_both_values(world: World) -> None:
    assignment = sit(world)
    acts = [on_unit(world, assignment, percent=percent, follows=0) for percent in (20, 80)]
    outcomes = at_once(*(lambda act=act: send(world, assignment, act) for act in acts))
    codes = [said(each)[0][1] for each in outcomes if isinstance(each, Saved)]
    assert sorted(codes) == ["", "newer"]
    assert CoverageJudgment.objects.get().percent == (20, 80)[codes.index("")]


@pytest.mark.django_db(transaction=True)
def test_a_save_and_a_close_at_once_leave_nothing_half_done(world: World) -> None:
    assignment = sit(world)
    send(world, assignment, on_unit(world, assignment, marks=(1, 2)), on_unit(world, assignment, 2))
    closing, saving = at_once(
        lambda: close_assignment(assignment=reload(assignment), by=world.ana),
        lambda: send(world, assignment, on_unit(world, assignment, percent=100, marks=(1, 2))),
    )
    assert isinstance(closing, Assignment)
    first = CoverageJudgment.objects.get(is_current=True, unit=world.units("port")[0])
    if isinstance(saving, Conflict):
        assert (saving.code, first.percent) == ("closed", 20)
    else:
        assert first.percent == 100
    # Unit 2 has 20 %.
    score = world.summaries["port", "alder"].score
    assert score.coverage == pytest.approx((first.percent / 100 + 0.2) / 2)  # type: ignore[operator]
