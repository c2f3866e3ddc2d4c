from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from annotation.judging.services.start_run import start_run
from annotation.models import Judge, Verdict
from tests.annotation.judging.doing import perform_all, run_to_end
from tests.llm_server import LLMServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.annotation.cast import World


@pytest.fixture
def trap(monkeypatch: pytest.MonkeyPatch) -> Iterator[LLMServer]:
    with LLMServer() as server:
        for name in ("OPENAI_BASE_URL", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, server.base_url)
            monkeypatch.setenv(name.lower(), server.base_url)
        for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
            monkeypatch.setenv(name, "sk-trap")
        monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Trap: trap")
        monkeypatch.setenv("NO_PROXY", "")
        yield server


def test_a_run_in_a_hostile_environment_asks_its_judge_s_own_server_without_a_key(
    world: World, llm_judge: Judge, llm_server: LLMServer, trap: LLMServer
) -> None:
    run = run_to_end(world.project, llm_judge, ["factual_alignment"])
    assert run.state == "finished"
    assert llm_server.calls
    assert trap.connections == 0
    assert not any("trap" in str(call.headers) for call in llm_server.calls)
    assert not any("authorization" in call.headers for call in llm_server.calls)


def test_the_key_is_that_of_the_variable_that_the_row_names(
    world: World, llm_judge: Judge, llm_server: LLMServer, trap: LLMServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCRIPTED_KEY", "sk-right")
    Judge.objects.filter(pk=llm_judge.pk).update(api_key_env="SCRIPTED_KEY")
    run_to_end(world.project, llm_judge)
    assert {call.headers["authorization"] for call in llm_server.calls} == {"Bearer sk-right"}


def test_a_judge_that_is_no_longer_allowed_is_not_called_by_a_run_that_waits(
    world: World, llm_judge: Judge, llm_server: LLMServer, settings: Any
) -> None:
    run = start_run(project=world.project, judge=llm_judge, by=None)
    settings.COVERDICT_JUDGE_URLS = ["https://elsewhere.example"]
    perform_all(run)
    assert run.state == "stopped"
    assert "which is not allowed here" in run.stop_reason
    assert llm_server.calls == []
    assert not Verdict.objects.filter(run=run).exists()
