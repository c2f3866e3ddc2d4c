"""Scores under other choices are those that the project would have, and nothing is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from annotation.analysis.sensitivity.what_if import what_if
from annotation.analysis.sensitivity.words import told
from annotation.models import Judge, Project, PublishedPercent, PublishedScore, Score, Verdict
from annotation.reviewing.services.review import override
from annotation.scoring.rescore import rescore
from tests.annotation.cast import add_imported_verdict
from tests.annotation.sitting import finish, say, sit

if TYPE_CHECKING:
    from tests.annotation.cast import World

pytestmark = pytest.mark.django_db


def table_of(world: World) -> dict[str, Any]:
    (table,) = told(what_if(world.project))["targets"]
    found: dict[str, Any] = table
    return found


def coverage_of(world: World) -> float | None:
    return Score.objects.get(summary=world.peers["port", "alder"]).coverage


def judge_all(world: World, *people: str) -> None:
    for place, name in enumerate(people):
        sitting = sit(world, name, "port")
        for system in ("alder", "birch"):
            say(sitting, system, (20 * place, [1] if place else [], 5), (20, [1], 5))
        finish(sitting)


def test_the_blend_is_scored_at_both_ends(world: World) -> None:
    judge_all(world, "ana")
    table = table_of(world)
    # Alder by claims: (.5 + 1) / 2; by Ana: (0 + .2) / 2.
    assert table["blend"]["at_zero"]["alder"] == pytest.approx(0.75)
    assert table["blend"]["at_one"]["alder"] == pytest.approx(0.1)


def test_between_the_ends_the_project_would_score_the_same(world: World) -> None:
    judge_all(world, "ana")
    orders = {order["name"]: order["means"] for order in table_of(world)["blend"]["orders"]}
    Project.objects.filter(pk=world.project.pk).update(blend="weighted", blend_human_weight=0.25)
    world.project.refresh_from_db()
    rescore(project=world.project)
    assert coverage_of(world) == pytest.approx(orders["0.25"]["alder"])


def test_without_somebody_the_scores_are_those_of_the_others(world: World) -> None:
    judge_all(world, "ana", "ben")
    without = {order["name"]: order["means"]["alder"] for order in table_of(world)["people"]}
    # Ana gave 0 and 20, Ben 20 and 20.
    assert without == pytest.approx({"ana": 0.2, "ben": 0.1})


def test_without_a_reviewer_their_verdicts_are_as_if_never_given(world: World) -> None:
    override(check=world.check("birch", 3), by=world.rex, label="yes")
    (rex,) = table_of(world)["people"]
    assert (rex["name"], rex["means"]["birch"]) == ("rex", 0.0)
    assert table_of(world)["present"]["means"]["birch"] == pytest.approx(0.5)


def answer_as(world: World, judge: Judge, checks: int) -> None:
    rows = [*world.checks("alder"), *world.checks("birch")][:checks]
    Verdict.objects.bulk_create(
        Verdict(check_row=check, source="judge", judge=judge, origin_name="other|v:1", label="no")
        for check in rows
    )


def test_another_judge_that_answered_everything_is_an_order_of_its_own(world: World) -> None:
    other = Judge.objects.create(name="other", kind=Judge.Kind.LEXICAL)
    answer_as(world, other, 6)
    (order,) = table_of(world)["judges"]
    in_place = "other in lexical's place, keeping people's answers"
    assert (order["name"], order["means"]) == (in_place, {"alder": 0.0, "birch": 0.0})
    world.project.refresh_from_db()
    assert world.project.deciding_judge == world.judge


def test_what_people_answered_is_kept_beside_another_judge_and_left_out_where_it_is_alone(
    world: World,
) -> None:
    other = Judge.objects.create(name="other", kind=Judge.Kind.LEXICAL)
    answer_as(world, other, 6)
    # One of the two claims of birch's first unit; its second unit stays at no: (1/2 + 0) / 2.
    override(check=world.check("birch", 1), by=world.rex, label="yes")
    kept, alone = (each for each in table_of(world)["judges"] if each["name"].startswith("other"))
    assert (kept["means"]["birch"], alone["means"]["birch"]) == (pytest.approx(0.25), 0.0)


def test_a_judge_that_answered_a_part_is_named_and_left_out(world: World) -> None:
    other = Judge.objects.create(name="other", kind=Judge.Kind.LEXICAL)
    answer_as(world, other, 4)
    found = told(what_if(world.project))
    assert (found["incomplete"], found["checks"]) == ([{"judge": "other", "answered": 4}], 6)
    assert found["targets"][0]["judges"] == []


def test_nothing_is_written(world: World) -> None:
    judge_all(world, "ana", "ben")
    before = list(Score.objects.order_by("pk").values())
    told(what_if(world.project))
    assert list(Score.objects.order_by("pk").values()) == before


def test_without_somebody_named_in_an_import_their_verdicts_are_as_if_never_given(world: World) -> None:
    before = table_of(world)["present"]["means"]["birch"]
    add_imported_verdict(world.check("birch", 3), "yes")
    (gold,) = table_of(world)["people"]
    assert table_of(world)["present"]["means"]["birch"] > before
    assert (gold["name"], gold["means"]["birch"]) == ("gold.jsonl", pytest.approx(before))


def test_an_import_that_only_repeats_what_the_judge_said_is_not_listed(world: World) -> None:
    check = world.check("birch", 3)
    assert check.judge_label is not None
    add_imported_verdict(check, check.judge_label)
    assert table_of(world)["people"] == []


def published(world: World, assessor: str, line: int, *percents: int) -> None:
    """What an assessor of a published table gave to alder's units on the port."""
    row = PublishedScore.objects.create(
        project=world.project,
        table=PublishedScore.Table.DUC_2001,
        origin_name="see.txt",
        line=line,
        cells=[],
        assessor=assessor,
        set_name="port",
        system="alder",
    )
    PublishedPercent.objects.bulk_create(
        PublishedPercent(score=row, comparison=world.comparison("port", "alder"), unit=unit, percent=percent)
        for unit, percent in zip(world.units("port"), percents, strict=True)
    )


def test_assessors_of_published_tables_are_left_out_one_by_one(world: World) -> None:
    published(world, "A", 1, 0, 20)
    published(world, "B", 2, 100, 80)
    rescore(project=world.project)
    table = table_of(world)
    # A alone (0 + .2) / 2, B alone (1 + .8) / 2; both together half of each.
    assert table["present"]["means"]["alder"] == pytest.approx(0.5)
    assert {order["name"]: order["means"]["alder"] for order in table["people"]} == pytest.approx(
        {"import:see.txt A": 0.9, "import:see.txt B": 0.1}
    )
