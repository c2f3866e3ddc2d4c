"""The time from a fresh clone until `make demo` is open."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from tests.bench import Row
from tests.parts import free_port

ROOT = Path(__file__).resolve().parents[2]
PAGE_SECONDS = 60


def run() -> list[Row]:
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        subprocess.run(["git", "clone", "--quiet", ROOT, f"{folder}/clone"], check=True)
        ours = ("DATABASE_URL", "CELERY_BROKER_URL", "COVERDICT_VAR", "DJANGO_SETTINGS_MODULE", "VIRTUAL_ENV")
        command = ["make", "demo", "BROWSER=0", f"PORT={port}"]
        environment = {name: value for name, value in os.environ.items() if name not in ours}
        with subprocess.Popen(
            command,
            cwd=f"{folder}/clone",
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                assert process.stdout is not None, "it is a pipe"
                is_open = any("Coverdict is open" in line for line in process.stdout)
                seconds = time.perf_counter() - began
            finally:
                os.killpg(process.pid, signal.SIGINT)
                process.communicate()
    if not is_open:
        raise RuntimeError("the demo did not open")
    return [Row("fresh clone to page", seconds, "s", at_most=PAGE_SECONDS)]
