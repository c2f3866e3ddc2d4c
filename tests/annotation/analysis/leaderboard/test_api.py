"""The leaderboard over the API, and the same numbers on the page, in the API and in the command."""

from __future__ import annotations

import json
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import call_command

from annotation.models import Score
from annotation.models.score import new_revision
from annotation.reviewing.services.review import override
from annotation.sampling.services.sample_checks import sample_checks
from tests.annotation.exports.reading import exported

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rest_framework.test import APIClient

    from tests.annotation.cast import World

    Client = Callable[[str], APIClient]

HERE = "/api/v1/projects/harbour/"


def judge_the_bridge(world: World) -> None:
    """Alder covers a quarter of the second set and birch half of it, so that there is something to compare."""
    for system, coverage in (("alder", 0.25), ("birch", 0.5)):
        Score.objects.filter(summary=world.summaries["bridge", system]).update(
            coverage=coverage, coverage_judge=coverage, revision=new_revision()
        )


def answer_a_sample(world: World) -> None:
    sample_checks(project=world.project, by=world.mona, method="uniform", share=1.0)
    for system in ("alder", "birch"):
        for check in world.checks(system):
            override(check=check, by=world.rex, label="yes")


def test_every_door_tells_the_same_numbers(world: World, client_of: Client, tmp_path: Path) -> None:
    answer_a_sample(world)
    judge_the_bridge(world)
    out = StringIO()
    call_command("leaderboard", "harbour", "--format", "json", stdout=out)
    by_command = {row["system"]: row["scores"] for row in json.loads(out.getvalue())["tables"][0]["rows"]}
    (table,) = client_of("vic").get(f"{HERE}leaderboard/").json()["tables"]
    by_api = {row["system"]: row["scores"] for row in table["rows"]}
    by_export: dict[str, dict[str, Any]] = {"alder": {}, "birch": {}}
    for row in exported(world.project, "systems", tmp_path / "systems.jsonl"):
        by_export[row["system"]][row["score"]] = {name: row[name] for name in ("mean", "low", "high", "n")}
    page = client_of("vic").get("/p/harbour/scores/file/?by=coverage&format=json").json()
    by_page = {(row["system"], row["score"]): (row["mean"], row["low"], row["high"]) for row in page}
    assert by_command["alder"]["coverage_human"]["mean"] == 1.0
    for system, scores in by_command.items():
        for name, average in scores.items():
            told = (average["mean"], average["low"], average["high"])
            assert by_api[system][name] == average
            assert by_export[system][name] == pytest.approx(
                {key: average[key] for key in by_export[system][name]}
            )
            assert by_page[system, name] == told


def test_the_leaderboard_says_how_sure_its_order_is(world: World, client_of: Client) -> None:
    judge_the_bridge(world)
    board = client_of("vic").get(f"{HERE}leaderboard/").json()
    (table,) = board["tables"]
    assert (board["is_stale"], board["made_at"] is not None) == (False, True)
    # Alder .75 and .25, birch 0 and .5; of four flips two are as far apart, so p cannot be below .5.
    ranking = table["ranking"]
    front = {"level": ["alder"], "others": 1, "sets": 2, "may_be_best": ["alder", "birch"]}
    front["untested"] = ["birch"]
    assert (ranking["front"], ranking["level"]) == (front, 0.05)
    assert (ranking["groups"], ranking["places"]["alder"]["letters"]) == ([["alder", "birch"]], "a")
    assert table["headline"] == (
        "alder is ahead, judged by an unchecked judge. There are too few document sets to test it."
    )
    assert table["bases"]["coverage"] == {
        "column": "coverage",
        "name": "judge only, unchecked",
        "caption": "The intervals leave out the judge's mistakes, so they are too narrow.",
        "is_unchecked": True,
        "right": 0,
        "answered": 0,
    }
    (pair,) = ranking["compared"]
    # Differences .75 and -.25: the mean is .25, and of the four flips of signs two give .5 and none less than .25.
    assert (pair["first"], pair["second"], pair["sets"], pair["difference"]) == ("alder", "birch", 2, 0.25)
    assert (pair["p"], pair["adjusted_p"], pair["holds"]) == (1.0, 1.0, False)
