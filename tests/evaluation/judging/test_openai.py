import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx2
import pytest

from evaluation.judging import (
    JudgeSettings,
    Limits,
    MoneyCap,
    OpenAIJudge,
    Price,
    Verdict,
    check_claims,
    extract_claims,
)
from evaluation.judging.errors import JudgeRefused, JudgeUnavailable, UnusableReply
from evaluation.judging.openai import _asking
from evaluation.judging.protocol import ExtractedClaim, MemoryCallStore, Text
from tests.evaluation.judging.conftest import JudgeMaker
from tests.llm_server import Call, Fault, LLMServer, faults

TEXT = "The council met on Tuesday. It approved 41 crowns for the school."
FOUND = "The council met on Tuesday"
ABSENT = "The mayor resigned"
TWICE = Limits(timeout_seconds=1.5, max_attempts=2, max_wait_seconds=5.0)


def labels(verdicts: tuple[Verdict, ...]) -> list[str | None]:
    return [verdict.label for verdict in verdicts]


def check(judge: OpenAIJudge, *claims: str) -> tuple[Verdict, ...]:
    return check_claims(claims, TEXT, judge=judge)


def test_each_claim_gets_its_verdict_in_order(judge: OpenAIJudge) -> None:
    absent, found = check(judge, ABSENT, FOUND)
    assert (found.label, found.probability, found.evidence) == ("yes", 0.9, (1,))
    assert found.reason == "all words found"
    assert (absent.label, absent.probability, absent.evidence) == ("no", 0.1, ())


