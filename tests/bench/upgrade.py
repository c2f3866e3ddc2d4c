"""How long others wait while tables of a million checks are migrated on PostgreSQL.

Each kind of migration is applied by `manage.py migrate` while a reviewer at work in the application overrides and asks
for the next claim; so also those that the rules for migrations refuse, to see why. Then the real migrations since
`UPGRADE_FROM` are taken back and applied again, while a connection reads and changes a row of checks without pause.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import psycopg

from tests import postgres
from tests.bench import Row
from tests.bench._override_world import TOUCHED
from tests.bench._upgrade_world import REFUSED, SAFE
from tests.bench.override import World, world

NAME = "upgrade"
CHECKS = int(os.environ.get("UPGRADE_CHECKS", "1000000"))
FROM = os.environ.get("UPGRADE_FROM", "0001_squashed_0066_may_have_seen")
LONGEST_WAIT = 1.5
"""Seconds: a change of a table waits one for its lock (`migrate`), and others behind it; the rest is the act itself."""
QUIET_SECONDS, WARM_UP = 10, 5


def run() -> list[Row]:
    with ExitStack() as opened:
        try:
            server = postgres.start()
        except postgres.NoPostgres as reason:
            print(f"upgrade: no PostgreSQL: {reason}", file=sys.stderr)
            return []
        opened.callback(server.stop)
        with world(server.url, "many", CHECKS) as many:
            rows = list(_kinds(many))
        return [*rows, *_since(many)]


def _kinds(many: World) -> Iterator[Row]:
    # The first act waits for what Django loads with it.
    for _ in range(WARM_UP):
        many.ask(do="override", nth=0)
    ends = time.monotonic() + QUIET_SECONDS
    yield _row("nothing", *_at_work(many, lambda: time.monotonic() > ends or None))
    for kind in (*SAFE, *REFUSED):
        with _migrating(many, "-m", "tests.bench._upgrade_world", kind, UPGRADE="forward") as process:
            longest, acts = _at_work(many, process.poll)
        if process.returncode:
            raise RuntimeError(f"{kind} ended with status {process.returncode}")
        words = kind if kind in SAFE else f"refused: {kind}"
        yield _row(words, longest, acts, LONGEST_WAIT if kind in SAFE else None)
        with _migrating(many, "-m", "tests.bench._upgrade_world", kind, UPGRADE="back") as process:
            process.wait()


def _at_work(many: World, ended: Callable[[], object]) -> tuple[float, int]:
    """The longest act of a reviewer until `ended` gives something, in seconds, and how many there were."""
    longest, acts = 0.0, 0
    while ended() is None:
        for asked in ({"do": "override", "nth": acts // 2 % TOUCHED}, {"do": "next", "query": ""}):
            longest = max(longest, many.ask(**asked).ms / 1000)
            acts += 1
    return longest, acts


def _row(what: str, longest: float, acts: int, at_most: float | None = None) -> Row:
    return Row(f"{what}: longest wait", longest, "s", at_most=at_most, note=f"{acts} acts")


def _migrating(many: World, *words: str, **more: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, *words], env={**many.environment, **more})


def _since(many: World) -> Iterator[Row]:
    """Real migrations, back and forth. The application of now cannot work on the older tables; a statement can."""
    for way, target in (("back to", FROM), ("forth from", "")):
        began = time.monotonic()
        longest = acts = 0.0
        words = ("manage.py", "migrate", "annotation", *filter(None, [target]), "--verbosity=0")
        with (
            psycopg.connect(many.environment["DATABASE_URL"], autocommit=True) as connection,
            _migrating(many, *words) as process,
        ):
            while process.poll() is None:
                started = time.monotonic()
                connection.execute(
                    "SELECT final_label FROM annotation_check WHERE id = %s", [acts % 1000 + 1]
                )
                connection.execute(
                    "UPDATE annotation_check SET effect = effect WHERE id = %s", [acts % 1000 + 1]
                )
                longest, acts = max(longest, time.monotonic() - started), acts + 1
                time.sleep(0.001)
        if process.returncode:
            raise RuntimeError(f"migrate {way} {FROM} ended with status {process.returncode}")
        yield Row(
            f"{way} {FROM}: longest wait", longest, "s", note=f"{time.monotonic() - began:.0f} s in all"
        )
