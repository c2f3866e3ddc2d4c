from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.trials.report import Move, SystemEffect, TrialCost, trials
from annotation.trials.services import decide_trial
from evaluation.statistics import MeanDifference, mean_difference
from tests.annotation.trials.given import again, answer_all, answered, start

if TYPE_CHECKING:
    from annotation.trials.report import Trial
    from tests.annotation.cast import World


@pytest.fixture(autouse=True)
def _answered(world: World) -> None:
    answered(world)


def shown(world: World) -> Trial:
    (found,) = trials(world.project)
    return found


def cost(world: World) -> TrialCost:
    found = shown(world).cost
    assert found is not None
    return found


def test_nothing_is_measured_before_all_is_answered(world: World) -> None:
    trial = start(world)
    first, *others = trial.answers.all()
    for row in others:
        again(world, row, "no")
    assert (shown(world).answered, shown(world).asked, shown(world).cost) == (29, 30, None)
    again(world, first, "no")
    assert (shown(world).waiting, cost(world).new, cost(world).old) == (0, 20, 10)


def test_the_cost_is_the_change_beyond_asking_twice(world: World) -> None:
    trial = start(world)
    answer_all(world, trial, new=8, old=1)
    found = cost(world)
    # 8 of 20 changed under the new guidelines, 1 of 10 under the old ones: .4 - .1.
    assert (found.changed.first, found.changed.second) == pytest.approx((0.4, 0.1))
    assert found.changed.difference == pytest.approx(0.3)
    rows = list(trial.answers.select_related("check_row__document_set"))
    new, old = (
        [
            (row.check_row.document_set.external_id, float(row.label == "no"))
            for row in rows
            if row.is_control is side
        ]
        for side in (False, True)
    )
    assert found.changed == mean_difference(new, old)
    assert found.moves == (Move("yes", "no", 8, 1),)
    assert found.sentence.startswith("The new guidelines change about 30 of 100 answers")


def test_documents_of_a_group_count_as_one(world: World) -> None:
    trial = start(world)
    answer_all(world, trial, new=8, old=1)
    assert cost(world).changed.low is not None
    for row in world.sets.values():
        row.group = "one"
        row.save(update_fields=["group"])
    assert cost(world).changed.low is None
    assert "too few document sets" in cost(world).sentence


@pytest.mark.parametrize(
    ("difference", "low", "high", "says"),
    [
        (0.12, 0.03, 0.21, "change about 12 of 100 answers: at least 3 and at most 21."),
        (
            0.07,
            -0.03,
            0.15,
            "change about 7 of 100 answers, or none: with so few answers, anything from 0 to 15 is",
        ),
        (-0.05, -0.12, 0.02, "change no answers, or few: up to 2 of 100 is possible."),
        (0.07, None, None, "change about 7 of 100 answers. There are too few document sets"),
    ],
)
def test_the_sentence_says_what_can_be_chance(
    difference: float, low: float | None, high: float | None, says: str
) -> None:
    found = TrialCost(40, 20, MeanDifference(0.0, 0.0, difference, low, high), (), ())
    assert found.sentence.startswith(f"The new guidelines {says}")


def test_only_an_interval_without_0_is_beyond_chance() -> None:
    def effect(system: str, low: float | None, high: float | None) -> SystemEffect:
        return SystemEffect(system, 9, MeanDifference(0.0, 0.0, 0.2, low, high), 0.5, 0.7)

    effects = (
        effect("up", 0.1, 0.3),
        effect("down", -0.3, -0.1),
        effect("both", -0.1, 0.5),
        effect("few", None, None),
    )
    found = TrialCost(
        40, 20, MeanDifference(0.0, 0.0, 0.0), (), (*effects, SystemEffect("none", 1, None, None, None))
    )
    assert found.certain == ["up", "down"]


def test_unsure_counts_as_a_change_but_not_as_yes(world: World) -> None:
    trial = start(world)
    for row in trial.answers.all():
        again(world, row, "yes" if row.is_control else "unsure")
    found = cost(world)
    assert found.moves == (Move("yes", "unsure", 20, 0),)
    assert {row.change.difference for row in found.systems if row.change} == {-1.0}


def test_a_systems_average_is_expected_to_move_with_its_answers(world: World) -> None:
    trial = start(world, size=48, seed=7)
    for row in trial.answers.select_related("check_row__summary__system"):
        is_changed = not row.is_control and row.check_row.summary.system.name == "alder"
        again(world, row, "no" if is_changed else "yes")
    # All of alder's yes changed under the new guidelines and none under the old ones; birch's did not change.
    found = {row.system: row for row in cost(world).systems}
    assert {name: row.change and row.change.difference for name, row in found.items()} == {
        "alder": -1.0,
        "birch": 0.0,
    }
    assert {name: row.expected for name, row in found.items()} == {
        "alder": 0.0,
        "birch": found["birch"].average,
    }
    assert [row.system for row in cost(world).systems] == ["birch", "alder"]
    assert cost(world).is_reordered is ((found["alder"].average or 0) > (found["birch"].average or 0))


def test_answers_that_count_are_not_added_twice(world: World) -> None:
    trial = start(world)
    answer_all(world, trial, new=8, old=1)
    assert all(row.average is not None for row in cost(world).systems)
    decide_trial(trial=trial, by=world.olga, decision="mix")
    assert shown(world).decision == "mix"
    assert [(row.average, row.expected) for row in cost(world).systems] == [(None, None)] * 2
    assert cost(world).changed.difference == pytest.approx(0.3)
