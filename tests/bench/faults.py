"""What a run loses when Redis is emptied, the broker is away for 15 s, or PostgreSQL restarts in the middle of it.

Two workers and a judge that takes 200 ms, `FAULTS_SETS` document sets, 1,000 unless given. Workers that are killed are
measured by `volume`.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from urllib.parse import urlsplit

import redis

from tests import postgres, redis_server
from tests.bench import Row
from tests.bench._serving import load
from tests.bench.call_plan import AT_ONCE, Counts, scripted_server
from tests.bench.volume import TAKEN_UP_SECONDS, told_of

NAME = "faults"
SETS = int(os.environ.get("FAULTS_SETS", "1000"))
WORKERS, CALLS_A_SET = 2, 3
AWAY_SECONDS = 15.0
AMID = 0.3
"""The share of the calls after which the fault comes."""


def run() -> list[Row]:
    try:
        server = postgres.start()
    except postgres.NoPostgres as reason:
        print(f"faults: not measured: {reason}", file=sys.stderr)
        return []
    with ExitStack() as opened:
        opened.callback(server.stop)
        try:
            broker = opened.enter_context(ExitStack())
            url = broker.enter_context(redis_server.running())
        except redis_server.NoRedis as reason:
            print(f"faults: not measured: {reason}", file=sys.stderr)
            return []

        def empty() -> None:
            with redis.Redis.from_url(url) as client:
                client.flushall()

        def take_away() -> None:
            broker.close()
            time.sleep(AWAY_SECONDS)
            broker.enter_context(redis_server.running(urlsplit(url).port))

        faults: dict[str, Callable[[], None]] = {
            "Redis emptied": empty,
            f"broker away for {AWAY_SECONDS:.0f} s": take_away,
            "PostgreSQL restarted": server.restart,
        }
        outside = {"DATABASE_URL": server.url, "CELERY_BROKER_URL": url}
        return [row for what, fault in faults.items() for row in _measure(what, fault, outside)]


def _measure(what: str, fault: Callable[[], None], outside: dict[str, str]) -> list[Row]:
    with scripted_server() as (address, counts), ThreadPoolExecutor(1) as pool:
        running = pool.submit(told_of, outside, SETS, 1, WORKERS, address)
        while counts()[0] < AMID * CALLS_A_SET * SETS and not running.done():
            time.sleep(0.1)
        began = time.monotonic()
        fault()
        lasted = time.monotonic() - began
        silence = _silence(counts) if not running.done() else 0.0
        told = running.result()
        twice = counts.paid_twice()
    note = f"the fault lasted {lasted:.1f} s; {load()}"
    return [
        Row(
            f"{what}: summaries without a score",
            SETS - told["scores"],
            "summaries",
            at_most=0,
            note=told["state"],
        ),
        Row(f"{what}: verdicts doubled", told["doubled"], "verdicts", at_most=0),
        Row(f"{what}: scores that cannot be rebuilt", not told["is_exact"], "projects", at_most=0),
        Row(f"{what}: calls paid twice", twice, "calls", at_most=AT_ONCE),
        Row(f"{what}: reopened after", silence, "s", at_most=TAKEN_UP_SECONDS, note=note),
    ]


def _silence(counts: Counts) -> float:
    """Seconds until further calls come than were under way, or the last of the run."""
    began, before = time.monotonic(), counts()[0]
    while (
        counts()[0] < min(before + AT_ONCE + 1, CALLS_A_SET * SETS)
        and time.monotonic() - began < 2 * TAKEN_UP_SECONDS
    ):
        time.sleep(0.1)
    return time.monotonic() - began
