"""Runs with a worker on PostgreSQL and Redis: with a judge behind a server, and with the lexical judge."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

from tests import redis_server
from tests.bench import Row
from tests.bench._judge_server import scripted_server
from tests.bench._run_world import AT_ONCE
from tests.bench._serving import load, on_postgres

SETS = int(os.environ.get("RUNS_SETS", "1000"))
ASKED_SECONDS, LEXICAL_SECONDS = 20, 15


def run() -> list[Row]:
    with scripted_server() as address:
        return [
            *_measure(f"run of {SETS:,} sets, {AT_ONCE} calls of 200 ms at once", address, ASKED_SECONDS),
            *_measure(f"lexical run of {SETS:,} sets", "lexical", LEXICAL_SECONDS),
        ]


def _measure(what: str, address: str, at_most: float) -> list[Row]:
    with on_postgres() as url, tempfile.TemporaryDirectory() as folder:
        if url is None:
            return []
        try:
            broker = redis_server.running()
            environment = os.environ | {
                "DATABASE_URL": url,
                "CELERY_BROKER_URL": broker.__enter__(),
                "COVERDICT_VAR": folder,
                "DJANGO_SETTINGS_MODULE": "annotation.config.settings.local",
                "COVERDICT_JUDGE_URLS": "http://127.0.0.1:*",
            }
        except redis_server.NoRedis as reason:
            print(f"bench: not measured: {reason}", file=sys.stderr)
            return []
        command = [sys.executable, "-m", "tests.bench._run_world", str(SETS), address]
        try:
            done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
        finally:
            broker.__exit__(None, None, None)
    told = json.loads(done.stdout.splitlines()[-1])
    return [
        Row(what, told["seconds"], "s", at_most=at_most * SETS / 1000, note=load()),
        Row(f"{what}: summaries without a score", SETS - told["scores"], "summaries", at_most=0),
    ]
