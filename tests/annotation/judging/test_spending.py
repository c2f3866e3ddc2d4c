from __future__ import annotations

import asyncio
import threading
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import pytest
from django.db import connection, transaction

from annotation.core.refusals import Invalid
from annotation.judging.queries.runs import run_progress
from annotation.judging.services.running.database_thread import DatabaseThread
from annotation.judging.services.running.spend import RunBudget
from annotation.judging.services.running.turn import judge_run
from annotation.judging.services.start_run import cancel_run, resume_run, start_run
from annotation.models import ClaimSet, Judge, JudgeCall, Run, Verdict
from evaluation.judging.errors import BudgetSpent
from tests.annotation.judging.doing import perform_all, run_to_end

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.annotation.cast import World
    from tests.llm_server import LLMServer


@pytest.fixture
def priced(llm_judge: Judge) -> Judge:
    Judge.objects.filter(pk=llm_judge.pk).update(
        prompt_price=2.0, completion_price=8.0, max_tokens=100, concurrency=1
    )
    llm_judge.refresh_from_db()
    return llm_judge


def paid_by(run: Run) -> float:
    calls = JudgeCall.objects.filter(run=run)
    return sum((call.prompt_tokens * 2.0 + call.completion_tokens * 8.0) / 1_000_000 for call in calls)


def test_a_second_run_makes_no_call_and_costs_nothing(
    world: World, priced: Judge, llm_server: LLMServer
) -> None:
    run_to_end(world.project, priced, ["factual_alignment"])
    made = len(llm_server.calls)
    Verdict.objects.filter(judge=priced).delete()
    second = run_to_end(world.project, priced, ["factual_alignment"])
    progress = run_progress(second)
    assert (progress.done, progress.calls, progress.cost) == (2, 0, 0.0)
    assert len(llm_server.calls) == made


def test_the_calls_of_a_judge_without_a_price_are_counted_and_cost_nothing(
    world: World, llm_judge: Judge
) -> None:
    progress = run_progress(run_to_end(world.project, llm_judge))
    assert (progress.calls > 0, progress.cost) == (True, 0.0)


def test_a_run_stops_before_it_costs_more_than_its_cap_and_goes_on_with_a_higher_one(
    world: World, priced: Judge, llm_server: LLMServer
) -> None:
    whole = run_progress(run_to_end(world.project, priced)).cost
    made = len(llm_server.calls)
    JudgeCall.objects.all().delete()
    Verdict.objects.filter(judge=priced).delete()
    ClaimSet.objects.filter(summary=world.references["bridge"]).delete()
    cap = whole / 2
    run = start_run(project=world.project, judge=priced, max_cost=cap, by=None)
    perform_all(run)
    assert run.state == "stopped"
    assert f"may cost {cap:g}" in run.stop_reason
    assert "expected to cost" in run.stop_reason
    assert "has cost" not in run.stop_reason
    assert set(run.jobs.values_list("state", flat=True)) <= {"done", "cancelled"}
    # With one call at a time, the last reply may be up to 100 tokens longer than expected, at 8 per million.
    assert 0 < run.cost <= cap + 0.0008
    assert run.cost == pytest.approx(paid_by(run))
    perform_all(resume_run(run=run, max_cost=1.0, by=None))
    run.refresh_from_db()
    assert (run.state, run.stop_reason) == ("finished", "")
    # The two parts of this run together paid for each call once, as the whole run before did.
    assert len(llm_server.calls) == 2 * made
    assert run.cost == pytest.approx(whole)


@pytest.mark.parametrize("cap", [0.0, -1.0, float("nan"), float("inf")])
def test_a_cap_is_a_number_above_0(world: World, priced: Judge, cap: float) -> None:
    with pytest.raises(Invalid, match="above 0"):
        start_run(project=world.project, judge=priced, max_cost=cap, by=None)
    assert not Run.objects.exists()


def test_a_cap_on_a_judge_without_a_price_is_refused(world: World) -> None:
    with pytest.raises(Invalid, match="has no price"):
        start_run(project=world.project, judge=world.judge, max_cost=1.0, by=None)


@pytest.fixture
def budget(transactional_db: None, world: World) -> Iterator[RunBudget]:
    run = start_run(project=world.project, judge=world.judge, by=None)
    Run.objects.filter(pk=run.pk).update(max_cost=1.0)
    run.refresh_from_db()
    with closing(DatabaseThread("test")) as thread:
        yield RunBudget(run, thread)


