import asyncio
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from evaluation import evaluate_summary
from evaluation.gate import FileCallStore
from evaluation.judging import JudgeSettings
from evaluation.judging.errors import JudgeRefused
from evaluation.judging.protocol import StoredCall
from tests.evaluation.judging.conftest import JudgeMaker
from tests.llm_server import LLMServer

CALL = StoredCall("k", "judge", "extract", "1", "{}", "räply", "stop", 3, None, 0.5, "m")


def test_a_call_comes_back_as_it_was_kept_and_the_first_one_stays(tmp_path: Path) -> None:
    store = FileCallStore(tmp_path / "calls.sqlite3")
    asyncio.run(store.put(CALL))
    asyncio.run(store.put(replace(CALL, reply="other")))
    store.close()
    again = FileCallStore(tmp_path / "calls.sqlite3")
    assert asyncio.run(again.get("k")) == CALL
    assert asyncio.run(again.get("other")) is None


def test_a_second_judge_with_the_file_asks_nothing_and_no_key_is_in_it(
    judge_of: JudgeMaker, llm_server: LLMServer, tmp_path: Path
) -> None:
    path = tmp_path / "calls.sqlite3"
    texts = ("It rained. The mayor left.", "It rained.")
    first = evaluate_summary(*texts, judge=judge_of(store=FileCallStore(path)), metrics=["alignment"])
    made = len(llm_server.calls)
    second = evaluate_summary(*texts, judge=judge_of(store=FileCallStore(path)), metrics=["alignment"])
    assert made == len(llm_server.calls) > 0
    assert first.scores == second.scores == {"alignment": 1.0}
    assert b"sk-test-4711" not in b"".join(each.read_bytes() for each in tmp_path.iterdir())


@pytest.mark.parametrize("content", [b"not a database, whatever its name says" * 9, None])
def test_a_file_that_cannot_keep_calls_is_refused(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "calls.sqlite3"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    with pytest.raises(JudgeSettings, match=r"calls\.sqlite3 cannot keep a judge's calls"):
        FileCallStore(path)


def test_a_file_that_fails_later_is_named_and_ends_the_run(
    judge_of: JudgeMaker, llm_server: LLMServer, tmp_path: Path
) -> None:
    path = tmp_path / "calls.sqlite3"
    judge = judge_of(store=FileCallStore(path))
    with sqlite3.connect(path) as other:
        other.execute(
            "CREATE TRIGGER full BEFORE INSERT ON judge_calls BEGIN SELECT RAISE(ABORT, 'disk is full'); END"
        )
    with pytest.raises(JudgeRefused, match=r"calls\.sqlite3 no longer keeps .*: disk is full"):
        evaluate_summary("It rained.", "It rained.", judge=judge, metrics=["alignment"])
    assert len(llm_server.calls) == 1
