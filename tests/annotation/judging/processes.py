"""Real processes for tests: workers, and manage.py."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from annotation.models import Worker
from annotation.workers import worker_command

ROOT = Path(__file__).resolve().parents[3]
STOP_SECONDS = 60
COMMAND_SECONDS = 180


@contextmanager
def workers(environment: Mapping[str, str], count: int = 1) -> Iterator[list[subprocess.Popen[bytes]]]:
    before = Worker.objects.count()
    processes = [
        subprocess.Popen(worker_command(), env=dict(environment), cwd=ROOT, start_new_session=True)
        for _ in range(count)
    ]
    try:
        wait_until(
            lambda: (
                Worker.objects.count() >= before + count
                or any(process.poll() is not None for process in processes)
            )
        )
        assert all(process.poll() is None for process in processes), "a worker ended; what it said is above"
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait(STOP_SECONDS)


def manage(
    environment: Mapping[str, str], *arguments: str, seconds: float = COMMAND_SECONDS
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        env=dict(environment),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def start_manage(environment: Mapping[str, str], *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "manage.py", *arguments],
        env=dict(environment),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_until(holds: Callable[[], bool], *, seconds: float = 180) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"not within {seconds} s"
        time.sleep(0.05)
