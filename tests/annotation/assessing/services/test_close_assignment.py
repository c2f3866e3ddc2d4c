import pytest

from annotation.assessing.services.acts import UnitAct
from annotation.assessing.services.close_assignment import close_assignment
from annotation.assessing.services.save_acts import judge_unit, save_acts
from annotation.core.permissions import is_blind
from annotation.core.refusals import Conflict, Invalid, NotAllowed, NotFound
from annotation.models import Assignment, Event, Rating, Score
from evaluation.metrics import PACKS
from tests.annotation.cast import World, answer_rest, finish
from tests.annotation.laying import assign_part, judge_all
from tests.annotation.rated import answers, ask, on


def sit(
    world: World, name: str = "ana", systems: tuple[str, ...] = ("alder",), document_set: str = "port"
) -> Assignment:
    return assign_part(world, document_set, getattr(world, name), *systems)


def score_of(world: World, system: str = "alder") -> Score:
    return Score.objects.get(summary=world.summaries["port", system])


def test_a_draft_counts_for_nothing(world: World) -> None:
    judge_all(sit(world), 20, 40)
    assert score_of(world).coverage == pytest.approx(0.75)


def test_closing_makes_percents_count(world: World) -> None:
    assignment = sit(world)
    judge_all(assignment, 20, 40)
    finish(assignment)
    # People outrank the judge: (0.2 + 0.4) / 2 = 0.3, all of it from people.
    assert score_of(world).coverage == pytest.approx(0.3)
    assert score_of(world).coverage_human == pytest.approx(0.3)
    assert score_of(world).human_share == 1.0
    # The judge's own coverage does not change: (1/2 + 1) / 2.
    assert score_of(world).coverage_judge == pytest.approx(0.75)


def test_closing_twice_changes_nothing(world: World) -> None:
    assignment = sit(world)
    judge_all(assignment, 20, 40)
    finish(assignment)
    close_assignment(assignment=assignment, by=world.ana)
    assert Event.objects.filter(verb="close assignment").count() == 1


def test_open_work_makes_blind_until_the_set_is_closed(world: World) -> None:
    assignment = sit(world)
    assert is_blind(world.ana, world.project)
    judge_all(assignment, 20, 40)
    finish(assignment)
    assert not is_blind(world.ana, world.project)


def missing_in(assignment: Assignment) -> dict[str, object]:
    with pytest.raises(Invalid) as refused:
        close_assignment(assignment=assignment, by=assignment.assessor)
    assert refused.value.code == "incomplete"
    return refused.value.details


def test_missing_percents_are_told_by_summary_with_where_to_go(world: World) -> None:
    assignment = sit(world, systems=("alder", "birch"))
    first, second = assignment.readings.order_by("position")
    save_acts(
        assignment=assignment,
        by=world.ana,
        acts=[UnitAct(second.public_id, world.units("port")[0].public_id, 20)],
        all_or_none=True,
    )
    assert missing_in(assignment) == {
        "missing": {
            first.public_id: {"stage": "units", "count": 2},
            second.public_id: {"stage": "units", "count": 1},
        },
        "go_to": first.public_id,
    }


def test_a_percent_that_was_taken_back_is_missing(world: World) -> None:
    assignment = sit(world)
    judge_all(assignment, 20, 40)
    reading = assignment.readings.get()
    judge_unit(
        reading=reading, by=world.ana, unit_id=world.units("port")[1].public_id, percent=None, marks=[1]
    )
    assert missing_in(assignment)["missing"] == {reading.public_id: {"stage": "units", "count": 1}}


def test_unmarked_summary_units_need_their_answer(world: World) -> None:
    assignment = sit(world)
    judge_all(assignment, 20, 40)
    reading = assignment.readings.get()
    assert missing_in(assignment)["missing"] == {reading.public_id: {"stage": "after", "count": 1}}
    save_acts(
        assignment=assignment, by=world.ana, acts=[on(reading.public_id, "unmarked", 60)], all_or_none=True
    )
    close_assignment(assignment=assignment, by=world.ana)
    assert answers() == {"unmarked": 60}


def test_an_answer_for_units_that_were_marked_later_becomes_0_by_rule(world: World) -> None:
    assignment = sit(world)
    judge_all(assignment, 20, 40)
    save_acts(
        assignment=assignment,
        by=world.ana,
        acts=[on(assignment.readings.get().public_id, "unmarked", 60)],
        all_or_none=True,
    )
    judge_all(assignment, 20, 40, marks=(1, 2))
    close_assignment(assignment=assignment, by=world.ana)
    assert list(Rating.objects.order_by("pk").values_list("value", "version")) == [(60, 1), (0, 2)]


def test_open_criteria_are_told_and_nothing_of_the_units(world: World) -> None:
    ask(world.project, *PACKS["DUC 2006"])
    assignment = sit(world)
    reading = assignment.readings.get()
    save_acts(assignment=assignment, by=world.ana, acts=[on(reading.public_id, "focus", 4)], all_or_none=True)
    with pytest.raises(Invalid) as refused:
        close_assignment(assignment=Assignment.objects.get(), by=world.ana)
    assert refused.value.details["missing"] == {reading.public_id: {"stage": "before", "count": 4}}
    assert "reference unit" not in refused.value.message


def test_ratings_of_people_do_not_move_scores(world: World) -> None:
    ask(world.project, *PACKS["DUC 2006"])
    assignment = sit(world)
    answer_rest(Assignment.objects.get())
    judge_all(assignment, 20, 40, marks=(1, 2))
    close_assignment(assignment=assignment, by=world.ana)
    assert score_of(world).coverage == pytest.approx(0.3)


def test_only_the_assessor_closes(world: World) -> None:
    assignment = sit(world)
    with pytest.raises(NotFound):
        close_assignment(assignment=assignment, by=world.ben)
    world.ana.memberships.update(roles=["reviewer"])
    with pytest.raises(NotAllowed):
        close_assignment(assignment=assignment, by=world.ana)


def test_an_unassigned_assignment_is_not_closed(world: World) -> None:
    assignment = sit(world)
    judge_all(assignment, 20, 40, marks=(1, 2))
    Assignment.objects.update(unassigned_at=assignment.created_at)
    with pytest.raises(Conflict) as refused:
        close_assignment(assignment=assignment, by=world.ana)
    assert refused.value.code == "unassigned"
