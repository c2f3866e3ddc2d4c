import asyncio
from typing import Any

import pytest

from evaluation import Limits, MoneyCap, OpenAIJudge, Price, Verdict
from evaluation.judging.errors import JudgeUnavailable
from evaluation.judging.openai import _caller as caller
from evaluation.judging.protocol import MemoryCallStore, Text
from tests.evaluation.judging.conftest import JudgeMaker
from tests.llm_server import Call, Fault, LLMServer, faults

TEXT = Text.of("The council met on Tuesday.")
ONE_BY_ONE = Limits(claims_per_call=1, concurrency=8, max_attempts=1, timeout_seconds=20.0)


def check_many(judge: OpenAIJudge, count: int = 6) -> tuple[Verdict, ...]:
    async def checked() -> tuple[Verdict, ...]:
        try:
            return await judge.check_source([f"council {number}" for number in range(count)], TEXT)
        finally:
            await judge.aclose()

    return asyncio.run(checked())


def formats(server: LLMServer) -> list[str]:
    return [call.format for call in server.calls]


@pytest.mark.parametrize(
    ("known", "tried"),
    [
        (("json_schema",), ["json_schema"]),
        (("json_object",), ["json_schema", "json_object"]),
        ((), ["json_schema", "json_object", "text"]),
    ],
)
def test_a_burst_of_first_calls_is_refused_once(
    judge_of: JudgeMaker, llm_server: LLMServer, known: tuple[str, ...], tried: list[str]
) -> None:
    llm_server.formats, llm_server.latency = known, 0.05
    verdicts = check_many(judge_of(limits=ONE_BY_ONE))
    assert all(verdict.label == "no" for verdict in verdicts)
    assert formats(llm_server) == [*tried, *[tried[-1]] * 5]


def test_the_others_go_at_once_when_the_first_has_its_answer(
    judge_of: JudgeMaker, llm_server: LLMServer
) -> None:
    llm_server.latency = 0.1
    check_many(judge_of(limits=ONE_BY_ONE))
    assert llm_server.most_at_once == 5


