import asyncio
import itertools
import json
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from evaluation import (
    Limits,
    OpenAIJudge,
    SummaryEvaluation,
    SummaryInput,
    evaluate_summaries,
    evaluate_summary,
    stream_evaluations,
)
from evaluation.judging.errors import JudgeRefused
from evaluation.judging.protocol import MemoryCallStore
from tests.evaluation.judging.conftest import JudgeMaker
from tests.evaluation.running.dams import corpus
from tests.llm_server import Call, LLMServer, faults


def common_beginning(texts: list[str]) -> str:
    first, last = min(texts), max(texts)
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    return first[: sum(1 for _ in same)]


def scores(results: tuple[SummaryEvaluation, ...]) -> list[dict[str, float | None]]:
    return [dict(result.scores) for result in results]


def test_one_judge_serves_several_threads_at_once(judge: OpenAIJudge) -> None:
    works = [corpus(5, first) for first in (0, 5, 10, 15)]
    with ThreadPoolExecutor(len(works)) as threads:
        found = list(threads.map(lambda items: evaluate_summaries(items, judge=judge), works))
    alone = [evaluate_summaries(items, judge=judge) for items in works]
    assert [scores(results) for results in found] == [scores(results) for results in alone]
    assert [[result.key for result in results] for results in found] == [
        [item.key for item in items] for items in works
    ]


def test_an_evaluation_can_be_made_within_another(judge: OpenAIJudge) -> None:
    inner: list[float | None] = []

    def again(position: int, result: SummaryEvaluation) -> None:
        # The callback runs in the event loop of the outer evaluation.
        item = corpus(1, first=50 + position)[0]
        inner.append(evaluate_summary(item.document, item.summary, judge=judge)["alignment"])

    outer = evaluate_summaries(corpus(3), judge=judge, on_result=again)
    assert [result["alignment"] for result in outer] == inner == [0.5] * 3


def test_judges_with_other_instructions_share_a_store_and_no_answers(
    judge_of: JudgeMaker, llm_server: LLMServer
) -> None:
    store = MemoryCallStore()
    (item,) = corpus(1)
    for wish in (None, "Be strict.", "Be kind.", "Be strict."):
        evaluate_summary(item.document, item.summary, judge=judge_of(store=store), custom_instruction=wish)
    assert len(llm_server.calls) == 3 * 3


def test_an_endless_list_is_taken_as_it_is_worked_on(judge_of: JudgeMaker) -> None:
    taken: list[int] = []

    def endless() -> Any:
        number = 0
        while True:
            taken.append(number)
            yield corpus(1, number)[0]
            number += 1

    async def first_five() -> list[int]:
        judge = judge_of(limits=Limits(concurrency=2))
        stream = stream_evaluations(endless(), judge=judge)
        found = []
        async for position, _ in stream:
            found.append(position)
            if len(found) == 5:
                break
        await stream.aclose()  # type: ignore[attr-defined]
        await judge.aclose()
        return found

    assert len(asyncio.run(first_five())) == 5
    # Only the summaries whose results are ready or in progress have been taken.
    assert len(taken) < 20


def test_all_calls_about_a_document_begin_alike_up_to_its_end(
    judge: OpenAIJudge, llm_server: LLMServer
) -> None:
    document = " ".join(f"Sentence number {number} tells of town {number}." for number in range(30))
    items = [(document, f"Sentence number {number} tells of town {number}.") for number in (3, 7, 11)]
    evaluate_summaries(items, judge=judge, metrics=["alignment"])
    prompts = [
        "\n".join(message["content"] for message in call.body["messages"]) for call in llm_server.calls
    ]
    shared = common_beginning(prompts)
    assert len(prompts) == 3
    assert "tells of town 29." in shared
    # If many claims of a reference are asked about, they come before the summary in the request.
    llm_server.calls.clear()
    evaluate_summaries(items, judge=judge, metrics=["coverage"])
    covers = [call for call in llm_server.calls if "claims" in call.question]
    prompts = ["\n".join(message["content"] for message in call.body["messages"]) for call in covers]
    assert "tells of town 29" in common_beginning(prompts)


DOCUMENT, SUMMARY = "It rained on Monday. The mayor left.", "The mayor left."
BAD: list[Any] = [
    None,
    5,
    "text",
    b"text",
    (DOCUMENT,),
    (DOCUMENT, None),
    (DOCUMENT, SUMMARY, 5),
    {"document": DOCUMENT},
    SummaryInput(b"bytes", SUMMARY),  # type: ignore[arg-type]
    SummaryInput(DOCUMENT, SUMMARY, reference=["a"]),  # type: ignore[arg-type]
    SummaryInput(DOCUMENT, SUMMARY, questions=5),  # type: ignore[arg-type]
    SummaryInput(DOCUMENT, SUMMARY, questions="Did it rain?"),
    SummaryInput(DOCUMENT, SUMMARY, questions=["Did it rain?", None]),  # type: ignore[list-item]
    SummaryInput(DOCUMENT, SUMMARY, language=None),  # type: ignore[arg-type]
    SummaryInput(DOCUMENT, SUMMARY, language=["en"]),  # type: ignore[arg-type]
    SummaryInput(DOCUMENT, SUMMARY, target_words=0),
    SummaryInput(DOCUMENT, SUMMARY, target_words=True),
    SummaryInput(DOCUMENT, SUMMARY, target_words="50"),  # type: ignore[arg-type]
    SummaryInput(DOCUMENT, SUMMARY, target_words=float("nan")),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: repr(bad)[:60])
