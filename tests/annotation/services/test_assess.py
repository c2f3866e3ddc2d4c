"""The SEE form's acts: drafts, submission, what counts when."""

import pytest

from annotation.models import Assignment, Event, Score, Sitting, UnitJudgment
from annotation.permissions import is_blind
from annotation.refusals import Conflict, Invalid, NotAllowed, NotFound
from annotation.services.assess import close_sitting, judge_unit
from annotation.services.assign import assign
from annotation.services.change_project import change_project
from annotation.services.review import override
from tests.annotation.cast import World


def sit(world: World, name: str = "ana", systems: tuple[str, ...] = ("alder",)) -> Sitting:
    return assign(
        document_set=world.sets["port"],
        assessor=getattr(world, name),
        by=world.mona,
        comparisons=[world.comparison("port", system) for system in systems],
        seed=7,
    )


def judge_all(world: World, sitting: Sitting, percents: tuple[int, ...]) -> None:
    for assignment in sitting.assignments.all():
        for unit, percent in zip(world.units("port"), percents, strict=True):
            judge_unit(
                assignment=assignment, by=sitting.assessor, unit_id=unit.public_id, percent=percent, marks=[1]
            )


def score_of(world: World, system: str = "alder") -> Score:
    return Score.objects.get(summary=world.peers["port", system])


def test_a_draft_counts_for_nothing(world: World) -> None:
    judge_all(world, sit(world), (20, 40))
    assert score_of(world).coverage == pytest.approx(0.75)


def test_closing_makes_percents_count(world: World) -> None:
    sitting = sit(world)
    judge_all(world, sitting, (20, 40))
    close_sitting(sitting=sitting, by=world.ana)
    # Human first: (0.2 + 0.4) / 2 = 0.3, all of it decided by people.
    assert score_of(world).coverage == pytest.approx(0.3)
    assert score_of(world).coverage_human == pytest.approx(0.3)
    assert score_of(world).human_share == 1.0
    # The judge alone stays as it was: (1/2 + 1) / 2.
    assert score_of(world).coverage_judge == pytest.approx(0.75)


def test_two_assessors_are_averaged(world: World) -> None:
    for name, percents in (("ana", (20, 40)), ("ben", (60, 40))):
        sitting = sit(world, name)
        judge_all(world, sitting, percents)
        close_sitting(sitting=sitting, by=getattr(world, name))
    # Unit 1: (20 + 60) / 2 = 40; unit 2: 40. Mean 0.4.
    assert score_of(world).coverage == pytest.approx(0.4)


def test_the_weighted_blend_mixes_percents_and_claims(world: World) -> None:
    sitting = sit(world)
    judge_all(world, sitting, (20, 40))
    close_sitting(sitting=sitting, by=world.ana)
    change_project(project=world.project, by=world.olga, blend="weighted", blend_human_weight=0.5)
    # Unit 1: .5 * .2 + .5 * 1/2 = .35; unit 2: .5 * .4 + .5 * 1 = .7. Mean .525.
    assert score_of(world).coverage == pytest.approx(0.525)
    override(check=world.check("alder", 2), by=world.rex, label="yes")
    # Unit 1: .5 * .2 + .5 * 1 = .6. Mean (.6 + .7) / 2 = .65.
    assert score_of(world).coverage == pytest.approx(0.65)


def test_under_human_first_an_override_in_a_judged_unit_moves_claim_coverage_only(world: World) -> None:
    sitting = sit(world)
    judge_all(world, sitting, (20, 40))
    close_sitting(sitting=sitting, by=world.ana)
    assert score_of(world).claim_coverage == pytest.approx(2 / 3)
    override(check=world.check("alder", 2), by=world.rex, label="yes")
    assert score_of(world).coverage == pytest.approx(0.3)
    assert score_of(world).claim_coverage == 1.0


