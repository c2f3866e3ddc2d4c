"""What one document set costs among 1,000, and among 10,000: run, import, export, leaderboard; and what a page costs.

Processor time of the program and of the database, on SQLite and PostgreSQL, each size in a database of its own.
GROWTH_SIZES names the sizes, "1000,10000" unless given; from one to the next, ten times as large, nothing may cost more
than a fifth more. The lexical judge reads documents of 300 words.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from tests import postgres
from tests.bench import Row
from tests.bench._serving import filled, load

NAME = "growth"
SIZES = [int(size) for size in os.environ.get("GROWTH_SIZES", "1000,10000").split(",")]
MOST_GROWTH = 1.2


def run() -> list[Row]:
    return [*_measure("SQLite", _on_sqlite), *_measure("PostgreSQL", _on_postgresql)]


def _measure(database: str, measured: Callable[[], dict[str, float]]) -> list[Row]:
    told: dict[int, dict[str, float]] = {}
    for size in SIZES:
        os.environ["GROWTH_SIZE"] = str(size)
        try:
            told[size] = measured()
        except postgres.NoPostgres as reason:
            print(f"growth: no PostgreSQL: {reason}", file=sys.stderr)
            return []
    rows = []
    for what in told[SIZES[0]]:
        rows += [Row(f"{database}, {size:,} sets: {what}", told[size][what], "ms") for size in SIZES]
        rows += [
            Row(
                f"{database}: {what}, over {small:,}",
                told[size][what] / told[small][what],
                "times",
                MOST_GROWTH,
                note=load(),
            )
            for small, size in pairwise(SIZES)
        ]
    return rows


def _on_sqlite() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        _, told = filled(
            "tests.bench._growth_world", f"sqlite:///{Path(folder) / 'growth.sqlite3'}", Path(folder)
        )
        return dict(told)


def _on_postgresql() -> dict[str, float]:
    server = postgres.start()
    os.environ["GROWTH_KEEPER"] = str(server.keeper.pid)
    try:
        with tempfile.TemporaryDirectory() as folder:
            return dict(filled("tests.bench._growth_world", server.url, Path(folder))[1])
    finally:
        server.stop()
        del os.environ["GROWTH_KEEPER"]
