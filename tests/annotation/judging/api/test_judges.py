from __future__ import annotations

from typing import TYPE_CHECKING

from annotation.judging.services.save_judge import add_judge
from annotation.models import Judge

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor
    from tests.llm_server import LLMServer

AT = "/api/v1/projects/harbour/judges/"


def new(server: LLMServer, **changes: object) -> dict[str, object]:
    return {"name": "mine", "kind": "openai", "model": "scripted", "base_url": server.base_url, **changes}


def test_a_judge_is_added_changed_and_used(world: World, client_of: ApiDoor, llm_server: LLMServer) -> None:
    client = client_of("mona")
    made = client.post(AT, new(llm_server, prompt_price=1, completion_price=2))
    assert made.status_code == 201
    shown = made.json()
    assert (shown["is_shared"], shown["addresses"]) == (False, [llm_server.base_url])
    here = f"{AT}{shown['id']}/"
    assert client.patch(here, {"concurrency": 2}).json()["concurrency"] == 2
    started = client.post("/api/v1/projects/harbour/runs/", {"judge": "mine"})
    assert started.status_code == 201


def test_what_is_wrong_names_its_field(world: World, client_of: ApiDoor, llm_server: LLMServer) -> None:
    for changes, field in (
        ({"base_url": "http://169.254.169.254/v1"}, "base_url"),
        ({"name": "two words"}, "name"),
        ({"kind": "panel", "base_url": "", "members": ["nobody"]}, "members"),
        ({"timeout_seconds": 0}, "timeout_seconds"),
    ):
        answer = client_of("mona").post(AT, new(llm_server, **changes))
        assert (changes, answer.status_code) == (changes, 422)
        assert field in str(answer.json()["error"])
    assert client_of("mona").post(AT, {**new(llm_server), "kind": "lexical"}).status_code == 400
    assert llm_server.connections == 0


def test_an_owner_sends_a_key_and_never_gets_it_back(
    world: World, client_of: ApiDoor, llm_server: LLMServer
) -> None:
    llm_server.api_key = "sk-typed"
    refused = client_of("mona").post(AT, {**new(llm_server), "api_key": "sk-typed"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "not_allowed")
    made = client_of("olga").post(AT, {**new(llm_server), "api_key": "sk-typed"})
    assert (made.status_code, made.json()["has_key"], b"sk-typed" in made.content) == (201, True, False)
    here = f"{AT}{made.json()['id']}/"
    assert client_of("mona").patch(here, {"concurrency": 2}).json()["has_key"] is True
    assert client_of("olga").patch(here, {"api_key": ""}).json()["has_key"] is False
    too_long = client_of("olga").patch(here, {"api_key": "k" * 1001})
    assert (too_long.status_code, "api_key" in str(too_long.json()["error"])) == (400, True)


def test_a_shared_judge_is_shown_without_its_key_and_not_changed(world: World, client_of: ApiDoor) -> None:
    shared = Judge.objects.create(
        name="remote", kind="openai", model="m", base_url="http://localhost:1/v1", api_key_env="REMOTE_KEY"
    )
    client, here = client_of("mona"), f"{AT}{shared.public_id}/"
    answer = client.get(here)
    assert (answer.json()["base_url"], b"REMOTE_KEY" in answer.content) == ("http://localhost:1/v1", False)
    act = client.patch(here, {"concurrency": 1})
    assert (act.status_code, act.json()["error"]["code"]) == (403, "shared_judge")


def test_another_projects_judge_is_nowhere(world: World, client_of: ApiDoor, llm_server: LLMServer) -> None:
    theirs = add_judge(project=world.other_project, by=world.dan, **new(llm_server, name="dans"))
    client = client_of("mona")
    assert [row["name"] for row in client.get(AT).json()["results"]] == ["lexical"]
    for method in ("get", "patch"):
        assert getattr(client, method)(f"{AT}{theirs.public_id}/", {}).status_code == 404
    run = client.post("/api/v1/projects/harbour/runs/", {"judge": "dans"})
    assert run.json()["error"]["code"] == "no_such_judge"
    decide = client.patch("/api/v1/projects/harbour/", {"deciding_judge": "dans"})
    assert "no judge" in str(decide.json()["error"])
    panel = client.post(AT, {"name": "p", "kind": "panel", "members": ["dans"]})
    assert "no judge" in str(panel.json()["error"])
    assert llm_server.connections == 0
