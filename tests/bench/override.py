"""What an override costs among a million checks and among a thousand, and how soon the next claim is there.

Both databases lie on one PostgreSQL and are asked in turns, so that a busy machine slows both alike. An override is
the whole service with its transaction, on a summary of ten claims; the next claim is a whole request as the form
sends it, sitting at the check before, through every queue.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

from tests import postgres
from tests.bench import Row
from tests.bench._override_world import Spent

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "override"
FEW, MANY = 1_000, 1_000_000
WARM_UP, MEASURED = 10, 50
ASKED = 60
MOST_TIMES, MOST_MS = 1.2, 30.0
QUEUES = {
    "set": "",
    "doubt": "order=doubt",
    "effect": "order=effect",
    "document": "order=document",
    "random draw": "draw={draw}",
    "only numbers": "numbers=1",
    "panel split": "only=split",
    "only disagreements": "only=disputed",
    "disagreements by effect": "only=disputed&order=effect",
    "people against the judge": "only=against",
}


def run() -> list[Row]:
    try:
        server = postgres.start()
    except postgres.NoPostgres as reason:
        print(f"override: no PostgreSQL: {reason}", file=sys.stderr)
        return []
    try:
        with world(server.url, "few", FEW) as few, world(server.url, "many", MANY) as many:
            return [
                Row("making 1,000,000 checks", many.filled, "s"),
                *_overrides(few, many),
                *_next_claims(many),
            ]
    finally:
        server.stop()


@dataclass
class World:
    """A process with a database of its own; see `_override_world`."""

    process: subprocess.Popen[str]
    environment: dict[str, str]
    filled: float = 0.0
    draw: str = ""

    def ask(self, **asked: object) -> Spent:
        assert self.process.stdin
        self.process.stdin.write(f"{json.dumps(asked)}\n")
        self.process.stdin.flush()
        return Spent(**self.told())

    def told(self) -> dict[str, Any]:
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the world ended with status {self.process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextmanager
def world(url: str, name: str, checks: int) -> Iterator[World]:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {
            "DATABASE_URL": f"{url.rpartition('/')[0]}/{name}",
            "COVERDICT_VAR": str(Path(folder) / "var"),
            "DJANGO_SETTINGS_MODULE": "annotation.config.settings.test",
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.bench._override_world", str(checks)],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            made = World(process, environment)
            told = made.told()
            made.filled, made.draw = told["filled"], told["draw"]
            yield made
        finally:
            assert process.stdin
            process.stdin.close()
            process.wait()


def _overrides(few: World, many: World) -> list[Row]:
    spent: dict[str, list[Spent]] = {"few": [], "many": []}
    for nth in range(WARM_UP + MEASURED):
        for name, world in (("few", few), ("many", many)):
            spent[name].append(world.ask(do="override", nth=nth))
    of_few, of_many = (statistics.median(each.ms for each in spent[name][WARM_UP:]) for name in spent)
    return [
        Row("override among 1,000 checks, p50", of_few, "ms", note=_work(spent["few"][WARM_UP:])),
        Row("override among 1,000,000 checks, p50", of_many, "ms", note=_work(spent["many"][WARM_UP:])),
        Row("override: 1,000,000 over 1,000", of_many / of_few, "times", at_most=MOST_TIMES),
    ]


def _next_claims(world: World) -> Iterator[Row]:
    for name, words in QUEUES.items():
        query = words.format(draw=world.draw)
        if "draw" not in words:
            world.ask(do="hold", query=query)
        spent = [world.ask(do="next", query=query) for _ in range(WARM_UP + ASKED)][WARM_UP:]
        times = [each.ms for each in spent]
        note = f"p50 {statistics.median(times):.3g} ms; {_work(spent)}; {_load()}"
        yield Row(f"next claim, {name}, p95", _p95(times), "ms", MOST_MS, note=note)


def _work(spent: list[Spent]) -> str:
    """The processor's time, which other work on the machine disturbs less than the clock's."""
    return f"Django's own work {statistics.median(each.work for each in spent):.3g} ms"


def _load() -> str:
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"


def _p95(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]
