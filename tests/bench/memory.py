"""What the processes of `make demo` hold while idle, and how soon it starts again over many document sets.

Memory is the proportional share of each process: what several hold together counts once. BENCH_SETS says how many
document sets, of 25 summaries each, stand in the database at the later start.
"""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench import Row

NAME = "memory"
SETS = int(os.environ.get("BENCH_SETS", "5000"))
IDLE_AFTER_SECONDS = 5.0
WITHIN_SECONDS = 300.0
FILL = "import django; django.setup(); from tests.bench.leaderboard import filled; filled({sets})"


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
        with _demo(environment) as (first, judged):
            pass
        with _demo(environment) as (again, idle):
            pass
        subprocess.run([sys.executable, "-c", FILL.format(sets=SETS)], env=environment, check=True)
        with _demo(environment) as (later, _):
            pass
    return [
        Row("first start, with the sample judged", first, "s"),
        Row("memory after the sample was judged", judged, "MB"),
        Row("started again", again, "s", at_most=5.0),
        Row("memory idle", idle, "MB", at_most=350.0),
        Row(f"started again over {SETS:,} document sets", later, "s", at_most=5.0),
    ]


@contextmanager
def _demo(environment: dict[str, str]) -> Iterator[tuple[float, float]]:
    """The demo once it serves: the seconds until then, and the megabytes that it holds a little later."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "manage.py", "demo", "--no-browser", "--port", str(port)]
    started = time.perf_counter()
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None, "it is a pipe"
            for line in process.stdout:
                if "Coverdict is open" in line:
                    break
            seconds = time.perf_counter() - started
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=WITHIN_SECONDS):
                time.sleep(IDLE_AFTER_SECONDS)
            yield seconds, sum(map(_share, _with_descendants(process.pid))) / 1024
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate()


def _with_descendants(pid: int) -> Iterator[int]:
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in children.read_text().split():
            yield from _with_descendants(int(child))


def _share(pid: int) -> int:
    """Kilobytes of the process, those that it shares divided by how many share them."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
