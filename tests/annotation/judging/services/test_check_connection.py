from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from annotation.core.refusals import Invalid
from annotation.judging.services import check_connection as module
from annotation.judging.services.check_connection import check_connection
from annotation.models import Judge, JudgeCall
from tests.llm_server import faults, llm_server

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.llm_server import Fault, LLMServer

__all__ = ["llm_server"]

KEY = "sk-a-key-that-nobody-may-see"


@pytest.fixture
def judge(world: World, llm_server: LLMServer) -> Judge:
    return Judge.objects.create(
        name="scripted", kind="openai", model="scripted", base_url=llm_server.base_url
    )


def test_a_server_that_answers(world: World, judge: Judge, llm_server: LLMServer) -> None:
    llm_server.latency = 0.05
    found = check_connection(project=world.project, judge=judge, by=world.mona)
    assert (found.format, len(llm_server.calls)) == ("json_schema", 1)
    assert found.seconds >= 0.05
    assert not JudgeCall.objects.exists()
    sent = str(llm_server.calls[0].body)
    assert module.CLAIM in sent
    assert world.summaries["bridge", "alder"].text not in sent


def test_the_reply_format_is_found_anew(world: World, judge: Judge, llm_server: LLMServer) -> None:
    Judge.objects.filter(pk=judge.pk).update(reply_format="text")
    judge.refresh_from_db()
    llm_server.formats = ("json_object",)
    assert check_connection(project=world.project, judge=judge, by=world.mona).format == "json_object"
    judge.refresh_from_db()
    assert judge.reply_format == "json_object"


def test_a_failure_leaves_the_stored_format(world: World, judge: Judge, llm_server: LLMServer) -> None:
    Judge.objects.filter(pk=judge.pk).update(reply_format="text")
    llm_server.api_key = "another"
    with pytest.raises(Invalid):
        check_connection(project=world.project, judge=judge, by=world.mona)
    judge.refresh_from_db()
    assert judge.reply_format == "text"


def test_a_refusal_keeps_the_key_secret(
    world: World, judge: Judge, llm_server: LLMServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCRIPTED_KEY", KEY)
    judge.api_key_env = "SCRIPTED_KEY"
    llm_server.api_key = "another"
    with pytest.raises(Invalid, match="401") as refused:
        check_connection(project=world.project, judge=judge, by=world.mona)
    assert refused.value.code == "judge_failed"
    assert KEY not in refused.value.message


def test_a_missing_key_names_the_variable(world: World, judge: Judge) -> None:
    judge.api_key_env = "SCRIPTED_KEY"
    with pytest.raises(Invalid, match="SCRIPTED_KEY"):
        check_connection(project=world.project, judge=judge, by=world.mona)


def test_an_address_that_is_not_allowed_is_never_called(
    world: World, judge: Judge, llm_server: LLMServer, settings: Any
) -> None:
    settings.COVERDICT_JUDGE_URLS = ["https://elsewhere.example"]
    with pytest.raises(Invalid, match="COVERDICT_JUDGE_URLS"):
        check_connection(project=world.project, judge=judge, by=world.mona)
    assert not llm_server.calls


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (faults.hang(), r"within 0\.3 seconds"),
        (faults.text("Well."), "no usable answer"),
        (faults.refusal(), "no usable answer"),
        (faults.status(400, "no"), "400|no usable answer"),
    ],
    ids=["hangs", "rubbish", "refused", "rejected"],
)
def test_a_server_without_a_usable_answer(
    world: World,
    judge: Judge,
    llm_server: LLMServer,
    monkeypatch: pytest.MonkeyPatch,
    fault: Fault,
    told: str,
) -> None:
    monkeypatch.setattr(module, "LONGEST_SECONDS", 0.3)
    llm_server.always(fault)
    with pytest.raises(Invalid, match=told) as refused:
        check_connection(project=world.project, judge=judge, by=world.mona)
    assert refused.value.code == "judge_failed"


def test_a_judge_without_a_server(world: World) -> None:
    with pytest.raises(Invalid, match="no server"):
        check_connection(project=world.project, judge=world.judge, by=world.mona)
