"""What a run's calls cost, and the cap that stops it."""

from __future__ import annotations

import asyncio
import threading
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import pytest
from django.db import connection, transaction

from annotation.core import jobs
from annotation.core.refusals import Invalid
from annotation.core.tables.pseudonyms import People
from annotation.exports.manifest import about
from annotation.judging.queries.runs import run_progress
from annotation.judging.services.spend import RunBudget, paying_job
from annotation.judging.services.start_run import resume_run, start_run
from annotation.models import ClaimSet, Job, Judge, JudgeCall, Run, Verdict
from evaluation.judging.errors import BudgetSpent
from tests.annotation.judging.doing import perform_all, run_to_end

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.annotation.cast import World
    from tests.llm_server import LLMServer


@pytest.fixture
def priced(llm_judge: Judge) -> Judge:
    """2 for a million prompt tokens, 8 for a million of replies; replies of 100 tokens at most; a call at a time."""
    Judge.objects.filter(pk=llm_judge.pk).update(
        prompt_price=2.0, completion_price=8.0, max_tokens=100, concurrency=1
    )
    llm_judge.refresh_from_db()
    return llm_judge


def paid_by(run: Run) -> float:
    calls = JudgeCall.objects.filter(run=run)
    return sum((call.prompt_tokens * 2.0 + call.completion_tokens * 8.0) / 1_000_000 for call in calls)


def test_a_run_tells_what_its_calls_took_and_cost(world: World, priced: Judge, llm_server: LLMServer) -> None:
    run = run_to_end(world.project, priced)
    progress = run_progress(run)
    assert progress.calls == len(llm_server.calls) > 0
    assert progress.prompt_tokens == sum(JudgeCall.objects.values_list("prompt_tokens", flat=True)) > 0
    assert progress.cost == pytest.approx(paid_by(run))
    assert progress.cost > 0


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
    ClaimSet.objects.filter(summary=world.models["bridge"]).delete()
    # Beside what the calls do cost, one must fit that is as long as it may be: 100 tokens at 8 per million.
    cap = whole / 2 + 0.0008
    run = start_run(project=world.project, judge=priced, max_cost=cap, by=None)
    perform_all(run)
    assert run.state == "stopped"
    assert f"may cost {cap:g}" in run.stop_reason
    assert "as long as max_tokens lets it be" in run.stop_reason
    # What it has cost goes on changing while other calls end, so a kept reason does not tell it.
    assert "has cost" not in run.stop_reason
    assert set(run.jobs.values_list("state", flat=True)) <= {"done", "cancelled"}
    assert 0 < run.cost <= cap
    assert run.cost == pytest.approx(paid_by(run))
    perform_all(resume_run(run=run, max_cost=1.0, by=None))
    run.refresh_from_db()
    assert (run.state, run.stop_reason) == ("finished", "")
    # All questions together were paid for once more, none of them twice.
    assert len(llm_server.calls) == 2 * made
    assert run.cost == pytest.approx(whole)


def test_a_cap_that_is_reached_already_is_refused(world: World, priced: Judge) -> None:
    run = run_to_end(world.project, priced)
    run.jobs.update(state="cancelled")
    with pytest.raises(Invalid, match="has cost") as refused:
        resume_run(run=run, max_cost=run.cost / 2, by=None)
    assert refused.value.code == "invalid_cap"


@pytest.mark.parametrize("cap", [0.0, -1.0, float("nan"), float("inf")])
def test_a_cap_is_a_number_above_0(world: World, priced: Judge, cap: float) -> None:
    with pytest.raises(Invalid, match="above 0"):
        start_run(project=world.project, judge=priced, max_cost=cap, by=None)
    assert not Run.objects.exists()


def test_a_cap_on_a_judge_without_a_price_is_refused(world: World) -> None:
    with pytest.raises(Invalid, match="has no price"):
        start_run(project=world.project, judge=world.judge, max_cost=1.0, by=None)


