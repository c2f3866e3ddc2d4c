"""A reviewer's answer through the API over HTTP, as the demo serves it, alone and by eight at once.

7,500 checks, each answered once. All of it on SQLite, and once more on PostgreSQL, where the tests can start one: the
bars are PostgreSQL's.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path

from tests.bench import Row
from tests.bench._serving import Desk, Rush, Server, filled, load, on_both, p95, served, timed
from tests.bench.review import API_P50_MS, API_P95_MS

NAME = "answering"
WARM_UP, ALONE, ROUNDS = 60, 300, 5
AT_LEAST_A_SECOND, AT_MOST_MS = 100, 150


def run() -> list[Row]:
    return on_both(NAME, _measure)


def _measure(database: str, url: str, folder: Path) -> list[Row]:
    environment, world = filled("tests.bench._answering_world", url, folder)
    bars = database == "PostgreSQL"
    checks = iter(world["checks"])
    with served(environment, folder) as server:
        desks = [Desk.signed_in(server.port, name, world["password"]) for name in world["people"]]
        return [
            *_alone(database, desks[0], checks, server, bars=bars),
            *_together(database, desks, checks, bars=bars),
        ]


def _answer(desk: Desk, checks: Iterator[str]) -> None:
    desk.post(f"/api/v1/projects/study/checks/{next(checks)}/verdicts/", {"label": "yes", "seen": ""}, 201)


def _alone(database: str, desk: Desk, checks: Iterator[str], server: Server, *, bars: bool) -> list[Row]:
    desk.reconnect()
    for _ in range(WARM_UP):
        _answer(desk, checks)
    before = server.processor_seconds() or 0.0
    times = [timed(lambda: _answer(desk, checks)) for _ in range(ALONE)]
    spent = ((server.processor_seconds() or 0.0) - before) / ALONE * 1000
    note = f"{spent:.3g} ms of the server's processor; {load()}"
    return [
        Row(
            f"{database}: one client, p50",
            statistics.median(times),
            "ms",
            API_P50_MS if bars else None,
            note=note,
        ),
        Row(f"{database}: one client, p95", p95(times), "ms", API_P95_MS if bars else None),
    ]


def _together(database: str, desks: list[Desk], checks: Iterator[str], *, bars: bool) -> list[Row]:
    rush = Rush()
    for _ in range(ROUNDS):
        rush.add(desks, lambda desk: _answer(desk, checks))
    return [
        Row(
            f"{database}: 8 clients, answers a second",
            rush.per_second,
            "a second",
            at_least=AT_LEAST_A_SECOND if bars else None,
            note=load(),
        ),
        Row(f"{database}: 8 clients, p95", p95(rush.times), "ms", AT_MOST_MS if bars else None),
    ]
