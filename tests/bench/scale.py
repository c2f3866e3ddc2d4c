"""Judged runs by 1, 2 and 4 workers on PostgreSQL and Redis, with a judge that takes 200 ms, and with one that takes
2 s and fails at every twentieth call. `SCALE_SETS` names the document sets, 400 unless given.

The limit is all calls through the slots that the judge allows, which more workers cannot raise.
"""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack

from tests import postgres, redis_server
from tests.bench import Row
from tests.bench._serving import load
from tests.bench.call_plan import AT_ONCE, scripted_server
from tests.bench.volume import told_of

NAME = "scale"
SETS = int(os.environ.get("SCALE_SETS", "400"))
WORKERS = (1, 2, 4)


def run() -> list[Row]:
    with ExitStack() as opened:
        try:
            server = postgres.start()
            opened.callback(server.stop)
            broker = opened.enter_context(redis_server.running())
        except (postgres.NoPostgres, redis_server.NoRedis) as reason:
            print(f"scale: not measured: {reason}", file=sys.stderr)
            return []
        outside = {"DATABASE_URL": server.url, "CELERY_BROKER_URL": broker}
        return [
            *(row for workers in WORKERS for row in _measure(outside, SETS, workers, 0.2, 0.0)),
            *(row for workers in WORKERS for row in _measure(outside, SETS // 2, workers, 2.0, 0.05)),
        ]


def _measure(outside: dict[str, str], sets: int, workers: int, latency: float, faults: float) -> list[Row]:
    what = f"{latency:g} s, {faults:.0%} faults, {workers} worker{'s' * (workers > 1)}"
    with scripted_server(latency, faults) as (address, counts):
        told = told_of(outside, sets, 1, workers, address)
        calls, _ = counts()
        most_at_once, twice = counts.most_at_once(), counts.paid_twice()
    limit = calls * latency / AT_ONCE
    note = f"limit {limit:.1f} s, run {told['seconds']:.1f} s; {load()}"
    return [
        Row(f"{what}: sets a second", sets / told["seconds"], "a second", note=note),
        Row(f"{what}: processor time of the workers a set", 1000 * told["processor"] / sets, "ms"),
        Row(f"{what}: calls under way at most", most_at_once, "calls", at_most=AT_ONCE),
        Row(f"{what}: calls paid twice", twice, "calls", at_most=0),
        Row(f"{what}: summaries without a score", sets - told["scores"], "summaries", at_most=0),
    ]
