"""Estimates and calls of runs over the API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from annotation.judging.services.start_run import start_run
from annotation.models import JudgeCall, Run
from tests.annotation.api.routes import PREFIX
from tests.annotation.cast import World

if TYPE_CHECKING:
    from tests.annotation.conftest import ApiDoor

PROJECT = f"{PREFIX}projects/harbour/"


def test_a_run_is_estimated_before_it_starts(world: World, client_of: ApiDoor) -> None:
    told = (
        client_of("mona").get(f"{PROJECT}runs/estimate/", {"judge": "lexical", "metrics": "coverage"}).json()
    )
    # Two sets with two peer summaries each; a judge without a server makes no calls and has no price.
    assert (told["document_sets"], told["summaries"], told["calls"], told["cost"]) == (2, 4, 0, None)
    refused = client_of("mona").get(f"{PROJECT}runs/estimate/", {"judge": "nobody"})
    assert (refused.status_code, refused.json()["error"]["field"]) == (422, "judge")


def test_the_calls_of_a_run_are_told_word_for_word(world: World, client_of: ApiDoor) -> None:
    run = start_run(project=world.project, judge=world.judge, by=world.mona)
    other = Run.objects.create(project=world.project, judge=world.judge, metrics=["alignment"])
    for number, of in enumerate((run, run, other)):
        JudgeCall.objects.create(
            judge=world.judge,
            run=of,
            key=f"k{number}",
            step="cover",
            prompt_version="v",
            request="{}",
            reply=f"{number}",
        )
    assert client_of("rex").get(f"{PROJECT}runs/{run.public_id}/calls/").status_code == 403
    told = client_of("mona").get(f"{PROJECT}runs/{run.public_id}/calls/").json()
    assert [call["reply"] for call in told["results"]] == ["1", "0"]