def test_settings_reach_the_server(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    check(judge_of(temperature=0.3, seed=7, limits=Limits(max_tokens=99)), FOUND)
    body = llm_server.calls[0].body
    assert (body["model"], body["temperature"], body["seed"], body["max_tokens"]) == ("scripted", 0.3, 7, 99)


def test_a_custom_instruction_reaches_every_step(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    wish = "Mind $custom_instruction and ${this}: money is in crowns."
    judge = judge_of(custom_instruction=wish)
    check(judge, FOUND)
    check_claims([FOUND], TEXT, judge=judge, side="supported")
    extract_claims(TEXT, judge=judge)
    assert len(llm_server.calls) == 3
    assert all(wish in call.body["messages"][0]["content"] for call in llm_server.calls)


def test_long_lists_are_cut_into_calls(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    claims = [f"claim {number}" for number in range(5)] + [FOUND]
    verdicts = check(judge_of(limits=Limits(claims_per_call=2)), *claims)
    assert labels(verdicts) == ["no"] * 5 + ["yes"]
    assert sorted(len(call.question["claims"]) for call in llm_server.calls) == [2, 2, 2]


def test_no_more_calls_at_once_than_allowed(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    llm_server.latency = 0.05
    claims = [f"claim {number}" for number in range(9)]
    check(judge_of(limits=Limits(claims_per_call=1, concurrency=3)), *claims)
    assert llm_server.most_at_once == 3


def test_nothing_is_asked_about_a_blank_text_or_a_blank_claim(
    judge: OpenAIJudge, llm_server: LLMServer
) -> None:
    (against_blank,) = check_claims([FOUND], " \n", judge=judge)
    (blank,) = check(judge, " ... ")
    assert (against_blank.label, against_blank.probability) == ("no", 0.0)
    assert (blank.label, blank.reason) == (None, "The claim contains no words.")
    assert check(judge) == ()
    assert extract_claims("  ", judge=judge) == ()
    assert llm_server.calls == []


def test_claims_are_extracted_with_their_places(judge: OpenAIJudge) -> None:
    assert extract_claims(TEXT, judge=judge) == (
        ExtractedClaim("The council met on Tuesday", 1, 0, 26),
        ExtractedClaim("It approved 41 crowns for the school", 2, 28, 64),
    )


def test_a_claim_in_other_words_has_no_place(judge: OpenAIJudge, llm_server: LLMServer) -> None:
    llm_server.then(faults.changed(lambda _: {"units": [{"unit": 1, "claims": ["A council met"]}]}))
    assert extract_claims("The council met.", judge=judge) == (ExtractedClaim("A council met", 1),)


def test_claims_that_cannot_be_extracted_raise(judge: OpenAIJudge, llm_server: LLMServer) -> None:
    llm_server.always(faults.text("Sorry?"))
    with pytest.raises(UnusableReply, match=r"unit 1: the reply holds no JSON: “Sorry"):
        extract_claims(TEXT, judge=judge)


def test_missing_units_are_asked_for_again(judge: OpenAIJudge, llm_server: LLMServer) -> None:
    llm_server.then(faults.changed(lambda answer: {"units": answer["units"][:1]}))
    assert [claim.unit for claim in extract_claims(TEXT, judge=judge)] == [1, 2]
    assert llm_server.calls[1].question["units_wanted"] == [2]


def test_a_text_that_the_server_rejects_is_unscored_and_spoils_nothing_else(
    judge_of: JudgeMaker, llm_server: LLMServer
) -> None:
    store = MemoryCallStore()
    judge = judge_of(store=store)
    llm_server.then(faults.status(400, "too long for sk-test-4711", "context_length_exceeded"))
    (rejected,) = check(judge, FOUND)
    (answered,) = check(judge, FOUND)
    assert (rejected.label, rejected.call) == (None, None)
    assert "too long for [key]" in rejected.reason
    assert answered.label == "yes"
    assert [call.format for call in llm_server.calls] == ["json_schema", "json_schema"]
    assert len(store.calls) == 1


def test_nobody_listening_is_unavailable(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    # The server has stopped, so nothing listens on its port.
    with LLMServer() as gone:
        address = gone.base_url
    with pytest.raises(JudgeUnavailable, match="connection failed"):
        check(judge_of(base_url=address, limits=TWICE), FOUND)


@pytest.mark.parametrize("as_date", [False, True], ids=["seconds", "date"])
@pytest.mark.slow
def test_retry_after_is_honoured_by_every_call(
    judge_of: JudgeMaker, llm_server: LLMServer, as_date: bool
) -> None:
    # HTTP dates have whole seconds, so a date two seconds ahead is at least one second away.
    value = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True) if as_date else "1"
    llm_server.then(faults.rate_limited(value))
    judge = judge_of()

    async def checks() -> list[float]:
        loop = asyncio.get_running_loop()
        begin = loop.time()
        first = asyncio.create_task(judge.check_source([FOUND], Text.of(TEXT)))
        await asyncio.to_thread(llm_server.wait_for_calls, 1)
        await asyncio.sleep(0.1)
        await judge.check_source([ABSENT], Text.of(TEXT))
        second_took = loop.time() - begin
        await first
        first_took = loop.time() - begin
        await judge.aclose()
        return [first_took, second_took]

    # The judge waits at least as long as the server asks.
    assert all(took >= 0.9 for took in asyncio.run(checks()))


def test_a_pause_longer_than_allowed_is_not_waited_for(judge: OpenAIJudge, llm_server: LLMServer) -> None:
    llm_server.then(faults.rate_limited("3600"))
    with pytest.raises(JudgeUnavailable, match="3600 s, longer than the 5 s allowed"):
        check(judge, FOUND)
    assert len(llm_server.calls) == 1


def test_redirects_are_not_followed(judge: OpenAIJudge, llm_server: LLMServer) -> None:
    with LLMServer() as elsewhere:
        llm_server.always(
            Fault(status=307, headers={"Location": f"{elsewhere.base_url}/chat/completions"}, error={})
        )
        with pytest.raises(JudgeRefused, match="HTTP 307"):
            check(judge, FOUND)
        assert elsewhere.calls == []


def test_one_failure_leaves_no_call_running(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    def rule(call: Call) -> Fault | None:
        return faults.status(401) if ABSENT in call.question["claims"].values() else faults.hang()

    llm_server.where(rule)
    judge = judge_of(limits=Limits(claims_per_call=1), reply_format="json_schema")

    async def tasks_left() -> int:
        with pytest.raises(JudgeRefused):
            await judge.check_source([FOUND, ABSENT, "41 crowns"], Text.of(TEXT))
        await judge.aclose()
        return len(asyncio.all_tasks()) - 1

    assert asyncio.run(tasks_left()) == 0


def test_the_key_is_sent_and_shown_nowhere(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    store = MemoryCallStore()
    judge = judge_of(store=store)
    check(judge, FOUND)
    assert llm_server.calls[0].headers["authorization"] == "Bearer sk-test-4711"
    shown = [repr(judge), judge.signature, judge.name, *(repr(call) for call in store.calls)]
    assert not any("test-4711" in text for text in shown)


KEY = "sk-te/st-4711"


@pytest.mark.parametrize("escaped", [KEY, KEY.replace("/", "\\/"), KEY.replace("s", "\\u0073")])
@pytest.mark.parametrize(
    "quoting",
    [
        lambda said: faults.text(f'{{"answers": [{{"id": "c1", "label": "no", "reason": "{said}"}}]}}'),
        faults.text,
        faults.refusal,
        lambda said: Fault(finish_reason=said),
        lambda said: faults.status(400, "x" * 290 + said),
        lambda said: faults.completion(lambda _: {"error": {"message": said}}),
        lambda said: faults.completion(lambda _: {"model": said}),
    ],
    ids=[
        "an answer",
        "prose",
        "a refusal",
        "the finish reason",
        "an error",
        "an error with 200",
        "the model",
    ],
)
def test_a_key_that_the_server_repeats_is_neither_kept_nor_shown(
    judge_of: JudgeMaker, llm_server: LLMServer, quoting: Callable[[str], Fault], escaped: str
) -> None:
    store = MemoryCallStore()
    llm_server.always(quoting(escaped))
    (verdict,) = check(judge_of(store=store, api_key=KEY), FOUND)
    for shown in (
        verdict.reason,
        repr(verdict),
        *(call.reply + call.finish_reason + call.model for call in store.calls),
    ):
        assert "test-4711" not in shown
        assert "sk-te" not in shown


@pytest.mark.parametrize("word", ["yes", "none", "id"])
def test_a_key_that_is_a_word_changes_no_answer(judge_of: JudgeMaker, word: str) -> None:
    assert labels(check(judge_of(api_key=word), FOUND, ABSENT)) == ["yes", "no"]


def test_without_a_key_none_is_sent(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    assert labels(check(judge_of(api_key=None), FOUND)) == ["yes"]
    assert "authorization" not in llm_server.calls[0].headers


def test_bad_replies_are_kept_and_spoil_no_later_asking(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    store = MemoryCallStore()
    llm_server.always(faults.truncated())
    assert labels(check(judge_of(store=store), FOUND)) == [None]
    llm_server.always(None)
    assert labels(check(judge_of(store=store), FOUND)) == ["yes"]
    assert [call.finish_reason for call in store.calls] == ["length", "length", "stop"]
    # A usable answer is paid for only once.
    assert labels(check(judge_of(store=store), FOUND)) == ["yes"]
    assert len(llm_server.calls) == 3


def test_each_pass_asks_what_stays_unanswered_twice_and_all_together_not_for_ever(
    judge_of: JudgeMaker, llm_server: LLMServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_asking, "MOST_ASKINGS_EVER", 5)
    llm_server.always(faults.text("rubbish"))
    store = MemoryCallStore()
    paid = []
    for _ in range(4):
        check(judge_of(store=store), FOUND)
        paid.append(len(llm_server.calls))
    assert paid == [2, 4, 5, 5]


def test_a_later_pass_asks_for_nothing_but_what_is_missing(
    judge_of: JudgeMaker, llm_server: LLMServer
) -> None:
    llm_server.always(faults.without("c2"))
    store = MemoryCallStore()
    assert labels(check(judge_of(store=store), FOUND, ABSENT)) == ["yes", None]
    llm_server.always(None)
    assert labels(check(judge_of(store=store), FOUND, ABSENT)) == ["yes", "no"]
    assert llm_server.calls[-1].question["claims"] == {"c2": ABSENT}
    assert len(llm_server.calls) == 3


def test_a_refusal_is_asked_for_anew_once_a_pass(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    llm_server.always(faults.refusal())
    store = MemoryCallStore()
    check(judge_of(store=store), FOUND)
    check(judge_of(store=store), FOUND)
    assert len(llm_server.calls) == 2
    llm_server.always(None)
    assert labels(check(judge_of(store=store), FOUND)) == ["yes"]


def test_those_who_ask_the_same_at_once_pay_once(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    llm_server.latency = 0.05
    judge = judge_of()

    async def together() -> list[tuple[Verdict, ...]]:
        asked = [judge.check_source([FOUND], Text.of(TEXT)) for _ in range(5)]
        answers = await asyncio.gather(*asked)
        await judge.aclose()
        return answers

    answers = asyncio.run(together())
    assert [labels(verdicts) for verdicts in answers] == [["yes"]] * 5
    assert len(llm_server.calls) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"model": "other"},
        {"temperature": 0.5},
        {"seed": 1},
        {"custom_instruction": "Be strict."},
        {"limits": Limits(max_tokens=50)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_another_judge_is_asked_anew_and_signs_differently(
    judge_of: JudgeMaker, llm_server: LLMServer, change: dict[str, Any]
) -> None:
    store = MemoryCallStore()
    one, other = judge_of(store=store), judge_of(store=store, **change)
    check(one, FOUND)
    check(other, FOUND)
    assert len(llm_server.calls) == 2
    assert one.signature != other.signature


@pytest.mark.parametrize(
    "change",
    [{"name": "another name"}, {"api_key": "sk-rotated"}, {"limits": Limits(concurrency=1)}],
    ids=lambda change: next(iter(change)),
)
def test_what_cannot_change_an_answer_asks_nothing_anew(
    judge_of: JudgeMaker, llm_server: LLMServer, change: dict[str, Any]
) -> None:
    store = MemoryCallStore()
    one, other = judge_of(store=store), judge_of(store=store, **change)
    assert check(one, FOUND) == check(other, FOUND)
    assert len(llm_server.calls) == 1
    assert one.signature == other.signature


def test_a_stored_call_tells_what_was_asked_and_said(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    store = MemoryCallStore()
    (verdict,) = check(judge_of(store=store, name="Scripted"), FOUND)
    (call,) = store.calls
    assert verdict.call == call.key
    assert (call.judge, call.step, call.finish_reason) == ("Scripted", "cover_summary", "stop")
    assert call.model == "scripted"
    assert json.loads(call.request) == llm_server.calls[0].body
    assert json.loads(call.reply)["answers"][0]["label"] == "yes"
    # The server counts four characters as one token.
    assert call.prompt_tokens == llm_server.calls[0].prompt_characters // 4
    assert call.completion_tokens == len(call.reply) // 4


def test_a_reply_that_databases_refuse_is_kept_mended(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    store = MemoryCallStore()
    llm_server.always(faults.text("a\x00b\ud800"))
    check(judge_of(store=store), FOUND)
    assert store.calls[0].reply == "a\ufffdb\ufffd"


def test_one_judge_serves_loops_one_after_the_other(judge: OpenAIJudge, llm_server: LLMServer) -> None:
    asyncio.run(judge.check_source([FOUND], Text.of(TEXT)))
    assert labels(asyncio.run(judge.check_source([ABSENT], Text.of(TEXT)))) == ["no"]


def test_one_loop_uses_one_connection_for_calls_in_a_row(judge: OpenAIJudge, llm_server: LLMServer) -> None:
    async def in_a_row() -> None:
        for number in range(4):
            await judge.check_source([f"claim {number}"], Text.of(TEXT))
        await judge.aclose()

    asyncio.run(in_a_row())
    assert len(llm_server.calls) == 4
    assert llm_server.connections == 1


def test_a_reply_in_an_unknown_encoding_keeps_no_connection(
    judge_of: JudgeMaker, llm_server: LLMServer
) -> None:
    llm_server.always(faults.unknown_encoding())

    async def open_after(calls: int) -> int:
        judge = judge_of(limits=TWICE)
        for number in range(calls):
            with pytest.raises(JudgeUnavailable, match="DecodingError"):
                await judge.check_source([f"claim {number}"], Text.of(TEXT))
        # The server sees the end of a connection a moment later.
        for _ in range(100):
            if not llm_server.open_connections:
                break
            await asyncio.sleep(0.02)
        return llm_server.open_connections

    assert asyncio.run(open_after(3)) == 0
    assert llm_server.connections == len(llm_server.calls) >= 3


def test_a_client_handed_in_is_used_and_left_open(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    async def with_own_client() -> tuple[list[str | None], bool]:
        async with httpx2.AsyncClient(headers={"X-Own": "1"}, trust_env=False) as client:
            judge = judge_of(http_client=client)
            verdicts = await judge.check_source([FOUND], Text.of(TEXT))
            await judge.aclose()
            return labels(verdicts), client.is_closed

    assert asyncio.run(with_own_client()) == (["yes"], False)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: OpenAIJudge(" "), "name of a model"),
        (lambda: OpenAIJudge("m", "ftp://127.0.0.1"), "http:// or https://"),
        (lambda: OpenAIJudge("m", "https://"), "names a host"),
        (lambda: OpenAIJudge("m", "http://ana:pw@127.0.0.1/v1"), "neither user, password"),
        (lambda: OpenAIJudge("m", "http://127.0.0.1/v1?key=1"), "neither user, password"),
        (lambda: OpenAIJudge("m", "http://127.0.0.1/v1\tx"), "characters that are not shown"),
        (lambda: OpenAIJudge("m", "http://[::1"), "cannot be read"),
        (lambda: OpenAIJudge("m", api_key="sk-\nX: 1"), "cannot be sent"),
        (lambda: OpenAIJudge(5), "model must be a text, got int"),  # type: ignore[arg-type]
        (lambda: OpenAIJudge("m", api_key=b"sk-1"), "api_key must be a text, got bytes"),  # type: ignore[arg-type]
        (lambda: OpenAIJudge("m", budget=MoneyCap(1)), "no price, so a cap would hold nothing"),
        (lambda: OpenAIJudge("m", budget=MoneyCap(1), price=Price(2.0)), "no price, so a cap"),
        (lambda: OpenAIJudge("m", budget=MoneyCap(1), price=Price(0, 2.0)), "no price, so a cap"),
        (lambda: OpenAIJudge("m", limits=Limits(max_attempts=0)), "max_attempts must be at least 1"),
        (lambda: OpenAIJudge("m", limits=Limits(timeout_seconds=0)), "timeout_seconds"),
        (lambda: OpenAIJudge("m", limits=Limits(calls_per_minute=0)), "calls_per_minute must be at least 1"),
        (lambda: OpenAIJudge("m", limits=Limits(context_tokens=4000)), "larger than max_tokens"),
    ],
)
def test_settings_that_cannot_work_are_refused_at_once(make: Callable[[], OpenAIJudge], reason: str) -> None:
    with pytest.raises(JudgeSettings, match=reason):
        make()
