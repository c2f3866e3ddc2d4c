"""What a judge's service allows, shared by processes: each object here is one process's."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager, closing
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from django.utils import timezone

from annotation.judging.services import shared_limits
from annotation.judging.services.shared_limits import RowPace, RowSlots
from annotation.models import CallStart, Judge, JudgeShare

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

PATIENCE_SECONDS = 60


@pytest.fixture
def judge(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Judge:
    monkeypatch.setattr(shared_limits, "ADJUST_SECONDS", 0.02)
    return Judge.objects.create(name="gpt", kind="openai", model="m", concurrency=5)


@asynccontextmanager
async def kept(*slots: RowSlots) -> AsyncIterator[None]:
    """Processes that adjust their shares for the length of the block."""
    keeping = [asyncio.create_task(each.keep_even()) for each in slots]
    yield
    for task in keeping:
        task.cancel()
    await asyncio.gather(*keeping, return_exceptions=True)


async def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < end
        await asyncio.sleep(0.01)


def test_who_asks_alone_may_make_all_calls(judge: Judge) -> None:
    with closing(RowSlots(judge)) as slots:
        assert slots.allowed == 5
        assert JudgeShare.objects.get().calls == 5
    assert not JudgeShare.objects.exists()


def test_processes_part_the_calls_evenly_once_the_first_has_given_some_up(judge: Judge) -> None:
    async def use() -> None:
        # Nothing is left until the first one looks again.
        assert second.allowed == 0
        async with kept(first, second), first, second:
            await until(lambda: first.allowed + second.allowed == 5)
            assert sorted([first.allowed, second.allowed]) == [2, 3]

    with closing(RowSlots(judge)) as first, closing(RowSlots(judge)) as second:
        asyncio.run(use())


def test_a_share_is_given_up_only_as_calls_end(judge: Judge) -> None:
    async def use() -> None:
        async with kept(first):
            for _ in range(5):
                await first.__aenter__()
            await until(lambda: first.allowed < 5)
            await asyncio.to_thread(second._adjust)
            assert second.allowed == 0
            for _ in range(5):
                await first.__aexit__()
        async with kept(first, second), second:
            assert first.allowed + second.allowed == 5

    with closing(RowSlots(judge)) as first, closing(RowSlots(judge)) as second:
        asyncio.run(use())


def test_a_process_that_does_not_reach_the_database_makes_no_calls_once_its_share_has_lapsed(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_limits, "SHARE_SECONDS", 0.05)

    async def use() -> None:
        await asyncio.sleep(0.1)
        assert not slots._took_one()
        async with kept(slots), slots:
            assert slots.allowed == 5

    with closing(RowSlots(judge)) as slots:
        asyncio.run(use())


def test_the_share_of_a_process_that_died_comes_back(judge: Judge) -> None:
    long_ago = timezone.now() - timedelta(seconds=1)
    JudgeShare.objects.create(judge=judge, token="dead", calls=5, lease_until=long_ago)
    with closing(RowSlots(judge)) as slots:
        assert slots.allowed == 5


def test_processes_share_the_calls_of_a_minute(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_limits, "MINUTE", timedelta(seconds=0.5))
    Judge.objects.update(calls_per_minute=2)

    async def go(pace: RowPace) -> None:
        for _ in range(3):
            await pace.turn(10)

    async def both() -> None:
        await asyncio.gather(go(first), go(second))

    with closing(RowPace(judge)) as first, closing(RowPace(judge)) as second:
        began = time.monotonic()
        asyncio.run(both())
    # Two calls in each half second: the last two of six wait for two of them. Each alone would be done after one.
    assert time.monotonic() - began >= 1.0


def test_calls_from_before_the_clock_was_set_back_hold_nobody_up(judge: Judge) -> None:
    Judge.objects.update(calls_per_minute=1)
    CallStart.objects.create(judge=judge, at=timezone.now() + timedelta(hours=1), tokens=1)
    with closing(RowPace(judge)) as pace:
        assert pace._wait(1) == 0
        assert pace._wait(1) > 50


def test_tokens_of_a_minute_are_held_to_and_one_large_call_goes_alone(judge: Judge) -> None:
    Judge.objects.update(tokens_per_minute=100)
    with closing(RowPace(judge)) as pace:
        asyncio.run(pace.turn(500))
        assert pace._wait(1) > 50
        CallStart.objects.update(at=timezone.now() - timedelta(seconds=61))
        asyncio.run(pace.turn(60))
        assert pace._wait(60) > 50
        assert pace._wait(40) == 0
