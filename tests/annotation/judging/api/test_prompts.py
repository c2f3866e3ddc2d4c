"""Prompts over the API."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.models import PromptVersion
from evaluation.judging.prompts import PROMPTS
from tests.annotation.cast import World

if TYPE_CHECKING:
    from tests.annotation.conftest import ApiDoor

AT = "/api/v1/projects/harbour/prompts/"


def test_a_version_is_saved_listed_and_used(world: World, client_of: ApiDoor) -> None:
    client = client_of("mona")
    words = {"system": "Just data. $parts", "parts": {"topics": "Name topics."}, "note": "Shorter."}
    made = client.post(f"{AT}read_document/", words, format="json").json()
    assert (made["number"], made["by"], made["parts"]["topics"]) == (1, "mona", "Name topics.")
    steps = {row["step"]: row for row in client_of("vic").get(AT).json()["results"]}
    assert list(steps)[:2] == ["read_document", "extract"]
    assert steps["read_document"]["versions"] == [made]
    assert steps["extract"]["parts"] == PROMPTS["extract"].part_words
    judge = {"name": "mine", "kind": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1"}
    judges = "/api/v1/projects/harbour/judges/"
    assert client.post(judges, {**judge, "prompts": [made["id"]]}, format="json").json()["prompts"] == [
        made["id"]
    ]
    refused = client.post(judges, {**judge, "name": "other", "prompts": ["none"]}, format="json")
    assert (refused.status_code, refused.json()["error"]["field"]) == (422, "prompts")


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"system": "$evil"}, 422, "system"),
        ({"system": "x" * 100_000}, 400, "system"),
        ({"system": "a\x00b"}, 400, "system"),
        ({"parts": {"no-such": "Words."}}, 422, "parts.no-such"),
        ({"parts": ["Words."]}, 400, "parts"),
        ({"schema": {}}, 400, "schema"),
        ({}, 422, "system"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(
    world: World, client_of: ApiDoor, body: dict[str, object], status: int, field: str
) -> None:
    answer = client_of("mona").post(f"{AT}extract/", body, format="json")
    assert (answer.status_code, answer.json()["error"]["field"]) == (status, field)
    assert not PromptVersion.objects.exists()
