import json
from typing import Any

import pytest
from django.db import connection

from annotation.analysis.leaderboard.leaderboard import Leaderboard, leaderboard
from annotation.core.facts import plain, read
from annotation.core.refusals import Invalid
from annotation.models import Score, Summary
from tests.annotation.cast import World
from tests.annotation.mixing import mix_summarization


def test_the_world_worked_out(world: World) -> None:
    board = leaderboard(world.project)
    (table,) = board.tables
    assert table.target_words == 20
    alder, birch = table.rows
    # "bridge" is not judged, so coverage is that of "port": 0.75 and 0. Brevity is known for both sets: alder's 13
    # words give (20 - 13) / 20 = 0.35, birch's 11 words 0.45.
    assert [(row.rank, row.system, row.scores["coverage"].mean) for row in table.rows] == [
        (1, "alder", 0.75),
        (2, "birch", 0.0),
    ]
    assert (alder.n, alder.summaries, alder.document_sets, alder.scores["coverage"].n) == (1, 2, 2, 1)
    assert alder.scores["coverage"].left_out == 1
    assert alder.scores["brevity"].mean == pytest.approx(0.35)
    assert birch.scores["brevity"].mean == pytest.approx(0.45)
    assert (alder.claims, alder.claims_unscored) == (3, 0)
    assert board.signature == Score.objects.values_list("signature", flat=True)[0]


def test_means_never_cross_target_lengths(world: World) -> None:
    Summary.objects.filter(pk=world.summaries["bridge", "alder"].pk).update(target_words=10)
    Summary.objects.filter(pk=world.summaries["bridge", "birch"].pk).update(target_words=None)
    Score.objects.filter(summary=world.summaries["bridge", "alder"]).update(coverage=0.25)
    board = leaderboard(world.project)
    found = {
        table.target_words: {row.system: row.scores["coverage"].mean for row in table.rows}
        for table in board.tables
    }
    assert list(found) == [10, 20, None]
    assert found == {10: {"alder": 0.25}, 20: {"alder": 0.75, "birch": 0.0}, None: {"birch": None}}


def test_one_target_length_can_be_asked_for(world: World) -> None:
    Summary.objects.filter(pk=world.summaries["bridge", "alder"].pk).update(target_words=None)
    assert [table.target_words for table in leaderboard(world.project, target_words=20).tables] == [20]
    assert [table.target_words for table in leaderboard(world.project, target_words=None).tables] == [None]
    assert leaderboard(world.project, target_words=99).tables == ()


def test_what_rests_on_no_claims_stays_out_of_the_averages(world: World) -> None:
    vacuous = Score.objects.get(summary=world.summaries["bridge", "alder"])
    vacuous.claim_coverage = vacuous.factual_alignment = vacuous.summarization = 1.0
    vacuous.alignment, vacuous.flags = 1.0, ["no_claims"]
    vacuous.save()
    alder = leaderboard(world.project).tables[0].rows[0]
    # Claim coverage is that of "port" alone, 2 of 3.
    assert alder.scores["claim_coverage"].mean == pytest.approx(2 / 3)
    assert alder.scores["claim_coverage"].left_out == 1
    assert (alder.scores["factual_alignment"].mean, alder.scores["summarization"].mean) == (None, None)
    assert alder.scores["alignment"].mean == 1.0
    assert alder.flags["no_claims"] == 1


def test_a_summarization_of_questions_does_not_rest_on_claims(world: World) -> None:
    score = Score.objects.get(summary=world.summaries["bridge", "alder"])
    score.question_coverage, score.summarization, score.flags = 0.5, 0.5, ["no_claims"]
    score.save()
    assert leaderboard(world.project).tables[0].rows[0].scores["summarization"].mean == 0.5


def test_flags_are_counted_by_their_name(world: World) -> None:
    Score.objects.filter(summary__system=world.systems["birch"]).update(flags=["partial:2", "over_length"])
    birch = leaderboard(world.project).tables[0].rows[1]
    assert birch.flags == {"over_length": 2, "partial": 2}


def test_equal_means_share_a_rank_and_none_has_none(world: World) -> None:
    Score.objects.update(coverage=0.5)
    assert [row.rank for row in leaderboard(world.project).tables[0].rows] == [1, 1]
    Score.objects.filter(summary__system=world.systems["alder"]).update(coverage=None)
    rows = leaderboard(world.project).tables[0].rows
    assert [(row.rank, row.system) for row in rows] == [(1, "birch"), (None, "alder")]


def test_a_summary_that_comes_in_meanwhile_is_left_to_the_next_computation(world: World) -> None:
    waiting = ["late"]

    def arrive(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if 'FROM "annotation_score"' in sql and waiting:
            name = waiting.pop()
            summary = Summary.objects.create(
                document_set=world.project.document_sets.create(external_id=name),
                system=world.project.systems.create(name=name),
                is_summary=True,
                text="It came.",
                target_words=20,
            )
            Score.objects.create(
                project=world.project, summary=summary, summary_words=2, coverage=1.0, signature="x"
            )
        return execute(sql, params, many, context)

    with connection.execute_wrapper(arrive):
        (table,) = leaderboard(world.project).tables
    assert [row.system for row in table.rows] == ["alder", "birch"]
    assert [row.system for row in leaderboard(world.project).tables[0].rows] == ["late", "alder", "birch"]


def test_a_project_without_scores_has_no_tables(world: World) -> None:
    board = leaderboard(world.other_project)
    assert (board.tables, board.signature) == ((), "")


def test_systems_rank_by_the_score_asked_for(world: World) -> None:
    board = leaderboard(world.project, score="brevity")
    # Brevity is 0.45 for birch and 0.35 for alder, each over both sets.
    assert board.score == "brevity"
    assert [(row.rank, row.system, row.n) for row in board.tables[0].rows] == [
        (1, "birch", 2),
        (2, "alder", 2),
    ]


def test_a_score_that_is_none_cannot_be_ranked_by(world: World) -> None:
    with pytest.raises(Invalid, match="There is no score 'bleu'; scores are coverage"):
        leaderboard(world.project, score="bleu")


def test_a_table_names_the_scores_that_it_holds(world: World) -> None:
    held = leaderboard(world.project).tables[0].scores_held
    assert {"coverage", "brevity", "claim_coverage"} <= set(held)
    assert not {"summarization", "question_coverage", "conciseness"} & set(held)


def test_summarization_of_questions_here_and_claims_there_is_told(world: World) -> None:
    assert leaderboard(world.project).tables[0].mixed == ""
    mix_summarization(world)
    said = leaderboard(world.project).tables[0].mixed
    assert said == (
        "Summarization mixes two measures: question coverage if questions have answers (summaries: 1), otherwise claim "
        "coverage (summaries: 1). The values are not fully comparable."
    )


def test_a_summarization_that_stays_out_of_the_average_mixes_nothing(world: World) -> None:
    mix_summarization(world)
    Score.objects.filter(summary=world.summaries["port", "birch"]).update(flags=["no_claims"])
    assert leaderboard(world.project).tables[0].mixed == ""


def test_a_stored_leaderboard_is_read_back_as_it_was(world: World) -> None:
    board = leaderboard(world.project)
    assert read(Leaderboard, json.loads(json.dumps(plain(board)))) == board
