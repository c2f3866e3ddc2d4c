from __future__ import annotations

from typing import TYPE_CHECKING

from annotation.analysis.agreement.ratings import (
    RatedItem,
    by_pair,
    check_answers,
    check_facts,
    percent_categories,
    percent_ratings,
    slots,
    touched_count,
    whole_ratings,
)
from annotation.assessing.services.close_assignment import close_assignment
from annotation.core.criteria import asked_of_people
from annotation.models import Verdict
from evaluation.metrics import PACKS
from tests.annotation.answering import add_checks, say
from tests.annotation.assigned import say as judge_units
from tests.annotation.assigned import sit
from tests.annotation.cast import add_imported_verdict, answer_rest, finish
from tests.annotation.rated import ask

if TYPE_CHECKING:
    from tests.annotation.cast import World


def rating(item: str, rater: str, value: str | int) -> RatedItem:
    return RatedItem(item, rater, value, "port", None)


def test_the_first_answer_counts_and_no_later_one(world: World) -> None:
    check = world.check("alder", 1)
    say(check, world.rex, "no")
    say(check, world.rex, "yes", had_seen=True)
    assert [(each.check, each.rater, each.label) for each in check_answers(world.project)] == [
        (check.pk, "rex", "no")
    ]


def test_an_answer_counts_though_its_owner_took_it_back(world: World) -> None:
    say(world.check("alder", 1), world.rex, "no", withdrawn=True)
    assert [each.label for each in check_answers(world.project)] == ["no"]


def test_what_was_given_knowing_the_judges_does_not_count(world: World) -> None:
    first, second, _ = world.checks("alder")
    say(first, world.rex, "yes", had_seen=True)
    say(second, world.rex, "no", had_seen=True)
    assert check_answers(world.project) == []
    assert check_facts(world.project) == {}
    assert touched_count(world.project) == 2


def test_what_was_taken_back_is_not_counted_as_left_out(world: World) -> None:
    say(world.check("alder", 1), world.rex, "yes", had_seen=True, withdrawn=True)
    assert touched_count(world.project) == 0


def test_an_import_that_was_taken_away_does_not_count(world: World) -> None:
    verdict = add_imported_verdict(world.check("alder", 1), "yes")
    (answer,) = check_answers(world.project)
    assert (answer.rater, answer.at) == ("gold.jsonl", None)
    Verdict.objects.filter(pk=verdict.pk).update(withdrawn_at=verdict.created_at)
    assert check_answers(world.project) == []


def test_checks_that_are_not_in_force_do_not_count(world: World) -> None:
    check = world.check("alder", 1)
    say(check, world.rex, "no")
    check.is_current = False
    check.save(update_fields=["is_current"])
    assert check_answers(world.project) == []


def test_a_check_tells_what_figures_are_split_by(world: World) -> None:
    check = add_checks(world, 1)[0]
    say(check, world.rex, "no")
    of = check_facts(world.project)[check.pk]
    assert (of.side, of.system, of.cluster) == ("reference", "alder", "set port")
    world.sets["port"].group = "coast"
    world.sets["port"].save(update_fields=["group"])
    assert check_facts(world.project)[check.pk].cluster == "group coast"


def test_percents_are_those_of_closed_sets(world: World) -> None:
    assignment = sit(world, "ana", "port")
    judge_units(assignment, "alder", (20, [1], 0), (60, [1], 0))
    judge_units(assignment, "birch", (0, [], 0), (0, [], 0))
    assert percent_ratings(world.project) == []
    answer_rest(assignment)
    close_assignment(assignment=assignment, by=world.ana)
    found = percent_ratings(world.project)
    assert sorted(each.value for each in found) == [0, 0, 20, 60]
    assert {(each.rater, each.cluster) for each in found} == {("ana", "set port")}


def test_ratings_are_kept_by_criterion(world: World) -> None:
    ask(world.project, *PACKS["DUC 2006"])
    assignment = sit(world, "ana", "port")
    answer_rest(assignment)
    judge_units(assignment, "alder", (20, [1], 0), (60, [1], 0))
    judge_units(assignment, "birch", (20, [1], 0), (0, [], 0))
    finish(assignment)
    criteria = asked_of_people(world.project)
    found = [[each.value for each in whole_ratings(world.project, criteria)[row.pk]] for row in criteria]
    # `answer_rest` gives the first answer to each of the five questions, which is 1. The second unit of both summaries
    # is unmarked, and Ana says that 0 % of it is related to the subject.
    assert found == [[1, 1]] * 5 + [[0, 0]]


def test_percents_lie_on_the_coarsest_scale_that_holds_them() -> None:
    assert percent_categories([rating("a", "ana", 40), rating("b", "ana", 100)]) == (0, 20, 40, 60, 80, 100)
    assert len(percent_categories([rating("a", "ana", 45)])) == 21
    assert len(percent_categories([rating("a", "ana", 33)])) == 101


def test_answers_are_laid_out_by_item_with_gaps() -> None:
    groups = [[rating("a", "ana", 1), rating("a", "ben", 2)], [rating("b", "ben", 3)]]
    assert slots(groups) == [[1, 3], [2, None]]
    assert slots([]) == []


def test_pairs_have_one_order_of_names() -> None:
    one, other = rating("a", "ben", 2), rating("a", "ana", 1)
    assert by_pair([[one, other]]) == {("ana", "ben"): [(other, one)]}
