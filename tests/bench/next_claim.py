"""The time to the next claim among a million checks, by queue."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

from tests.bench import Row
from tests.bench._serving import load, on_postgres

CHECKS = int(os.environ.get("NEXT_CLAIM_CHECKS", "1000000"))
MOST_MS = 30.0


def run() -> list[Row]:
    with on_postgres() as url, tempfile.TemporaryDirectory() as folder:
        if url is None:
            return []
        environment = os.environ | {
            "DATABASE_URL": url,
            "COVERDICT_VAR": folder,
            "DJANGO_SETTINGS_MODULE": "annotation.config.settings.test",
        }
        command = [sys.executable, "-m", "tests.bench._million_world", str(CHECKS)]
        done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return [
        Row(f"next claim of {CHECKS:,}, {name}, p95", ms, "ms", MOST_MS, note=load())
        for name, ms in found.items()
    ]