def test_where_the_first_fails_the_next_goes_ahead(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    llm_server.formats = ()
    llm_server.then(faults.status(500), faults.refusal())
    judge = judge_of(limits=ONE_BY_ONE)

    async def one(number: int) -> Any:
        return (await judge.check_source([f"council {number}"], TEXT))[0].label

    async def each() -> list[Any]:
        outcomes = await asyncio.gather(*map(one, range(4)), return_exceptions=True)
        await judge.aclose()
        return outcomes

    failed, *answered = asyncio.run(each())
    # The refusal is a reply in the best format, so the format is known.
    assert isinstance(failed, JudgeUnavailable)
    assert answered == [None, "no", "no"]


def test_a_first_call_that_is_cancelled_hands_over(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    llm_server.then(faults.hang())
    judge = judge_of(limits=ONE_BY_ONE)

    async def cancelled() -> list[Verdict]:
        first = asyncio.create_task(judge.check_source(["council 1"], TEXT))
        await asyncio.to_thread(llm_server.wait_for_calls, 1)
        others = [asyncio.create_task(judge.check_source([f"council {number}"], TEXT)) for number in (2, 3)]
        await asyncio.sleep(0.05)
        assert len(llm_server.calls) == 1
        first.cancel()
        found = await asyncio.gather(*others)
        await judge.aclose()
        return [verdicts[0] for verdicts in found]

    assert [verdict.label for verdict in asyncio.run(cancelled())] == ["no", "no"]


def test_nobody_waits_long_for_a_first_call_that_hangs(
    judge_of: JudgeMaker, llm_server: LLMServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caller, "_LONGEST_WAIT_FOR_FIRST", 0.1)

    def rule(call: Call) -> Fault | None:
        return faults.hang() if "council 0" in call.question["claims"].values() else None

    llm_server.where(rule)
    judge = judge_of(limits=ONE_BY_ONE)

    async def others() -> list[Verdict]:
        hanging = asyncio.create_task(judge.check_source(["council 0"], TEXT))
        await asyncio.to_thread(llm_server.wait_for_calls, 1)
        found = await asyncio.gather(*(judge.check_source([f"council {number}"], TEXT) for number in (1, 2)))
        hanging.cancel()
        await asyncio.wait([hanging])
        await judge.aclose()
        return [verdicts[0] for verdicts in found]

    assert [verdict.label for verdict in asyncio.run(others())] == ["no", "no"]


def test_what_is_remembered_is_tried_first_and_nobody_waits(
    judge_of: JudgeMaker, llm_server: LLMServer
) -> None:
    llm_server.formats, llm_server.latency = ("json_object",), 0.1
    found: list[str] = []
    check_many(
        judge_of(limits=ONE_BY_ONE, reply_format="json_object", remember=lambda taken, _: found.append(taken))
    )
    assert formats(llm_server) == ["json_object"] * 6
    assert llm_server.most_at_once == 6
    assert found == []


def test_a_remembered_format_that_is_refused_is_stepped_down_from(
    judge_of: JudgeMaker, llm_server: LLMServer
) -> None:
    llm_server.formats = ()
    found: list[str] = []
    judge = judge_of(
        limits=ONE_BY_ONE, reply_format="json_object", remember=lambda taken, _: found.append(taken)
    )
    check_many(judge, 1)
    check_many(judge, 3)
    assert formats(llm_server) == ["json_object", "text", "text", "text"]
    assert found == ["text"]


def test_a_request_rejected_for_its_content_teaches_nothing(
    judge_of: JudgeMaker, llm_server: LLMServer
) -> None:
    llm_server.then(faults.status(400, "too long", "context_length_exceeded"))
    found: list[str] = []
    check_many(judge_of(limits=ONE_BY_ONE, remember=lambda taken, _: found.append(taken)), 2)
    assert formats(llm_server) == ["json_schema", "json_schema"]
    assert found == ["json_schema"]


def sent(server: LLMServer) -> list[set[str]]:
    names = {"temperature", "seed", "max_tokens", "max_completion_tokens", "stream", "stream_options"}
    return [names & set(call.body) for call in server.calls]


def test_refused_parameters_are_dropped_one_by_one_and_remembered(
    judge_of: JudgeMaker, llm_server: LLMServer
) -> None:
    llm_server.refuses = ("temperature", "seed", "max_tokens", "max_completion_tokens")
    found: list[tuple[str, ...]] = []
    verdicts = check_many(
        judge_of(limits=ONE_BY_ONE, seed=1, remember=lambda _, refused: found.append(refused)), 2
    )
    assert [verdict.label for verdict in verdicts] == ["no", "no"]
    assert sent(llm_server) == [
        {"temperature", "seed", "max_tokens"},
        {"seed", "max_tokens"},
        {"max_tokens"},
        {"max_completion_tokens"},
        set(),
        set(),
    ]
    assert found == [tuple(sorted(llm_server.refuses))]
    # Another judge that gets the list omits these parameters from the start.
    check_many(judge_of(limits=ONE_BY_ONE, seed=1, refused=found[0]), 1)
    assert sent(llm_server)[-1] == set()
    assert len(llm_server.calls) == 7


def test_a_refused_parameter_and_a_refused_format_are_found_together(
    judge_of: JudgeMaker, llm_server: LLMServer
) -> None:
    llm_server.refuses, llm_server.formats = ("temperature",), ()
    check_many(judge_of(limits=ONE_BY_ONE), 1)
    check_many(judge_of(limits=ONE_BY_ONE, reply_format="text", refused=["temperature"]), 1)
    assert formats(llm_server)[-2:] == ["text", "text"]
    assert sent(llm_server)[-1] == {"max_tokens"}


def test_under_a_cap_the_longest_reply_is_never_left_open(
    judge_of: JudgeMaker, llm_server: LLMServer
) -> None:
    llm_server.refuses = ("max_tokens", "max_completion_tokens")
    judge = judge_of(limits=ONE_BY_ONE, price=Price(1.0, 1.0), budget=MoneyCap(9.0))
    (verdict,) = check_many(judge, 1)
    assert (verdict.label, "max_completion_tokens" in verdict.reason) == (None, True)
    assert set() not in sent(llm_server)


def test_a_reply_that_is_too_long_by_the_newer_name_is_no_unknown_parameter(
    judge_of: JudgeMaker, llm_server: LLMServer
) -> None:
    llm_server.length_field = "max_completion_tokens"
    message = "max_completion_tokens is too large: 4000. The model takes at most 2000."
    llm_server.where(
        lambda call: faults.status(400, message) if "max_completion_tokens" in call.body else None
    )
    (verdict,) = check_many(judge_of(limits=ONE_BY_ONE), 1)
    assert (verdict.label, "at most 2000" in verdict.reason) == (None, True)


def test_a_server_that_only_streams_is_read(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    llm_server.refuses = ("stream",)
    store = MemoryCallStore()
    found: list[tuple[str, ...]] = []
    verdicts = check_many(
        judge_of(limits=ONE_BY_ONE, store=store, remember=lambda _, refused: found.append(refused)), 2
    )
    assert [verdict.label for verdict in verdicts] == ["no", "no"]
    assert (found, len(llm_server.calls)) == ([("stream",)], 3)
    call = store.calls[0]
    assert (call.finish_reason, call.model) == ("stop", "scripted")
    assert call.completion_tokens == len(call.reply) // 4 > 0


def test_a_stream_without_its_usage_is_read_too(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    llm_server.refuses = ("stream_options", "stream")
    store = MemoryCallStore()
    (verdict,) = check_many(judge_of(limits=ONE_BY_ONE, store=store), 1)
    assert verdict.label == "no"
    assert "stream_options" not in llm_server.calls[-1].body


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        (b'data: {"error": {"message": "overloaded"}}\n\n', "overloaded"),
        (b"data: {not json\n\ndata: [DONE]\n\n", "not a chat completion"),
        (b'data: {"choices": [{"delta": {"content": "{"}, "finish_reason": "length"}]}\n\n', "cut off"),
        (b'data: {"choices": [{"delta": {"refusal": "No."}}]}\n\n', "refused: No"),
    ],
)
def test_a_stream_that_holds_no_answer_says_why(
    judge_of: JudgeMaker, llm_server: LLMServer, events: bytes, reason: str
) -> None:
    llm_server.always(faults.body(events))
    (verdict,) = check_many(judge_of(limits=ONE_BY_ONE), 1)
    assert (verdict.label, reason in verdict.reason) == (None, True)
