"""The command `leaderboard`."""

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.models import DocumentSet, Score, Summary
from annotation.reviewing.services.review import override
from annotation.sampling.services.sample_checks import sample_checks
from tests.annotation.cast import World


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("leaderboard", "harbour", *arguments, stdout=out)
    return out.getvalue()


def test_the_table_worked_out(world: World) -> None:
    # One set is judged, so there is no interval; X at 2/3: 2/3 * 0.75 + 1/3 * 0.35 = 0.616667 of alder,
    # 1/3 * 0.45 = 0.15 of birch.
    title, *lines = run().splitlines()[:4]
    assert title == "Target length 20"
    # Nothing tells the two apart.
    assert [line[:56] for line in lines] == [
        "rank  system  coverage  interval  group  judge  human  h",
        "   1  alder      0.750         -      a  0.750      -   ",
        "   2  birch      0.000         -      a  0.000      -   ",
    ]
    assert [line[55:] for line in lines] == [
        "human share  alignment    brevity  X a=1  X a=2/3       n  unscored",
        "      0.000          -  0.350 (2)  0.750    0.617  1 of 2         0",
        "      0.000          -  0.450 (2)  0.000    0.150  1 of 2         0",
    ]


def test_an_interval_stands_beside_its_mean(world: World) -> None:
    for number in range(4):
        more = DocumentSet.objects.create(project=world.project, external_id=f"more {number}")
        text = Summary.objects.create(
            document_set=more, system=world.systems["alder"], is_peer=True, target_words=20, text="It is old."
        )
        Score.objects.create(
            project=world.project, summary=text, coverage=(0.7, 0.8)[number % 2], peer_words=3
        )
    # With the port's .75 five sets, the fewest that an interval is made of.
    [line] = [line for line in run().splitlines() if " alder " in line]
    low, high = line.partition("[")[2].partition("]")[0].split(", ")
    assert 0.7 <= float(low) < 0.75 < float(high) <= 0.8


def test_the_table_says_what_its_intervals_cover(world: World) -> None:
    said = " ".join(run().split())
    assert "sampling of documents only; judge error not included" in said
    assert "10,000 bootstrap samples, seed 0" in said
    assert "Signature coverdict|v:" in said


def test_target_lengths_that_rest_on_others_say_so_each(world: World) -> None:
    Summary.objects.filter(pk=world.peers["port", "birch"].pk).update(target_words=10)
    Score.objects.filter(summary=world.peers["port", "birch"]).update(human_share=1.0)
    said = " ".join(run().split())
    assert "target length 10: people decided everything it uses; sampling of documents only; " in said
    assert "target length 20: sampling of documents only; judge error not included." in said


def test_each_target_length_has_its_table(world: World) -> None:
    Summary.objects.filter(pk=world.peers["bridge", "alder"].pk).update(target_words=None)
    lines = run().splitlines()
    assert [line for line in lines if "arget length" in line] == ["Target length 20", "No target length"]


def test_json_has_full_precision(world: World) -> None:
    board = json.loads(run("--format", "json"))
    alder = board["tables"][0]["rows"][0]
    assert (board["project"], board["seed"], board["tables"][0]["target_words"]) == ("harbour", 0, 20)
    assert (alder["system"], alder["rank"], alder["n"], alder["summaries"]) == ("alder", 1, 1, 2)
    assert alder["scores"]["claim_coverage"]["mean"] == pytest.approx(2 / 3, abs=1e-15)
    assert alder["scores"]["alignment"] == {"mean": None, "low": None, "high": None, "n": 0, "left_out": 2}


def test_a_project_without_scores_says_so(world: World) -> None:
    Score.objects.all().delete()
    assert run() == "harbour has no scored summaries yet.\n"


def test_systems_can_be_ranked_by_another_score(world: World) -> None:
    # Brevity is known of both sets, 0.45 of birch and 0.35 of alder, so birch is first, with two sets.
    _, heading, first, second = run("--score", "brevity").splitlines()[:4]
    assert heading.split()[:6] == ["rank", "system", "brevity", "interval", "group", "coverage"]
    assert first.split()[:3] == ["1", "birch", "0.450"]
    assert second.split()[:3] == ["2", "alder", "0.350"]
    assert first.split()[-2:] == ["2", "0"]
    assert "0.000 (1)" in first


def test_a_score_that_is_none_is_refused(world: World) -> None:
    with pytest.raises(CommandError, match="invalid choice: 'bleu'"):
        run("--score", "bleu")


def test_the_estimate_has_a_column_where_there_is_one(world: World) -> None:
    sample_checks(project=world.project, by=world.mona, method="uniform", share=1.0)
    for system in ("alder", "birch"):
        for check in world.checks(system):
            override(check=check, by=world.rex, label="yes")
    _, heading, first, *_ = run().splitlines()
    assert "estimate" in heading
    assert "1.000" in first
    assert "estimate" in run("--score", "coverage_estimate").splitlines()[1]
