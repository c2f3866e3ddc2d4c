import asyncio
import subprocess
import sys
import threading

import pytest

from evaluation.judging import JudgeSettings, LexicalJudge, Verdict, check_claims, extract_claims
from evaluation.judging.errors import JudgeUnavailable
from evaluation.judging.protocol import (
    CoverReading,
    CoverRequest,
    DocumentReading,
    DocumentRequest,
    MemoryCallStore,
    StoredCall,
    Text,
)
from evaluation.text._splitting import Span


class Recorder:
    name = "recorder"
    kind = "lexical"
    signature = "recorder:1"

    def __init__(self, failure: Exception | None = None) -> None:
        self.threads: list[int] = []
        self.texts: list[Text] = []
        self.closed = 0
        self._failure = failure

    async def read_document(self, request: DocumentRequest) -> DocumentReading:
        self.texts.append(request.source)
        return DocumentReading()

    async def cover_summary(self, request: CoverRequest) -> CoverReading:
        self.threads.append(threading.get_ident())
        self.texts.append(request.summary)
        await asyncio.sleep(0)
        if self._failure is not None:
            raise self._failure
        return CoverReading(tuple(Verdict("yes") for _ in request.claims))

    align_summary = check_source = cover_summary

    async def aclose(self) -> None:
        self.closed += 1


def test_without_a_loop_the_caller_does_the_work() -> None:
    judge = Recorder()
    assert check_claims(["a", "b"], "text", judge=judge) == (Verdict("yes"), Verdict("yes"))
    assert judge.threads == [threading.get_ident()]


def test_inside_a_running_loop_another_thread_does_the_work() -> None:
    judge = Recorder()

    async def notebook_cell() -> tuple[Verdict, ...]:
        return check_claims(["a"], "text", judge=judge)

    assert asyncio.run(notebook_cell()) == (Verdict("yes"),)
    assert judge.threads != [threading.get_ident()]


@pytest.mark.parametrize("in_a_loop", [False, True])
def test_an_error_reaches_the_caller_and_the_judge_is_closed(in_a_loop: bool) -> None:
    judge = Recorder(JudgeUnavailable("gone"))

    async def notebook_cell() -> None:
        check_claims(["a"], "text", judge=judge)

    def script() -> None:
        check_claims(["a"], "text", judge=judge)

    with pytest.raises(JudgeUnavailable, match="gone"):
        asyncio.run(notebook_cell()) if in_a_loop else script()
    assert judge.closed == 1


def test_a_string_becomes_its_sentences_in_its_language() -> None:
    judge = Recorder()
    extract_claims("Es regnete. Wir gingen.", judge=judge, language="de")
    assert judge.texts == [Text("Es regnete. Wir gingen.", (Span(0, 11), Span(12, 23)), "de")]


def test_one_string_is_no_list_of_claims() -> None:
    with pytest.raises(JudgeSettings, match="write \\[claim\\]"):
        check_claims("It rained.", "It rained.", judge=LexicalJudge())


def test_judging_without_calls_does_not_load_the_client() -> None:
    code = (
        "import sys, evaluation.judging as judging\n"
        "judging.OpenAIJudge('m', 'http://127.0.0.1:9/v1')\n"
        "print('openai' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_first_call_under_a_key_stays() -> None:
    store = MemoryCallStore()
    first, second = (StoredCall("k", "j", "extract", "1", "{}", reply, "stop") for reply in ("a", "b"))

    async def put_both() -> StoredCall | None:
        await store.put(first)
        await store.put(second)
        return await store.get("k")

    assert asyncio.run(put_both()) == first
    assert asyncio.run(store.get("other")) is None
