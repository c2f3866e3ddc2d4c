"""When the leaderboard warns that assessors and systems may be confounded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from annotation.analysis.leaderboard.confounding import confounded_sets
from annotation.analysis.leaderboard.leaderboard import Leaderboard, leaderboard
from annotation.analysis.leaderboard.words import warnings_of
from annotation.assessing.services.assign import assign
from annotation.models import Assignment
from tests.annotation.laying import add_sets, add_system, judge_and_close

if TYPE_CHECKING:
    from tests.annotation.cast import World


def close(world: World, name: str, person: str, *systems: str) -> None:
    comparisons = [world.comparison(name, system) for system in systems] if systems else None
    assessor = getattr(world, person)
    sitting = assign(document_set=world.sets[name], assessor=assessor, by=None, comparisons=comparisons)
    judge_and_close(sitting)


def test_assessors_who_judged_the_same_confound_nothing(world: World) -> None:
    for person in ("ana", "ben"):
        close(world, "port", person)
    close(world, "bridge", "ana", "alder")
    assert confounded_sets(world.project) == 0
    assert warnings_of(leaderboard(world.project)) == []


def test_assessors_who_judged_different_summaries_of_a_set_are_warned_of(world: World) -> None:
    close(world, "port", "ana", "alder")
    assert confounded_sets(world.project) == 0
    close(world, "port", "ben", "birch")
    assert confounded_sets(world.project) == 1
    (warning,) = warnings_of(leaderboard(world.project))
    assert "may be confounded" in warning
    assert "1 document set " in warning


def test_one_who_judged_only_part_of_what_the_other_did_counts_too(world: World) -> None:
    close(world, "port", "ana")
    close(world, "port", "ben", "birch")
    assert confounded_sets(world.project) == 1


def test_open_work_and_hidden_repeats_count_for_nothing(world: World) -> None:
    close(world, "port", "ana", "alder")
    assign(
        document_set=world.sets["port"],
        assessor=world.ben,
        by=None,
        comparisons=[world.comparison("port", "birch")],
    )
    assert confounded_sets(world.project) == 0
    world.project.repeat_share = 0.3
    world.project.save(update_fields=["repeat_share"])
    add_system(world, "cedar")
    add_sets(world, ["quay"])
    for person in ("ana", "ben"):
        close(world, "quay", person)
    assert Assignment.objects.filter(repeat_of__isnull=False).count() == 2
    assert confounded_sets(world.project) == 0


def test_nothing_is_said_where_there_is_nothing_to_say() -> None:
    board = Leaderboard(project="p", signature="s", tables=())
    assert warnings_of(board) == []
    (warning,) = warnings_of(replace(board, confounded_sets=3))
    assert "3 document sets" in warning
