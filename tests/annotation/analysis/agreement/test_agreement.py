from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.analysis.agreement.agreement import ScaleFigures, agreement, agreement_inputs
from evaluation.metrics import PACKS
from tests.annotation.answering import answer_fourteen
from tests.annotation.assigned import say as judge_units
from tests.annotation.assigned import sit
from tests.annotation.cast import add_imported_verdict, answer_rest, finish
from tests.annotation.rated import ask

if TYPE_CHECKING:
    from tests.annotation.cast import World

VERDICTS = "verdicts-reference"


def scale(world: World, key: str) -> ScaleFigures:
    return next(each for each in agreement(world.project).scales if each.key == key)


def judged_by_two(world: World) -> None:
    for name, second in (("ana", 60), ("ben", 80)):
        assignment = sit(world, name, "port")
        answer_rest(assignment)
        judge_units(assignment, "alder", (20, [1], 0), (second, [1], 0))
        judge_units(assignment, "birch", (0, [], 0), (40, [1], 0))
        finish(assignment)


def test_without_answers_there_are_no_scales(world: World) -> None:
    found = agreement(world.project)
    assert (found.scales, found.touched, found.imported) == ((), 0, 0)


def test_verdicts_worked_out(world: World) -> None:
    answer_fourteen(world)
    of = scale(world, VERDICTS)
    # Rex and Cleo both answered 12 of the 14 checks, 9 of them equally. Of the 24 ordered pairs within checks, 6
    # differ. Of the 24 answers, 9 are no and 15 yes, so 2 * 9 * 15 = 270 of all 24 * 23 = 552 ordered pairs differ.
    # Alpha is 1 - (6 / 24) / (270 / 552) = 132 / 270.
    assert (of.items, of.single, of.answers) == (12, 2, 24)
    assert of.equal.value == 0.75
    assert of.alpha.value == pytest.approx(132 / 270)
    # A single document set gives no interval.
    assert of.alpha.low is None


def test_each_pair_by_itself(world: World) -> None:
    checks = answer_fourteen(world)
    add_imported_verdict(checks[0], "no")
    pairs = scale(world, VERDICTS).pairs
    assert [(pair.first, pair.second, pair.items) for pair in pairs] == [
        ("cleo", "rex", 12),
        ("cleo", "gold.jsonl", 1),
        ("gold.jsonl", "rex", 1),
    ]
    # In the 12 common checks Rex says no 4 times and Cleo 5 times, so agreement by chance is (4 * 5 + 8 * 7) / 144 = 76
    # / 144. They agree on 9 of 12, which is 108 / 144. Kappa is (108 - 76) / (144 - 76) = 8 / 17.
    assert pairs[0].kappa.value == pytest.approx(8 / 17)


def test_the_judge_stands_beside_and_is_mixed_into_nothing(world: World) -> None:
    answer_fourteen(world)
    of = scale(world, VERDICTS)
    assert of.raters == ("cleo", "rex")
    # The judge says no to all checks, Cleo to 5 of 12, and Rex to 4 of 14.
    assert [(each.first, each.second, each.items, each.equal) for each in of.judge] == [
        ("lexical", "cleo", 12, 5 / 12),
        ("lexical", "rex", 14, 4 / 14),
    ]


def test_answers_that_knew_the_judges_are_counted_and_left_out(world: World) -> None:
    answer_fourteen(world)
    # Rex changed four of the answers after he had seen the judge's.
    assert agreement(world.project).touched == 4


def test_percents_worked_out(world: World) -> None:
    judged_by_two(world)
    of = scale(world, "percents")
    (pair,) = of.pairs
    assert (pair.first, pair.second, pair.items) == ("ana", "ben", 4)
    assert pair.equal == 0.75
    # The pairs are 20 20, 60 80, 0 0 and 40 40. The sum of the 8 percents is 260, and the sum of their squares is
    # 14000. So the squared differences of all ordered pairs add up to 2 * (8 * 14000 - 260^2) = 88800. Those within
    # items add up to 2 * 20^2 = 800. Alpha is 1 - (8 - 1) * 800 / 88800.
    assert of.alpha.value == pytest.approx(1 - 7 * 800 / 88800)
    assert of.level == "interval"


def test_the_judges_percents_are_its_shares_of_yes(world: World) -> None:
    judged_by_two(world)
    # The judge says yes and no to the claims of alder's first unit, yes to the second, and no to birch: 50, 100, 0, 0.
    # Ana gives 20, 60, 0, 40, so one of four is equal.
    ana, _ = scale(world, "percents").judge
    assert (ana.second, ana.items, ana.equal) == ("ana", 4, 0.25)


def test_ratings_agree_by_criterion(world: World) -> None:
    ask(world.project, *PACKS["DUC 2006"])
    judged_by_two(world)
    keys = [each.key for each in agreement(world.project).scales]
    assert keys[0] == "percents"
    assert sum(key.startswith("rating-") for key in keys) == 6
    quality = scale(world, keys[1])
    # Both always gave the first answer, so all answers are equal and alpha is undefined.
    assert (quality.level, quality.items, quality.equal.value) == ("ordinal", 2, 1)
    assert quality.alpha.value is None


def test_another_set_of_criteria_is_another_agreement(world: World) -> None:
    before = agreement_inputs(world.project)
    ask(world.project, *PACKS["DUC 2006"])
    assert agreement_inputs(world.project) != before
