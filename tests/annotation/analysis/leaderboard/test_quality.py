"""Mean answers to the quality questions, by system and target."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils import timezone

from annotation.analysis.leaderboard.quality import QualityTable, quality_tables
from annotation.models import Assignment, Project, Rating
from annotation.projects.services.set_criteria import set_criteria
from evaluation.metrics import Criterion
from tests.annotation.assigned import sit
from tests.annotation.cast import World


def asked(world: World) -> Project:
    set_criteria(
        world.project,
        [
            Criterion("clear", "Is it clear?", points=((0, "no"), (1, "partly"), (2, "yes"))),
            Criterion("short", "Is it short?", "yes_no"),
        ],
    )
    return world.project


def answer(world: World, assignment: Assignment, system: str, answers: Mapping[str, int]) -> None:
    peer = world.peers[assignment.document_set.external_id, system]
    for name, value in answers.items():
        criterion = world.project.criteria.get(name=name, retired_at=None)
        rows = Rating.objects.filter(assignment=assignment, summary=peer, criterion=criterion)
        Rating.objects.create(
            assignment=assignment,
            summary=peer,
            criterion=criterion,
            role="assessor",
            person=assignment.assessor,
            value=value,
            version=rows.count() + 1,
        )


def close(*assignments: Assignment) -> None:
    Assignment.objects.filter(pk__in=[assignment.pk for assignment in assignments]).update(
        closed_at=timezone.now()
    )


def means(table: QualityTable) -> dict[str, list[tuple[float | None, int]]]:
    return {row.system: [(each.mean, each.n) for each in row.means] for row in table.rows}


def test_assessors_then_summaries_then_sets(world: World) -> None:
    project = asked(world)
    ana, ben, bridge = sit(world, "ana", "port"), sit(world, "ben", "port"), sit(world, "ana", "bridge")
    answer(world, ana, "alder", {"clear": 2, "short": 1})
    answer(world, ben, "alder", {"clear": 1})
    answer(world, bridge, "alder", {"clear": 0, "short": 0})
    answer(world, ana, "birch", {"clear": 2})
    close(ana, ben, bridge)
    (table,) = quality_tables(project)
    assert (table.target_words, [each.name for each in table.criteria]) == (20, ["clear", "short"])
    # alder, clear: port (2 + 1) / 2 = 1.5, bridge 0: (1.5 + 0) / 2 = .75; short: (1 + 0) / 2 = .5.
    assert means(table) == {"alder": [(0.75, 2), (0.5, 2)], "birch": [(2, 1), (None, 0)]}
    assert [row.summaries for row in table.rows] == [2, 1]


def test_open_work_and_earlier_answers_count_for_nothing(world: World) -> None:
    project = asked(world)
    ana, ben = sit(world, "ana", "port"), sit(world, "ben", "port")
    answer(world, ana, "alder", {"clear": 0})
    answer(world, ana, "alder", {"clear": 2})
    answer(world, ben, "alder", {"clear": 0})
    close(ana)
    (table,) = quality_tables(project)
    assert means(table) == {"alder": [(2, 1), (None, 0)]}


def test_targets_do_not_mix(world: World) -> None:
    project = asked(world)
    peer = world.peers["bridge", "alder"]
    peer.target_words = 100
    peer.save(update_fields=["target_words"])
    port, bridge = sit(world, "ana", "port"), sit(world, "ana", "bridge")
    answer(world, port, "alder", {"clear": 2})
    answer(world, bridge, "alder", {"clear": 0})
    close(port, bridge)
    assert [(table.target_words, means(table)["alder"][0]) for table in quality_tables(project)] == [
        (20, (2, 1)),
        (100, (0, 1)),
    ]
    (only,) = quality_tables(project, target_words=100)
    assert only.target_words == 100
    assert quality_tables(project, target_words=None) == []


def test_answers_to_a_changed_question_do_not_mix_with_new_ones(world: World) -> None:
    project = asked(world)
    ana = sit(world, "ana", "port")
    answer(world, ana, "alder", {"clear": 2, "short": 1})
    close(ana)
    set_criteria(project, [Criterion("short", "Is it short enough?", "yes_no")])
    assert quality_tables(project) == []
    ben = sit(world, "ben", "port")
    answer(world, ben, "alder", {"short": 0})
    close(ben)
    (table,) = quality_tables(project)
    assert means(table) == {"alder": [(0, 1)]}
