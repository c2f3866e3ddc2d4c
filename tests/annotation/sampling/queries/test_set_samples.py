"""What a draw was, and how far it is judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from annotation.assessing.services.assignment_orders import AssignmentOrder, Way
from annotation.assessing.services.plan_assignments import carry_out
from annotation.assessing.services.recall_sitting import reassign, recall
from annotation.models import Draw
from annotation.sampling.queries.set_samples import (
    SAMPLES_ON_A_PAGE,
    Chance,
    SetSample,
    set_sample_page,
    set_sample_rows,
)
from annotation.sampling.words import items_in_words
from annotation.templatetags.samples import chance_of_items
from tests.annotation.laying import add_sets, begin, judge_and_close

if TYPE_CHECKING:
    from annotation.models import Sitting
    from tests.annotation.cast import World

ALL = AssignmentOrder(way=Way.PLAN, seed=4, people=("ana",))


def told() -> SetSample:
    (row,) = set_sample_rows([Draw.objects.latest("pk")])
    return row


def made(world: World, order: AssignmentOrder) -> list[Sitting]:
    return carry_out(project=world.project, order=order, by=world.mona)


def test_everything_is_a_draw_with_the_chance_of_one(world: World) -> None:
    made(world, ALL)
    row = told()
    assert (row.frame, row.drawn, row.chances) == (2, 2, (Chance(1.0, 2),))
    assert (row.given, row.answered, row.seed, row.made_by) == (4, 0, 4, "mona")
    assert (row.is_random, chance_of_items(row), items_in_words(row.item)) == (False, "1", "document sets")


def test_strata_have_chances_of_their_own(world: World) -> None:
    # Alder and birch have 2 summaries of 20 words each, birch a third of 50 words: 1 of 2, 1 of 2, 1 of 1.
    [row] = add_sets(world, ["quay"], targets=[50])
    row.summaries.filter(system=world.systems["alder"]).delete()
    made(
        world,
        AssignmentOrder(
            way=Way.PLAN,
            seed=1,
            people=("ana",),
            method=Draw.Method.STRATIFIED,
            item=Draw.Item.COMPARISON,
            share=0.5,
        ),
    )
    draw = told()
    assert (draw.frame, draw.drawn, items_in_words(draw.item)) == (5, 3, "summaries")
    assert draw.chances == (Chance(0.5, 2), Chance(1.0, 1))
    assert chance_of_items(draw) == "0.5 to 1"


def test_what_is_submitted_counts_as_answered(world: World) -> None:
    first, _ = made(world, ALL)
    judge_and_close(first)
    assert (told().given, told().answered) == (4, 2)


def test_work_that_was_given_on_counts_once(world: World) -> None:
    first, _ = made(world, ALL)
    begin(first)
    judge_and_close(reassign(sitting=first, to=world.ben, by=world.mona))
    assert (told().given, told().answered, told().withdrawn) == (4, 2, 0)


def test_work_that_was_taken_away_is_told(world: World) -> None:
    first, _ = made(world, ALL)
    recall(sitting=first, by=world.mona)
    assert (told().given, told().withdrawn) == (2, 2)


def test_a_repeat_is_no_part_of_its_draw(world: World) -> None:
    world.project.repeat_share = 1.0
    world.project.save(update_fields=["repeat_share"])
    made(world, ALL)
    assert told().given == 4


def test_draws_come_in_pages_that_hold_each_once(world: World) -> None:
    for seed in range(SAMPLES_ON_A_PAGE + 3):
        Draw.objects.create(project=world.project, method="uniform", share=0.5, seed=seed, frame=["a", "b"])
    first = set_sample_page(world.project)
    second = set_sample_page(world.project, after=first.after)
    seeds = [row.seed for row in (*first.rows, *second.rows)]
    assert (seeds, second.after) == (list(reversed(range(SAMPLES_ON_A_PAGE + 3))), "")
