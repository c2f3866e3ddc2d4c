import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.models import DocumentSet, Score, Summary
from tests.annotation.cast import World


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("leaderboard", "harbour", *arguments, stdout=out)
    return out.getvalue()


def test_the_table_worked_out(world: World) -> None:
    # One set is judged, so there is no interval. Alder's summaries have 13 words each, birch's 11.
    title, *lines = run().splitlines()[:5]
    assert title == "Target length 20"
    assert lines[:3] == [
        "rank  system  coverage  interval  length  checked by people",
        "   1  alder      0.750         -      13                 0%",
        "   2  birch      0.000         -      11                 0%",
    ]
    said = " ".join(run().split())
    assert "alder is ahead (75 %, next 0 %), judged by an unchecked judge. There are too few document" in said
    assert (
        "Coverage: judge only, unchecked. The intervals leave out the judge's mistakes, so they are too narrow."
        in said
    )


def test_an_interval_stands_beside_its_mean(world: World) -> None:
    for number in range(4):
        more = DocumentSet.objects.create(project=world.project, external_id=f"more {number}")
        text = Summary.objects.create(
            document_set=more,
            system=world.systems["alder"],
            is_summary=True,
            target_words=20,
            text="It is old.",
        )
        Score.objects.create(
            project=world.project, summary=text, coverage=(0.7, 0.8)[number % 2], summary_words=3
        )
    # With the .75 of "port", there are five sets, the fewest that give an interval.
    [line] = [line for line in run().splitlines() if " alder " in line and "[" in line]
    low, high = line.partition("[")[2].partition("]")[0].split(", ")
    assert 0.7 <= float(low) < 0.75 < float(high) <= 0.8


def test_a_project_without_scores_says_so(world: World) -> None:
    Score.objects.all().delete()
    assert run() == "harbour has no scored summaries yet.\n"


def test_a_score_that_is_none_is_refused(world: World) -> None:
    with pytest.raises(CommandError, match="There is no score 'bleu'"):
        run("--score", "bleu")


def test_each_target_length_has_its_table(world: World) -> None:
    Summary.objects.filter(pk=world.summaries["bridge", "alder"].pk).update(target_words=None)
    lines = run().splitlines()
    assert [line for line in lines if "arget length" in line] == ["Target length 20", "No target length"]


def test_json_has_full_precision(world: World) -> None:
    board = json.loads(run("--format", "json"))
    alder = board["tables"][0]["rows"][0]
    assert (board["project"], board["seed"], board["tables"][0]["target_words"]) == ("harbour", 0, 20)
    assert (alder["system"], alder["rank"], alder["n"], alder["summaries"]) == ("alder", 1, 1, 2)
    assert alder["scores"]["claim_coverage"]["mean"] == pytest.approx(2 / 3, abs=1e-15)
    assert alder["scores"]["alignment"] == {"mean": None, "low": None, "high": None, "n": 0, "left_out": 2}


def test_systems_can_be_ranked_by_another_score(world: World) -> None:
    # Brevity is known for both sets: 0.45 for birch and 0.35 for alder, so birch is first, with two sets.
    _, heading, first, second = run("--score", "brevity").splitlines()[:4]
    assert heading.split()[:6] == ["rank", "system", "brevity", "interval", "coverage", "interval"]
    assert first.split()[:3] == ["1", "birch", "0.450"]
    assert second.split()[:3] == ["2", "alder", "0.350"]
