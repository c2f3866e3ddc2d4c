"""The main job at volume: judged runs in the application, with workers of their own.

Each run has a database, a queue and a server of the judge to itself. The limit is what no program could beat: all calls
through the slots that the judge allows. `VOLUME_SETS` names the document sets, 1,000 unless given.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests import postgres, redis_server
from tests.bench import Row
from tests.bench.call_plan import AT_ONCE, LATENCY, scripted_server

NAME = "volume"
SETS = int(os.environ.get("VOLUME_SETS", "1000"))
KILLS = int(os.environ.get("VOLUME_KILLS", "10"))
TAKEN_UP_SECONDS = 15
MOST_MESSAGES = 2
"""For each worker."""


def run() -> list[Row]:
    rows = [
        *_lexical("SQLite", {}),
        *_asked("SQLite", {}, sets=SETS, systems=1, workers=1, at_most=20 * SETS / 1000),
    ]
    with ExitStack() as opened:
        try:
            server = postgres.start()
            opened.callback(server.stop)
            broker = opened.enter_context(redis_server.running())
        except (postgres.NoPostgres, redis_server.NoRedis) as reason:
            print(f"volume: not with PostgreSQL and Redis: {reason}", file=sys.stderr)
            return rows
        outside = {"DATABASE_URL": server.url, "CELERY_BROKER_URL": broker}
        rows += _lexical("PostgreSQL", outside)
        for workers, seconds in ((1, 20), (2, 14)):
            rows += _asked(
                "PostgreSQL", outside, sets=SETS, systems=1, workers=workers, at_most=seconds * SETS / 1000
            )
        rows += _killed("PostgreSQL", outside)
        rows += _asked("PostgreSQL", outside, sets=max(1, SETS // 10), systems=25, workers=1, ratio=1.3)
    return rows


def _lexical(database: str, outside: dict[str, str]) -> list[Row]:
    told = told_of(outside, SETS, 1, 1, "lexical")
    what = f"{database}, lexical, {SETS:,} sets"
    return [
        *_whole(what, told, SETS, 1),
        Row(f"{what}: run", told["seconds"], "s", at_most=15 * SETS / 1000),
        Row(f"{what}: processor time a set", 1000 * told["processor"] / SETS, "ms"),
    ]


def _asked(
    database: str,
    outside: dict[str, str],
    *,
    sets: int,
    systems: int,
    workers: int,
    at_most: float | None = None,
    ratio: float | None = None,
) -> list[Row]:
    what = f"{database}, {sets:,} sets x {systems}, {workers} worker{'s' * (workers > 1)}"
    with scripted_server() as (address, counts):
        told = told_of(outside, sets, systems, workers, address)
        calls, _ = counts()
        most_at_once = counts.most_at_once()
    limit = calls * LATENCY / AT_ONCE
    return [
        *_whole(what, told, sets * systems, workers),
        Row(f"{what}: run", told["seconds"], "s", at_most=at_most, note=f"limit {limit:.1f} s"),
        Row(f"{what}: run over limit", told["seconds"] / limit, "times", at_most=ratio),
        Row(f"{what}: processor time a call", 1000 * told["processor"] / calls, "ms"),
        Row(f"{what}: calls at once", most_at_once, "calls", at_most=AT_ONCE),
    ]


def _killed(database: str, outside: dict[str, str]) -> list[Row]:
    """Two workers, of which one is killed again and again; each time another takes its place."""
    what = f"{database}, {SETS:,} sets, {KILLS} kills"
    with scripted_server() as (address, counts):
        told = told_of(outside, SETS, 1, 2, address, KILLS)
        made, _ = counts()
    again = made - told["calls"]
    return [
        *_whole(what, told, SETS, 2),
        Row(f"{what}: verdicts doubled", told["doubled"], "verdicts", at_most=0),
        Row(f"{what}: scores that cannot be rebuilt", not told["is_exact"], "projects", at_most=0),
        Row(f"{what}: calls made again", again, "calls", at_most=KILLS * AT_ONCE),
        Row(f"{what}: reopened after, longest", max(told["taken_up"]), "s", at_most=TAKEN_UP_SECONDS),
    ]


def _whole(what: str, told: dict[str, Any], summaries: int, workers: int) -> list[Row]:
    missing = summaries - told["scores"]
    return [
        Row(f"{what}: summaries without a score", missing, "summaries", at_most=0, note=told["state"]),
        Row(f"{what}: an export asked for meanwhile began after", told["export_waited"], "s", at_most=2),
        Row(f"{what}: messages waiting", told["messages"], "messages", at_most=MOST_MESSAGES * workers),
    ]


def told_of(
    outside: dict[str, str], sets: int, systems: int, workers: int, address: str, kills: int = 0
) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {
            "DATABASE_URL": f"sqlite:///{Path(folder) / 'volume.sqlite3'}",
            "COVERDICT_VAR": str(Path(folder) / "var"),
            "DJANGO_SETTINGS_MODULE": "annotation.config.settings.local",
            "COVERDICT_JUDGE_URLS": "http://127.0.0.1:*",
            **outside,
        }
        words = [str(word) for word in (sets, systems, workers, address, kills)]
        command = [sys.executable, "-m", "tests.bench._volume_world", *words]
        done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
        return dict(json.loads(done.stdout.splitlines()[-1]))