def test_an_incomplete_submission_is_refused_and_says_what_is_missing(world: World) -> None:
    sitting = sit(world)
    assignment = sitting.assignments.get()
    judge_unit(assignment=assignment, by=world.ana, unit_id=world.units("port")[0].public_id, percent=20)
    with pytest.raises(Invalid) as refused:
        close_sitting(sitting=sitting, by=world.ana)
    assert refused.value.code == "incomplete"
    assert refused.value.details == {"missing": {assignment.public_id: 1}}


def test_a_revision_is_a_new_row_and_the_last_one_is_current(world: World) -> None:
    assignment = sit(world).assignments.get()
    unit = world.units("port")[0]
    for percent in (20, 60):
        judge_unit(assignment=assignment, by=world.ana, unit_id=unit.public_id, percent=percent)
    rows = UnitJudgment.objects.filter(assignment=assignment).order_by("pk")
    assert [(row.percent, row.is_current) for row in rows] == [(20, False), (60, True)]


def test_the_same_act_twice_is_saved_once(world: World) -> None:
    assignment = sit(world).assignments.get()
    unit = world.units("port")[0]
    for _ in range(2):
        judge_unit(
            assignment=assignment, by=world.ana, unit_id=unit.public_id, percent=20, client_id="tab", seq=1
        )
    assert UnitJudgment.objects.count() == 1


def test_a_closed_set_takes_no_more_judgments(world: World) -> None:
    sitting = sit(world)
    judge_all(world, sitting, (20, 40))
    close_sitting(sitting=sitting, by=world.ana)
    with pytest.raises(Conflict):
        judge_all(world, sitting, (0, 0))


def test_closing_twice_changes_nothing(world: World) -> None:
    sitting = sit(world)
    judge_all(world, sitting, (20, 40))
    close_sitting(sitting=sitting, by=world.ana)
    close_sitting(sitting=sitting, by=world.ana)
    assert Event.objects.filter(verb="close sitting").count() == 1


@pytest.mark.parametrize(
    ("wrong", "field"),
    [({"percent": 30}, "percent"), ({"percent": 120}, "percent"), ({"marks": [3]}, "marks")],
)
def test_off_scale_percents_and_unknown_marks_are_refused(
    world: World, wrong: dict[str, object], field: str
) -> None:
    assignment = sit(world).assignments.get()
    act: dict[str, object] = {"percent": 20, "marks": [1], **wrong}
    with pytest.raises(Invalid) as refused:
        judge_unit(
            assignment=assignment,
            by=world.ana,
            unit_id=world.units("port")[0].public_id,
            **act,  # type: ignore[arg-type]
        )
    assert refused.value.field == field


def test_somebody_elses_assignment_is_not_there(world: World) -> None:
    assignment = sit(world).assignments.get()
    with pytest.raises(NotFound):
        judge_unit(assignment=assignment, by=world.ben, unit_id=world.units("port")[0].public_id, percent=20)


def test_another_comparisons_unit_is_not_there(world: World) -> None:
    assignment = sit(world).assignments.get()
    with pytest.raises(NotFound):
        judge_unit(
            assignment=assignment, by=world.ana, unit_id=world.units("bridge")[0].public_id, percent=20
        )


def test_open_work_makes_blind_until_the_set_is_closed(world: World) -> None:
    sitting = sit(world)
    assert is_blind(world.ana, world.project)
    judge_all(world, sitting, (20, 40))
    close_sitting(sitting=sitting, by=world.ana)
    assert not is_blind(world.ana, world.project)


def test_only_managers_assign_and_only_to_assessors(world: World) -> None:
    with pytest.raises(NotAllowed):
        assign(document_set=world.sets["port"], assessor=world.ana, by=world.rex)
    with pytest.raises(Invalid):
        assign(document_set=world.sets["port"], assessor=world.rex, by=world.mona)


def test_assigning_again_adds_what_is_new_and_keeps_the_rest(world: World) -> None:
    sit(world)
    sitting = assign(document_set=world.sets["port"], assessor=world.ana, by=world.mona)
    assert sorted(a.position for a in sitting.assignments.all()) == [1, 2]
    assert Assignment.objects.count() == 2