def test_the_manifest_of_an_export_tells_what_judging_cost(world: World, priced: Judge) -> None:
    run = run_to_end(world.project, priced)
    run_to_end(world.project, world.judge)
    paid = run_progress(run)
    people = People(world.project, named=False)
    made = about(project=world.project, people=people, level="scores", format_name="csv")
    nothing = {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost": 0.0}
    assert made["judging"] == [
        {"judge": "lexical", "runs": 1, **nothing},
        {
            "judge": "scripted",
            "runs": 1,
            "calls": paid.calls,
            "prompt_tokens": paid.prompt_tokens,
            "completion_tokens": paid.completion_tokens,
            "cost": paid.cost,
        },
    ]


# The budget


@pytest.fixture
def budget(transactional_db: None, world: World) -> Iterator[RunBudget]:
    run = start_run(project=world.project, judge=world.judge, by=None)
    Run.objects.filter(pk=run.pk).update(max_cost=1.0)
    for job in run.jobs.all():
        assert jobs.claim(job.public_id)
    made = RunBudget(run)
    paying = paying_job.set(run.jobs.order_by("pk")[0].pk)
    yield made
    paying_job.reset(paying)
    made.close()


def test_what_is_set_aside_leaves_less_for_others(budget: RunBudget) -> None:
    asyncio.run(budget.reserve(0.6))
    with pytest.raises(BudgetSpent):
        asyncio.run(budget.reserve(0.5))
    asyncio.run(budget.settle(0.6, 0.1))
    asyncio.run(budget.reserve(0.5))
    assert Run.objects.get().cost == pytest.approx(0.1)


def test_what_another_worker_has_set_aside_counts(budget: RunBudget) -> None:
    other = Job.objects.order_by("pk")[1]
    Job.objects.filter(pk=other.pk).update(reserved_cost=0.9)
    with pytest.raises(BudgetSpent):
        asyncio.run(budget.reserve(0.2))
    # A worker that dies gives it back: nobody works on its job until the next attempt, which begins at 0.
    Job.objects.filter(pk=other.pk).update(state="waiting", token="", lease_until=None)
    asyncio.run(budget.reserve(0.2))
    assert jobs.claim(other.public_id)
    other.refresh_from_db()
    assert other.reserved_cost == 0


def test_of_many_calls_at_once_only_those_that_fit_are_let_go_ahead(budget: RunBudget) -> None:
    async def all_at_once() -> list[BaseException | None]:
        return await asyncio.gather(*(budget.reserve(0.3) for _ in range(10)), return_exceptions=True)

    refused = [answer for answer in asyncio.run(all_at_once()) if answer is not None]
    # Three times .3 fit into 1, and a fourth does not.
    assert len(refused) == 7
    assert {type(answer) for answer in refused} == {BudgetSpent}
    assert reserved() == pytest.approx(0.9)


def reserved() -> float:
    return sum(Job.objects.values_list("reserved_cost", flat=True))


def everything_is_done(budget: RunBudget) -> None:
    """Wait for what was begun before: a budget does one thing after the other."""
    asyncio.run(budget.settle(0.0, 0.0))


@contextmanager
def locked_run() -> Iterator[threading.Event]:
    """The run's row, held by somebody else until the event is set."""
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


def test_the_loop_goes_on_while_the_database_waits(budget: RunBudget) -> None:
    async def ask(release: threading.Event) -> None:
        asking = asyncio.create_task(budget.reserve(0.2))
        _, waiting = await asyncio.wait([asking], timeout=0.2)
        assert waiting == {asking}
        release.set()
        await asking

    with locked_run() as release:
        asyncio.run(ask(release))
    assert reserved() == pytest.approx(0.2)


@pytest.mark.parametrize("asked_before", [0, 1], ids=["begun", "not yet begun"])
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
    assert reserved() == pytest.approx(0.1 * asked_before)


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
    assert reserved() == 0.0
    assert Run.objects.get().cost == pytest.approx(0.4)
