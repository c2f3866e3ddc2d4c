import asyncio
import time
from itertools import pairwise

import pytest

from evaluation import Limits, MoneyCap
from evaluation.judging import pace
from evaluation.judging.errors import BudgetSpent
from evaluation.judging.pace import Pace
from tests.evaluation.judging.conftest import JudgeMaker
from tests.llm_server import LLMServer

MINUTE = 0.2


@pytest.fixture(autouse=True)
def _short_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "SECONDS", MINUTE)


def went(paced: Pace, tokens: list[int]) -> list[float]:
    async def all_at_once() -> list[float]:
        async def one(count: int) -> float:
            await paced.turn(count)
            return time.monotonic()

        return sorted(await asyncio.gather(*(one(count) for count in tokens)))

    return asyncio.run(all_at_once())


def test_no_minute_has_more_calls_than_allowed() -> None:
    times = went(Pace(3, None), [1] * 8)
    assert all(later - earlier >= MINUTE * 0.99 for earlier, later in zip(times, times[3:], strict=False))


def test_no_minute_has_more_tokens_than_allowed() -> None:
    times = went(Pace(None, 100), [60] * 3)
    assert all(later - earlier >= MINUTE * 0.99 for earlier, later in pairwise(times))


def test_a_judge_keeps_to_its_calls_per_minute(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    from evaluation import check_claims

    started = time.monotonic()
    check_claims(
        [f"claim {number}" for number in range(5)],
        "It rained.",
        judge=judge_of(limits=Limits(claims_per_call=1, calls_per_minute=2)),
    )
    assert time.monotonic() - started >= 2 * MINUTE * 0.99
    assert len(llm_server.calls) == 5


def test_a_judge_keeps_to_its_tokens_per_minute(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    from evaluation import check_claims

    # Each call may use 400 reply tokens and more than 100 prompt tokens, so two calls exceed the limit of a minute.
    limits = Limits(claims_per_call=1, max_tokens=400, tokens_per_minute=1000)
    started = time.monotonic()
    check_claims([f"claim {number}" for number in range(3)], "It rained.", judge=judge_of(limits=limits))
    assert time.monotonic() - started >= 2 * MINUTE * 0.99
    assert len(llm_server.calls) == 3


def test_a_cap_makes_a_call_wait_for_those_under_way() -> None:
    async def use() -> MoneyCap:
        cap = MoneyCap(1.0)
        await cap.reserve(0.6)
        # After the first call has cost less than reserved, there is room for another call.
        waiting = asyncio.create_task(cap.reserve(0.6))
        assert await asyncio.wait([waiting], timeout=0.1) == (set(), {waiting})
        await cap.settle(0.6, 0.2)
        await waiting
        await cap.settle(0.6, 0.5)
        with pytest.raises(BudgetSpent, match=r"money cap of 1 .* expected to cost 0\.6"):
            await cap.reserve(0.6)
        return cap

    assert asyncio.run(use()).spent == pytest.approx(0.7)
