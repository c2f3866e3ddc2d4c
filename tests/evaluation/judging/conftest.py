"""The scripted server and a judge that calls it."""

from collections.abc import Callable
from typing import Any

import pytest

from evaluation.judging import Limits, OpenAIJudge
from evaluation.judging.openai import _caller as caller
from tests.llm_server import LLMServer, llm_server

__all__ = ["llm_server"]

JudgeMaker = Callable[..., OpenAIJudge]


@pytest.fixture
def judge_of(llm_server: LLMServer, monkeypatch: pytest.MonkeyPatch) -> JudgeMaker:
    monkeypatch.setattr(caller, "_FIRST_BACKOFF_SECONDS", 0.01)

    def make(**changes: Any) -> OpenAIJudge:
        settings: dict[str, Any] = {
            "model": "scripted",
            "base_url": llm_server.base_url,
            "api_key": "sk-test-4711",
            "limits": Limits(timeout_seconds=20.0, max_attempts=3, max_wait_seconds=5.0),
        }
        return OpenAIJudge(**(settings | changes))

    return make


@pytest.fixture
def judge(judge_of: JudgeMaker) -> OpenAIJudge:
    return judge_of()