def test_what_is_reserved_leaves_less_for_others_until_it_is_given_back(budget: RunBudget) -> None:
    async def reserve_and_wait() -> None:
        await budget.reserve(0.6)
        waiting = asyncio.create_task(budget.reserve(0.5))
        assert await asyncio.wait([waiting], timeout=0.3) == (set(), {waiting})
        await budget.settle(0.6, 0.1)
        await waiting

    asyncio.run(reserve_and_wait())
    assert cost() == pytest.approx(0.1 + 0.5)


def test_what_another_worker_holds_back_leaves_less(budget: RunBudget) -> None:
    with closing(DatabaseThread("other")) as thread:
        asyncio.run(RunBudget(Run.objects.get(), thread).reserve(0.9))
    with pytest.raises(BudgetSpent):
        asyncio.run(budget.reserve(0.2))
    asyncio.run(budget.reserve(0.1))


def test_what_a_dead_worker_held_back_comes_free_when_the_run_is_resumed(world: World, priced: Judge) -> None:
    run = start_run(project=world.project, judge=priced, max_cost=1.0, by=None)
    judge_run(run, most=1)
    paid = paid_by(run)
    Run.objects.filter(pk=run.pk).update(cost=0.99)
    cancel_run(run=run, by=None)
    assert resume_run(run=run, by=None).cost == pytest.approx(paid)
    perform_all(run)
    assert (run.state, run.cost) == ("finished", pytest.approx(paid_by(run)))


def test_of_many_calls_at_once_only_those_that_fit_are_let_go_ahead(budget: RunBudget) -> None:
    async def call(price: float) -> bool:
        try:
            await budget.reserve(0.3)
        except BudgetSpent:
            return False
        assert await asyncio.to_thread(_cost_in_thread) <= 1.0 + 1e-9
        await budget.settle(0.3, price)
        return True

    async def made(price: float) -> int:
        return sum(await asyncio.gather(*(call(price) for _ in range(10))))

    # Each call reserves .3 and then costs .1, so three calls fit into 1 at once. After n calls, 1 - .1 n is left;
    # another call needs .3, so it may follow up to 7 calls. That makes 8 calls.
    assert asyncio.run(made(0.1)) == 8
    assert cost() == pytest.approx(0.8)


def _cost_in_thread() -> float:
    with closing(connection):
        return cost()


def cost() -> float:
    return Run.objects.values_list("cost", flat=True).get()


def everything_is_done(budget: RunBudget) -> None:
    asyncio.run(budget.settle(0.0, 0.0))


@contextmanager
def locked_run() -> Iterator[threading.Event]:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite locks no rows")
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with closing(connection), transaction.atomic():
            Run.objects.select_for_update().get()
            held.set()
            release.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(60)
    yield release
    release.set()
    thread.join()


@pytest.mark.parametrize("asked_before", [0, 1], ids=["started", "not yet started"])
def test_who_is_cancelled_while_setting_aside_has_set_nothing_aside(
    budget: RunBudget, asked_before: int
) -> None:
    async def ask(release: threading.Event) -> None:
        before = [asyncio.create_task(budget.reserve(0.1)) for _ in range(asked_before)]
        asking = asyncio.create_task(budget.reserve(0.2))
        await asyncio.wait([asking], timeout=0.2)
        asking.cancel()
        await asyncio.wait([asking])
        assert asking.cancelled()
        release.set()
        await asyncio.gather(*before)

    with locked_run() as release:
        asyncio.run(ask(release))
    everything_is_done(budget)
    assert cost() == pytest.approx(0.1 * asked_before)


def test_who_is_cancelled_while_settling_has_settled(budget: RunBudget) -> None:
    async def settle(release: threading.Event) -> None:
        settling = asyncio.create_task(budget.settle(0.5, 0.4))
        await asyncio.wait([settling], timeout=0.2)
        settling.cancel()
        await asyncio.wait([settling])
        assert settling.cancelled()
        release.set()

    asyncio.run(budget.reserve(0.5))
    with locked_run() as release:
        asyncio.run(settle(release))
    everything_is_done(budget)
    assert cost() == pytest.approx(0.4)
