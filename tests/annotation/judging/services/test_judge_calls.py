from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from annotation.judging.services.judges import at_work
from annotation.judging.services.running import calls as judge_calls
from annotation.judging.services.running.calls import RowCallStore
from annotation.judging.services.running.database_thread import DatabaseThread
from annotation.models import Judge, JudgeCall
from evaluation.judging.errors import JudgeUnavailable
from evaluation.judging.protocol import StoredCall, Text
from tests.annotation.judging.services.test_judges import openai_row
from tests.llm_server import faults

if TYPE_CHECKING:
    from tests.llm_server import LLMServer

TEXT = Text.of("The harbour wall was breached.")


def call(**changes: Any) -> StoredCall:
    return StoredCall(
        **{
            "key": "k" * 64,
            "judge": "gpt",
            "step": "extract",
            "prompt_version": "1",
            "request": "{}",
            "reply": "first",
            "finish_reason": "stop",
            "prompt_tokens": 12,
            "completion_tokens": 3,
            "seconds": 0.5,
            "model": "gpt-2026-11-01",
            **changes,
        }
    )


@pytest.fixture
def store(transactional_db: None) -> Any:
    row = openai_row()
    row.save()
    with closing(DatabaseThread("test")) as thread:
        yield RowCallStore(row, thread)


def test_a_call_comes_back_as_it_was_kept(store: RowCallStore) -> None:
    asyncio.run(store.put(call()))
    assert asyncio.run(store.get("k" * 64)) == call()
    assert asyncio.run(store.get("other")) is None


def test_the_first_call_under_a_key_stays(store: RowCallStore) -> None:
    asyncio.run(store.put(call()))
    asyncio.run(store.put(call(reply="second")))
    assert JudgeCall.objects.get().reply == "first"


def test_what_a_server_reports_never_breaks_the_row(store: RowCallStore) -> None:
    asyncio.run(
        store.put(
            call(finish_reason="x" * 500, model="m" * 500, prompt_tokens=10**18, completion_tokens=None)
        )
    )
    row = JudgeCall.objects.get()
    assert (row.finish_reason, row.prompt_tokens, row.completion_tokens) == ("x" * 40, 2**31 - 1, 0)
    assert row.served_model == "m" * 200


def ask(judge: Judge) -> list[Any]:
    with at_work(judge) as working:
        asked = working.begin(working.judge.check_source(["The harbour wall was breached"], TEXT))
        return [asked.exception() or asked.result()]


def test_the_event_loop_of_a_judge_survives_what_ends_its_thread(transactional_db: None) -> None:
    row = openai_row()
    row.save()
    with at_work(row) as working:
        working.loop.call_soon_threadsafe(sys.exit)
        assert (
            asyncio.run_coroutine_threadsafe(asyncio.sleep(0, "goes on"), working.loop).result(30)
            == "goes on"
        )


def in_threads(*works: Callable[[], object]) -> None:
    start = threading.Barrier(len(works))

    def one(work: Callable[[], object]) -> None:
        try:
            start.wait(60)
            work()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(works)) as threads:
        done = [threads.submit(one, work) for work in works]
    for each in done:
        each.result()


def test_workers_that_ask_the_same_thing_at_the_same_time_pay_once(
    llm_judge: Judge, llm_server: LLMServer
) -> None:
    llm_server.latency = 0.3
    answers: list[Any] = []
    in_threads(*[lambda: answers.extend(ask(llm_judge))] * 4)
    assert len(llm_server.calls) == 1
    assert [[verdict.label for verdict in answer] for answer in answers] == [["yes"]] * 4
    assert JudgeCall.objects.count() == 1
    assert not JudgeCall.all_calls.exclude(lease_until=None).exists()


@pytest.mark.slow
def test_a_claim_whose_worker_lives_is_waited_for(llm_judge: Judge, llm_server: LLMServer) -> None:
    llm_server.latency = 1.0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judge_calls, "CLAIM_SECONDS", 0.3)
        in_threads(*[lambda: ask(llm_judge)] * 2)
    assert len(llm_server.calls) == 1


def test_a_dead_worker_s_claim_is_taken_when_its_lease_has_run_out(
    llm_judge: Judge, llm_server: LLMServer
) -> None:
    key = key_of_the_question(llm_judge)
    until = timezone.now() + timedelta(seconds=0.4)
    JudgeCall.all_calls.create(judge=llm_judge, key=key, token="of a worker that died", lease_until=until)
    began = timezone.now()
    [[verdict]] = ask(llm_judge)
    assert verdict.label == "yes"
    assert timezone.now() >= until > began
    assert len(llm_server.calls) == 2
    assert not JudgeCall.all_calls.exclude(lease_until=None).exists()


def key_of_the_question(judge: Judge) -> str:
    ask(judge)
    key = JudgeCall.objects.get().key
    JudgeCall.objects.all().delete()
    return key


@pytest.mark.parametrize("fault", [faults.status(422, "no"), faults.status(401, "no")], ids=["422", "401"])
def test_a_question_that_got_no_reply_is_free_for_others_at_once(
    llm_judge: Judge, llm_server: LLMServer, fault: Any
) -> None:
    llm_server.always(fault)
    ask(llm_judge)
    assert not JudgeCall.all_calls.exists()


def test_a_question_that_failed_is_asked_by_whoever_waited_for_it(
    llm_judge: Judge, llm_server: LLMServer
) -> None:
    llm_server.latency = 0.2
    llm_server.then(faults.status(401, "no"))
    answers: list[Any] = []
    in_threads(*[lambda: answers.extend(ask(llm_judge))] * 2)
    assert len(llm_server.calls) == 2
    assert sorted(isinstance(answer, BaseException) for answer in answers) == [False, True]
    assert not any(isinstance(answer, JudgeUnavailable) for answer in answers)


def test_questions_are_claimed_in_one_order(store: RowCallStore) -> None:
    store._claim(["b", "a"])
    assert list(JudgeCall.all_calls.order_by("pk").values_list("key", flat=True)) == ["a", "b"]


def test_a_reply_that_is_paid_for_is_kept_though_the_task_is_cancelled(store: RowCallStore) -> None:
    async def keep() -> None:
        keeping = asyncio.create_task(store.put(call()))
        await asyncio.sleep(0)
        keeping.cancel()
        await asyncio.wait([keeping])
        assert keeping.cancelled()

    asyncio.run(keep())
    assert asyncio.run(store.get("k" * 64)) == call()


def test_a_task_that_is_cancelled_while_it_claims_leaves_no_claim(store: RowCallStore) -> None:
    async def claim() -> None:
        claiming = asyncio.create_task(store.get("k" * 64))
        await asyncio.sleep(0)
        claiming.cancel()
        await asyncio.wait([claiming])
        assert claiming.cancelled()
        store.release("k" * 64)
        # The store works in order, so its earlier work is done now.
        await store.put(call(key="other"))

    asyncio.run(claim())
    assert not JudgeCall.all_calls.exclude(lease_until=None).exists()


def test_a_reply_that_is_paid_for_waits_for_a_database_that_restarts(
    store: RowCallStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep, tries = JudgeCall.objects.bulk_create, list[Any]()

    def away(*rows: Any, **how: Any) -> Any:
        tries.append(rows)
        if len(tries) < 3:
            raise OperationalError("the database system is shutting down")
        return keep(*rows, **how)

    monkeypatch.setattr(JudgeCall.objects, "bulk_create", away)
    asyncio.run(store.put(call()))
    assert (len(tries), JudgeCall.objects.count()) == (3, 1)
