"""Mean answers to the quality questions, by system and target."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils import timezone

from annotation.analysis.leaderboard.quality import QualityTable, quality_tables
from annotation.models import Assignment, Project, SummaryJudgment
from tests.annotation.assigned import sit
from tests.annotation.cast import World


def asked(world: World) -> Project:
    world.project.question_set = Project.QuestionSet.OWN
    world.project.own_questions = [
        {"id": "clear", "text": "Is it clear?", "answers": ["no", "partly", "yes"]},
        {"id": "short", "text": "Is it short?", "answers": ["no", "yes"]},
    ]
    world.project.save(update_fields=["question_set", "own_questions"])
    return world.project


def answer(world: World, assignment: Assignment, system: str, answers: Mapping[str, int]) -> None:
    peer = world.peers[assignment.document_set.external_id, system]
    SummaryJudgment.objects.create(assignment=assignment, peer=peer, quality_answers=dict(answers))


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
    assert (table.target_words, [question.id for question in table.questions]) == (20, ["clear", "short"])
    # alder, clear: port (2 + 1) / 2 = 1.5, bridge 0: (1.5 + 0) / 2 = .75; short: (1 + 0) / 2 = .5.
    assert means(table) == {"alder": [(0.75, 2), (0.5, 2)], "birch": [(2, 1), (None, 0)]}
    assert [row.summaries for row in table.rows] == [2, 1]


def test_open_work_and_earlier_answers_count_for_nothing(world: World) -> None:
    project = asked(world)
    ana, ben = sit(world, "ana", "port"), sit(world, "ben", "port")
    SummaryJudgment.objects.create(
        assignment=ana,
        peer=world.peers["port", "alder"],
        quality_answers={"clear": 0},
        is_current=False,
        version=0,
    )
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


def test_without_questions_there_is_nothing(world: World) -> None:
    assert quality_tables(world.project) == []
