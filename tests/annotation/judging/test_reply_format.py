from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.judging.services.judges import at_work, remember_server
from annotation.judging.services.save_judge import change_judge
from annotation.models import Judge
from evaluation.judging.protocol import Text

if TYPE_CHECKING:
    from tests.llm_server import LLMServer

TEXT = Text.of("The harbour wall was breached.")


def ask(judge: Judge, claim: str) -> None:
    with at_work(Judge.objects.get(pk=judge.pk)) as working:
        working.begin(working.judge.check_source([claim], TEXT)).result()


def formats(server: LLMServer) -> list[str]:
    return [call.format for call in server.calls]


def test_what_the_server_refuses_is_tried_once_in_all(llm_judge: Judge, llm_server: LLMServer) -> None:
    llm_server.formats = ("json_object",)
    ask(llm_judge, "The wall was breached")
    llm_judge.refresh_from_db()
    assert llm_judge.reply_format == "json_object"
    ask(llm_judge, "The harbour was breached")
    assert formats(llm_server) == ["json_schema", "json_object", "json_object"]


def test_parameters_that_the_server_refuses_are_kept_with_the_judge(
    llm_judge: Judge, llm_server: LLMServer
) -> None:
    llm_server.refuses = ("temperature", "stream")
    ask(llm_judge, "The wall was breached")
    llm_judge.refresh_from_db()
    assert llm_judge.refused_parameters == ["stream", "temperature"]
    tried = len(llm_server.calls)
    ask(llm_judge, "The harbour was breached")
    assert len(llm_server.calls) == tried + 1
    # The row keeps the values that a person entered.
    assert llm_judge.temperature == 0.0


def test_an_empty_temperature_is_not_sent(llm_judge: Judge, llm_server: LLMServer) -> None:
    change_judge(judge=llm_judge, by=None, temperature=None)
    ask(llm_judge, "The wall was breached")
    assert "temperature" not in llm_server.calls[0].body


def test_each_member_of_a_panel_has_its_own(llm_judge: Judge, llm_server: LLMServer) -> None:
    panel = Judge.objects.create(name="both", kind="panel")
    other = Judge.objects.create(
        name="other", kind="openai", model="other", base_url=llm_server.base_url, reply_format="text"
    )
    panel.members.set([llm_judge, other])
    ask(panel, "The wall was breached")
    llm_judge.refresh_from_db()
    other.refresh_from_db()
    assert (llm_judge.reply_format, other.reply_format) == ("json_schema", "text")
    assert sorted(formats(llm_server)) == ["json_schema", "text"]


@pytest.mark.parametrize("changes", [{"model": "another"}, {"base_url": "http://127.0.0.1:9/v1"}], ids=str)
def test_what_was_found_of_one_server_is_not_kept_for_another(
    llm_judge: Judge, changes: dict[str, str]
) -> None:
    """A worker may still use the judge while somebody changes its server."""
    Judge.objects.filter(pk=llm_judge.pk).update(**changes)
    remember_server(llm_judge, "text", ["seed"])
    llm_judge.refresh_from_db()
    assert (llm_judge.reply_format, llm_judge.refused_parameters) == ("", [])
