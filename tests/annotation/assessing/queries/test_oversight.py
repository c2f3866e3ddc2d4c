"""How far the work is: by set, by person, by system and target, and closed sittings one by one."""

from __future__ import annotations

import pytest

from annotation.assessing.queries.oversight import (
    SetStanding,
    closed_rows,
    closed_sittings,
    comparable_sets,
    judged_systems,
    person_rows,
    set_rows,
    system_rows,
)
from annotation.assessing.services.assign import assign
from annotation.assessing.services.assignment_orders import AssignmentOrder, Way
from annotation.assessing.services.plan_assignments import carry_out
from annotation.assessing.services.recall_sitting import recall
from annotation.models import Comparison, DocumentSet, Sitting
from tests.annotation.cast import PEERS, World, finish
from tests.annotation.laying import add_system, only_these_sets
from tests.annotation.sitting import repeat, say, sit


def row_of(world: World, name: str, viewer: str = "mona") -> SetStanding:
    rows = set_rows(world.project, [world.sets[name]], viewer=getattr(world, viewer))
    return rows[0]


def close_port(world: World, name: str) -> Sitting:
    sitting = sit(world, name, "port")
    for system in PEERS:
        say(sitting, system, (60, [1], 60_000), (20, [2], 60_000))
    return finish(sitting)


def test_a_set_counts_its_sittings_and_the_units_of_all_of_them(world: World) -> None:
    close_port(world, "ben")
    say(sit(world, "ana", "port"), "alder", (60, [1], 0))
    carry_out(project=world.project, order=AssignmentOrder(way=Way.QUEUE, seed=1, per_set=3), by=world.mona)
    row = row_of(world, "port")
    # The queue wanted three for each set, and two were there. Each sitting has two comparisons of two units.
    assert (row.waiting, row.open, row.closed) == (1, 1, 1)
    assert (row.judged, row.to_judge) == (5, 12)
    assert row.share == pytest.approx(5 / 12)
    bridge = row_of(world, "bridge")
    assert (bridge.waiting, bridge.sittings, bridge.judged, bridge.to_judge) == (3, 3, 0, 12)


def test_what_was_taken_away_does_not_count(world: World) -> None:
    sitting = sit(world, "ana", "port")
    say(sitting, "alder", (60, [1], 0))
    recall(sitting=sitting, by=world.mona)
    row = row_of(world, "port")
    assert (row.sittings, row.judged, row.to_judge, row.share) == (0, 0, 0, None)


def test_repeats_are_work_like_any(world: World) -> None:
    repeat(sit(world, "ana", "port"), "alder")
    assert row_of(world, "port").to_judge == 6


def test_whoever_has_a_set_open_is_not_told_its_units(world: World) -> None:
    sitting = sit(world, "ana", "port")
    row = row_of(world, "port", viewer="ana")
    assert (row.open, row.judged, row.to_judge, row.share) == (1, None, None, None)
    assert row_of(world, "bridge", viewer="ana").to_judge == 0
    for system in PEERS:
        say(sitting, system, (60, [1], 0), (20, [2], 0))
    finish(sitting)
    assert row_of(world, "port", viewer="ana").to_judge == 4


def test_sets_without_anything_to_judge_are_left_out(world: World) -> None:
    DocumentSet.objects.create(project=world.project, external_id="empty")
    assert {row.external_id for row in comparable_sets(world.project)} == {"port", "bridge"}


def test_a_person_with_what_they_did_and_what_is_worth_a_look(world: World) -> None:
    close_port(world, "ana")
    sit(world, "ana", "bridge")
    rows = {row.load.person: row for row in person_rows(world.project, with_judgments=True)}
    assert set(rows) == {"ana", "ben"}
    ana = rows["ana"]
    assert (ana.load.open, ana.load.drafts, ana.load.closed, ana.load.judged_units) == (1, 0, 1, 4)
    # Four units of a minute each are sixty an hour.
    assert ana.load.hours == pytest.approx(4 / 60)
    assert ana.load.units_per_hour == pytest.approx(60)
    assert ana.agreement is not None
    assert ana.flags is not None
    assert (ana.agreement.items, ana.flags.units, ana.flags.given_again) == (0, 4, 0)
    assert (rows["ben"].load.units_per_hour, rows["ben"].load.closed) == (None, 0)


def test_without_the_right_to_them_judgments_are_not_even_looked_up(world: World) -> None:
    close_port(world, "ana")
    for row in person_rows(world.project, with_judgments=False):
        assert (row.agreement, row.flags) == (None, None)


def test_systems_at_each_target(world: World) -> None:
    only_these_sets(world, ["one", "two"], targets=(100, 10))
    ana = sit(world, "ana", "one")
    for assignment in ana.assignments.select_related("comparison__model"):
        assert assignment.comparison is not None
        assignment.unit_judgments.create(unit=assignment.comparison.model.units.get(), percent=20, marks=[1])
    finish(ana)
    assign(document_set=world.sets["one"], assessor=world.ben, by=None)
    chosen = Comparison.objects.filter(
        peer__document_set=world.sets["two"], peer__system__name="birch", peer__target_words=10
    )
    assign(document_set=world.sets["two"], assessor=world.ben, by=None, comparisons=list(chosen))
    systems = list(judged_systems(world.project).order_by("name"))
    alder, birch = system_rows(systems)
    assert (alder.system, [row.target_words for row in alder.targets]) == ("alder", [10, 100])
    # Set one was closed by Ana and is open at Ben's; of set two only birch's headline is given to anybody.
    counts = [(row.comparisons, row.given, row.closed, row.judgments) for row in alder.targets]
    assert counts == [(2, 1, 1, 1), (2, 1, 1, 1)]
    counts = [(row.comparisons, row.given, row.closed, row.judgments) for row in birch.targets]
    assert counts == [(2, 2, 1, 1), (2, 1, 1, 1)]
    assert birch.targets[0].share == 0.5


def test_each_assessor_who_closed_a_comparison_is_a_judgment_and_repeats_are_none(world: World) -> None:
    sitting = sit(world, "ana", "port")
    repeat(sitting, "alder")
    for system in PEERS:
        say(sitting, system, (60, [1], 0), (20, [2], 0))
    say(sitting, "alder", (60, [1], 0), (20, [2], 0), again=True)
    finish(sitting)
    close_port(world, "ben")
    (alder,) = system_rows([world.systems["alder"]])
    (target,) = alder.targets
    assert (target.comparisons, target.closed, target.judgments) == (2, 1, 2)


def test_systems_without_peers_are_left_out(world: World) -> None:
    add_system(world, "cedar")
    assert [row.name for row in judged_systems(world.project)] == ["alder", "birch"]


def test_closed_sittings_with_their_time(world: World) -> None:
    close_port(world, "ana")
    sit(world, "ben", "port")
    (sitting,) = closed_sittings(world.project).select_related("assessor", "document_set")
    (row,) = closed_rows([sitting])
    assert (row.assessor, row.document_set, row.closed_at) == ("ana", "port", sitting.closed_at)
    assert (row.effort.active_ms, row.effort.seconds_per_unit, row.flags.summaries) == (240_000, 60, 2)
    assert not closed_sittings(world.project, person="ben").exists()
