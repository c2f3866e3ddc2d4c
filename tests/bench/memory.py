"""The memory of the idle processes of the demo; shared memory counts once."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench import Row
from tests.parts import free_port

IDLE_AFTER_SECONDS = 5.0
WITHIN_SECONDS = 300.0


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("DATABASE_URL", "CELERY_BROKER_URL")
        } | {
            "COVERDICT_VAR": folder,
            "DJANGO_SETTINGS_MODULE": "annotation.config.settings.demo",
        }
        with _demo(environment) as held:
            return [Row("memory idle", held, "MB", at_most=400.0)]


@contextmanager
def _demo(environment: dict[str, str]) -> Iterator[float]:
    port = free_port()
    command = [sys.executable, "manage.py", "demo", "--no-browser", "--port", str(port)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None, "it is a pipe"
            for line in process.stdout:
                if "Coverdict is open" in line:
                    break
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=WITHIN_SECONDS):
                time.sleep(IDLE_AFTER_SECONDS)
            yield sum(map(_share, _with_descendants(process.pid))) / 1024
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate()


def _with_descendants(pid: int) -> Iterator[int]:
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in children.read_text().split():
            yield from _with_descendants(int(child))


def _share(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