def test_a_summary_that_cannot_be_evaluated_costs_no_other_its_result(judge: OpenAIJudge, bad: Any) -> None:
    before, found, after = evaluate_summaries(
        [(DOCUMENT, SUMMARY), bad, (DOCUMENT, SUMMARY)], judge=judge, metrics=["coverage", "brevity"]
    )
    assert dict(found.scores) == {"coverage": None, "brevity": None}
    assert found.reasons["coverage"].strip()
    assert before["coverage"] == after["coverage"] == 0.5


LEFTOVERS = """
import asyncio, os, signal, sys, threading, time

from evaluation import OpenAIJudge, SummaryInput, evaluate_summaries

signal.signal(signal.SIGINT, signal.default_int_handler)
judge = OpenAIJudge("m", sys.argv[1])
items = [SummaryInput(f"It rained on day {n}.", "Rain.") for n in range(20)]

def sockets():
    names = (os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if fd.isdigit()
             and os.path.exists(f"/proc/self/fd/{fd}"))
    return sum(name.startswith("socket:") for name in names)

async def notebook_cell():
    evaluate_summaries(items, judge=judge)

before = sockets()
loop = asyncio.new_event_loop() if sys.argv[2] == "in a loop" else None
inside = sockets() - before
try:
    if loop is None:
        evaluate_summaries(items, judge=judge)
    else:
        loop.run_until_complete(notebook_cell())
except KeyboardInterrupt:
    tasks = len(asyncio.all_tasks(loop)) if loop is not None else 0
    print("interrupted", [each.name for each in threading.enumerate()], tasks, sockets() - before - inside)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks at open files as Linux shows them")
@pytest.mark.parametrize("where", ["alone", "in a loop"])
def test_an_interrupt_leaves_no_thread_no_task_and_no_connection(llm_server: LLMServer, where: str) -> None:
    llm_server.always(faults.hang())
    command = [sys.executable, "-c", LEFTOVERS, llm_server.base_url, where]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        llm_server.wait_for_calls(1)
        process.send_signal(signal.SIGINT)
        told, complaints = process.communicate(timeout=60)
    assert told.strip() == "interrupted ['MainThread'] 0 0", complaints
    assert "never awaited" not in complaints
    assert "destroyed" not in complaints


def test_a_failure_of_one_call_ends_those_under_way(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    # The server refuses the first document; the other calls hang until they are cancelled.
    def rule(call: Call) -> Any:
        return faults.status(401) if "Dam 0 " in json.dumps(call.question) else faults.hang()

    llm_server.where(rule)
    judge = judge_of(limits=Limits(concurrency=8, timeout_seconds=600), reply_format="json_schema")

    async def tasks_left() -> int:
        async def all_of_it() -> None:
            async for _ in stream_evaluations(corpus(10), judge=judge):
                pass

        with pytest.raises(JudgeRefused, match="401"):
            await asyncio.wait_for(all_of_it(), 60)
        await judge.aclose()
        return len(asyncio.all_tasks()) - 1

    assert asyncio.run(tasks_left()) == 0


def signed(judge: OpenAIJudge, **options: Any) -> str:
    (item,) = corpus(1)
    given = {"metrics": ["brevity"], **options}
    return evaluate_summary(item.document, item.summary, judge=judge, **given).signature


@pytest.mark.parametrize(
    "options",
    [
        {"metrics": ["redundancy"]},
        {"questions": ["Did it rain?"]},
        {"n_questions": 7},
        {"target_words": 50},
        {"language": "de"},
        {"custom_instruction": "Be strict."},
        {"threshold": 0.7},
        {"strict": True},
        {"scale": 10.0},
    ],
    ids=lambda options: next(iter(options)),
)
def test_every_option_that_can_change_a_score_changes_the_signature(
    judge: OpenAIJudge, options: dict[str, Any]
) -> None:
    assert signed(judge, **options) != signed(judge)


@pytest.mark.parametrize("options", [{"include_reason": False}, {"verbose": True}], ids=str)
def test_what_changes_no_score_changes_no_signature(judge: OpenAIJudge, options: dict[str, Any]) -> None:
    assert signed(judge, **options) == signed(judge)


def test_a_signature_names_version_judge_and_prompt_versions(judge_of: JudgeMaker) -> None:
    from evaluation.blend import VERSION
    from evaluation.judging.prompts import PROMPTS

    found = signed(judge_of(model="large-1"))
    assert found.startswith(f"coverdict|v:{VERSION}|")
    assert "openai:large-1" in found
    assert f"prompts:{'.'.join(prompt.version for prompt in PROMPTS.values())}" in found
    assert found != signed(judge_of(model="large-1", seed=2))


def test_an_evaluation_names_the_models_that_answered(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    store = MemoryCallStore()

    def models() -> tuple[str, ...]:
        judge = judge_of(store=store)
        [found] = evaluate_summaries(
            [("It rained.", "It rained.")], judge=judge, metrics=["alignment", "coherence"]
        )
        return found.served_models

    llm_server.then(None, faults.completion(lambda completion: completion | {"model": "scripted-2"}))
    assert models() == ("scripted", "scripted-2")
    # Stored calls name their models too.
    assert models() == ("scripted", "scripted-2")
    assert len(llm_server.calls) == 2
