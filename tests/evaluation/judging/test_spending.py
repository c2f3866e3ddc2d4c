import asyncio
import json
from typing import Any

import pytest

from evaluation import (
    Limits,
    MoneyCap,
    OpenAIJudge,
    Price,
    check_claims,
)
from evaluation.judging import Usage
from evaluation.judging.errors import BudgetSpent, JudgeUnavailable
from evaluation.judging.protocol import MemoryCallStore, Text, metered
from tests.evaluation.judging.conftest import JudgeMaker
from tests.llm_server import Call, Fault, LLMServer, faults

TEXT = "The council met on Tuesday."
# A prompt token costs 1 and a reply token 10.
PRICE = Price(prompt=1_000_000, completion=10_000_000)
ONCE = Limits(timeout_seconds=2, max_attempts=1, max_tokens=50)
TWICE = Limits(timeout_seconds=2, max_attempts=2, max_tokens=50)


def tokens_of(call: Call) -> int:
    parts = [message["content"] for message in call.body["messages"]]
    parts.append(json.dumps(call.body["response_format"], ensure_ascii=False, separators=(",", ":")))
    return sum(-(-len(part.encode()) // 3) for part in parts)


def whole_cost(call: Call, reply_characters: int) -> int:
    # The scripted server counts four characters as one token.
    return call.prompt_characters // 4 + 10 * (reply_characters // 4)


class SlowBudget:
    def __init__(self, *, refuses: bool = False) -> None:
        self.reserved = 0.0
        self.spent = 0.0
        self.started = asyncio.Event()
        self._refuses = refuses

    async def reserve(self, cost: float) -> None:
        self.started.set()
        await asyncio.sleep(0.05)
        if self._refuses:
            raise BudgetSpent("nothing left")
        self.reserved += cost

    async def settle(self, reserved: float, cost: float) -> None:
        await asyncio.sleep(0.05)
        self.reserved -= reserved
        self.spent += cost


@pytest.mark.parametrize("fault", [faults.hang(), faults.reset(), faults.reset_in_answer()])
def test_a_call_broken_off_costs_its_prompt(
    judge_of: JudgeMaker, llm_server: LLMServer, fault: Fault
) -> None:
    llm_server.always(fault)
    cap = MoneyCap(1e6)
    with metered() as meter, pytest.raises(JudgeUnavailable):
        check_claims(["a"], TEXT, judge=judge_of(limits=ONCE, price=PRICE, budget=cap))
    (call,) = llm_server.calls
    assert cap.spent == pytest.approx(tokens_of(call))
    assert meter.usage == Usage(cost=float(tokens_of(call)), broken_calls=1)


def test_what_was_broken_off_and_asked_again_costs_both(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    llm_server.then(faults.hang())
    cap, store = MoneyCap(1e6), MemoryCallStore()
    with metered() as meter:
        check_claims(["a"], TEXT, judge=judge_of(limits=TWICE, price=PRICE, budget=cap, store=store))
    broken, whole = llm_server.calls
    assert cap.spent == pytest.approx(tokens_of(broken) + whole_cost(whole, len(store.calls[0].reply)))
    assert (meter.usage.calls, meter.usage.broken_calls) == (1, 1)
    assert meter.usage.cost == pytest.approx(cap.spent)


def test_every_attempt_sets_its_own_money_aside(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    # An attempt reserves its prompt and a tenth of 50 reply tokens at 10 each. The cap is 1 less than two prompts and
    # one such reply. The interrupted first attempt costs its prompt, so a second attempt does not fit.
    llm_server.always(faults.reset())
    with pytest.raises(JudgeUnavailable):
        check_claims(["a"], TEXT, judge=judge_of(limits=ONCE))
    prompt = tokens_of(llm_server.calls[0])
    cap = MoneyCap(2 * prompt + 5 * 10 - 1)
    with pytest.raises(BudgetSpent):
        check_claims(["a"], TEXT, judge=judge_of(limits=TWICE, price=PRICE, budget=cap))
    assert cap.spent == pytest.approx(prompt)
    assert len(llm_server.calls) == 2


@pytest.mark.parametrize(
    "fault", [faults.status(500), faults.rate_limited(), faults.status(400, "odd")], ids=["500", "429", "400"]
)
def test_what_the_server_turns_down_costs_nothing(
    judge_of: JudgeMaker, llm_server: LLMServer, fault: Fault
) -> None:
    llm_server.then(fault)
    cap, store = MoneyCap(1e6), MemoryCallStore()
    with metered() as meter:
        check_claims(["a"], TEXT, judge=judge_of(limits=TWICE, price=PRICE, budget=cap, store=store))
    assert cap.spent == whole_cost(llm_server.calls[-1], len(store.calls[0].reply))
    assert meter.usage.broken_calls == 0


async def cancelled(judge: OpenAIJudge, server: LLMServer, times: int) -> Usage:
    with metered() as meter:
        asking = asyncio.create_task(judge.check_source(["a"], Text.of(TEXT)))
        await asyncio.to_thread(server.wait_for_calls, 1)
        for _ in range(times):
            asking.cancel()
            await asyncio.sleep(0.01)
        with pytest.raises(asyncio.CancelledError):
            await asking
        await judge.aclose()
    return meter.usage


@pytest.mark.parametrize("times", [1, 3])
def test_a_cancelled_call_is_settled_with_its_prompt(
    judge_of: JudgeMaker, llm_server: LLMServer, times: int
) -> None:
    llm_server.always(faults.hang())

    async def settled() -> tuple[SlowBudget, Usage]:
        budget = SlowBudget()
        limits = Limits(max_tokens=50)
        return budget, await cancelled(judge_of(price=PRICE, budget=budget, limits=limits), llm_server, times)

    budget, usage = asyncio.run(settled())
    prompt = tokens_of(llm_server.calls[0])
    assert budget.reserved == 0
    assert budget.spent == pytest.approx(prompt)
    # The prices are whole numbers, so the sums are exact.
    assert usage == Usage(cost=float(prompt), broken_calls=1)


def test_the_end_of_a_loop_settles_too(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    llm_server.always(faults.hang())
    cap = MoneyCap(1e6)
    judge = judge_of(price=PRICE, budget=cap)

    async def left_behind() -> asyncio.Task[Any]:
        asking = asyncio.create_task(judge.check_source(["a"], Text.of(TEXT)))
        await asyncio.to_thread(llm_server.wait_for_calls, 1)
        return asking

    assert asyncio.run(left_behind()).cancelled()
    assert cap.spent == pytest.approx(tokens_of(llm_server.calls[0]))
    asyncio.run(cap.reserve(1e6 - cap.spent))


def test_who_is_cancelled_while_reserving_gives_it_back(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    async def outcome(refuses: bool) -> SlowBudget:
        budget = SlowBudget(refuses=refuses)
        judge = judge_of(price=PRICE, budget=budget)
        asking = asyncio.create_task(judge.check_source(["a"], Text.of(TEXT)))
        await budget.started.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await judge.aclose()
        return budget

    for refuses in (False, True):
        budget = asyncio.run(outcome(refuses))
        assert (budget.reserved, budget.spent) == (0, 0)
    assert llm_server.calls == []


def test_what_is_under_way_when_the_money_ends_is_kept(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    store = MemoryCallStore()
    claims = [f"claim {number}" for number in range(12)]
    check_claims(claims[:1], TEXT, judge=judge_of(store=store, limits=Limits(max_tokens=50)))
    llm_server.latency = 0.1
    # The budget allows about four calls at once, each with 50 reply tokens.
    cap = MoneyCap(4.5 * (tokens_of(llm_server.calls[0]) + 50 * 10))
    limits = Limits(max_tokens=50, claims_per_call=1, concurrency=12)
    judge = judge_of(store=store, limits=limits, price=PRICE, budget=cap, reply_format="json_schema")
    with pytest.raises(BudgetSpent):
        check_claims(claims, TEXT, judge=judge)
    assert len(llm_server.calls) > 2
    assert len(store.calls) == len(llm_server.calls)
    assert 0 < cap.spent <= cap.limit


def test_who_waits_for_money_can_be_cancelled() -> None:
    async def ask() -> None:
        cap = MoneyCap(1.0)
        await cap.reserve(0.8)
        waiting = asyncio.create_task(cap.reserve(0.5))
        assert await asyncio.wait([waiting], timeout=0.1) == (set(), {waiting})
        waiting.cancel()
        await asyncio.wait([waiting])
        # The reservation is released completely.
        await cap.settle(0.8, 0.0)
        await cap.reserve(1.0)

    asyncio.run(ask())


def test_a_small_cap_buys_what_it_is_worth(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    # A reply may have 400 tokens at 10, and the budget of 700 plus the prompts does not allow one reply of that length.
    # At first a tenth of that length is reserved, and later the mean length of the replies, about 30 tokens.
    limits = Limits(timeout_seconds=5, max_attempts=1, max_tokens=400, concurrency=1)
    check_claims(["a"], TEXT, judge=judge_of(limits=limits))
    prompt = tokens_of(llm_server.calls[0])
    cap = MoneyCap(2 * prompt + 700)
    judge = judge_of(limits=limits, price=PRICE, budget=cap)
    check_claims(["first"], TEXT, judge=judge)
    check_claims(["second"], TEXT, judge=judge)
    with pytest.raises(BudgetSpent, match="expected to cost"):
        check_claims(["long enough to be beyond the cap " * 40], TEXT, judge=judge)
    assert cap.spent <= cap.limit
