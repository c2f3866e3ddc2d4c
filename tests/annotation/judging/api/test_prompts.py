"""Prompts over the API: seen, reworded, restored; two at once; hostile words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.judging.services.change_prompt import reword_prompt
from annotation.judging.services.start_run import start_run
from annotation.models import Judge, PromptVersion
from evaluation.judging.prompts import PROMPTS
from tests.annotation.cast import World

if TYPE_CHECKING:
    from tests.annotation.conftest import ApiDoor

PROMPTS_AT = "/api/v1/projects/harbour/prompts/"
EXTRACT = f"{PROMPTS_AT}extract/"


def test_every_step_is_listed_with_the_words_in_force(world: World, client_of: ApiDoor) -> None:
    reword_prompt(project=world.project, step="extract", by=world.mona, system="Cut.$custom_instruction")
    steps = {row["step"]: row for row in client_of("vic").get(PROMPTS_AT).json()["results"]}
    assert list(steps)[:2] == ["read_document", "extract"]
    assert steps["extract"]["system"] == "Cut.$custom_instruction"
    assert (steps["extract"]["is_own"], steps["extract"]["number"]) == (True, 1)
    assert steps["read_document"]["parts"] == PROMPTS["read_document"].part_words
    assert (steps["read_document"]["is_own"], steps["read_document"]["version"]) == (False, "2")


def test_a_step_is_reworded_and_restored_with_its_history(world: World, client_of: ApiDoor) -> None:
    client = client_of("mona")
    words = {
        "system": "Just data. $parts",
        "parts": {"topics": "Name topics."},
        "note": "Shorter.",
        "seen": 0,
    }
    made = client.post(f"{PROMPTS_AT}read_document/versions/", words, format="json")
    assert made.status_code == 201
    assert made.json()["system"] == "Just data. $parts\n$custom_instruction"
    assert made.json()["parts"]["topics"] == "Name topics."
    back = client.post(f"{PROMPTS_AT}read_document/restore/", {"seen": 1}, format="json").json()
    assert (back["is_own"], back["number"], back["version"]) == (False, 2, "2")
    shown = client.get(f"{PROMPTS_AT}read_document/").json()
    assert shown == back
    second, first = shown["history"]
    assert (second["made"]["number"], second["made"]["is_built_in"]) == (2, True)
    assert (first["made"]["note"], first["made"]["by"]) == ("Shorter.", "mona")
    assert first["parts"]["topics"] == "Name topics."


def test_who_comes_second_gets_both_versions(world: World, client_of: ApiDoor) -> None:
    client_of("mona").post(f"{EXTRACT}versions/", {"system": "Theirs.", "seen": 0}, format="json")
    answer = client_of("olga").post(f"{EXTRACT}versions/", {"system": "Ours.", "seen": 0}, format="json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "newer_prompt")
    details = answer.json()["error"]["details"]
    assert details["yours"]["system"].startswith("Ours.")
    assert (details["theirs"]["system"].split("\n")[0], details["theirs"]["number"]) == ("Theirs.", 1)
    assert PromptVersion.objects.count() == 1


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"system": "$evil"}, 422, "system"),
        ({"system": "x" * 8001}, 422, "system"),
        ({"system": "x" * 100_000}, 400, "system"),
        ({"system": "a\x1bb"}, 422, "system"),
        ({"system": "a\x00b"}, 400, "system"),
        ({"parts": {"no-such": "Words."}}, 422, "parts.no-such"),
        ({"parts": ["Words."]}, 400, "parts"),
        ({"schema": {}}, 400, "schema"),
        ({"system": "Cut.", "seen": -1}, 400, "seen"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(
    world: World, client_of: ApiDoor, body: dict[str, object], status: int, field: str
) -> None:
    answer = client_of("mona").post(f"{EXTRACT}versions/", body, format="json")
    assert (answer.status_code, answer.json()["error"]["field"]) == (status, field)
    assert not PromptVersion.objects.exists()


@pytest.mark.parametrize("path", ["no-such/", "explain/"])
def test_an_unknown_step_is_not_found(world: World, client_of: ApiDoor, path: str) -> None:
    answer = client_of("mona").get(PROMPTS_AT + path)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "no_such_step")


def test_a_run_tells_the_words_that_it_began_with(world: World, client_of: ApiDoor) -> None:
    row = reword_prompt(project=world.project, step="extract", by=None, system="Cut.")
    assert row is not None
    judge = Judge.objects.create(name="gpt", kind="openai", model="m", base_url="http://127.0.0.1:9/v1")
    run = start_run(project=world.project, judge=judge, by=None)
    shown = client_of("vic").get(f"/api/v1/projects/harbour/runs/{run.public_id}/").json()
    assert shown["prompts"] == [{"step": "extract", "number": 1, "version": row.version}]


@pytest.mark.parametrize("body", [{}, {"note": "Nothing but a note.", "seen": 0}])
def test_a_version_without_words_makes_no_sense(
    world: World, client_of: ApiDoor, body: dict[str, object]
) -> None:
    answer = client_of("mona").post(f"{EXTRACT}versions/", body, format="json")
    assert answer.status_code == 400
    assert "Send the new system text" in str(answer.json())
    assert not PromptVersion.objects.exists()
