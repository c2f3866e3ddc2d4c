"""Children are kept running, and none outlives its supervisor."""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from annotation.management.supervisor import Child, Supervisor

pytestmark = pytest.mark.process

SLEEPS = [sys.executable, "-c", "import time; time.sleep(600)"]


def ignores_requests(ready: Path) -> list[str]:
    code = (
        "import pathlib, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        f"pathlib.Path({str(ready)!r}).touch(); time.sleep(600)"
    )
    return [sys.executable, "-c", code]


def supervisor(said: list[str], chore: Callable[[], object] = lambda: None) -> Supervisor:
    return Supervisor(say=said.append, chore=chore, chore_every_seconds=0.1)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_killed_child_is_started_again_and_said_so() -> None:
    said: list[str] = []
    with supervisor(said) as over:
        child = Child("worker", SLEEPS, {})
        over.add(child)
        assert child.process is not None
        first = child.process.pid
        os.kill(first, signal.SIGKILL)
        assert over.watch(lambda: child.process is not None and child.process.pid != first, seconds=60)
    assert said == ["The worker ended (killed by SIGKILL); starting it again."]


def test_no_child_outlives_the_supervisor_whatever_happens_inside() -> None:
    child = Child("worker", SLEEPS, {})

    def fail_inside() -> None:
        with supervisor([]) as over:
            over.add(child)
            assert child.process is not None
            pids.append(child.process.pid)
            raise KeyError("anything")

    pids: list[int] = []
    with pytest.raises(KeyError):
        fail_inside()
    assert not is_alive(pids[0])


def test_a_child_that_ignores_the_request_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.management.supervisor.STOP_WITHIN_SECONDS", 0.2)
    with supervisor([]) as over:
        child = Child("worker", ignores_requests(tmp_path / "ready"), {})
        over.add(child)
        assert over.watch((tmp_path / "ready").exists, seconds=60)
        assert child.process is not None
        pid = child.process.pid
    assert not is_alive(pid)


def test_a_signal_ends_the_watch() -> None:
    with supervisor([], chore=lambda: os.kill(os.getpid(), signal.SIGTERM)) as over:
        started = time.monotonic()
        assert not over.watch(seconds=60)
        assert over.stopping.is_set()
        assert time.monotonic() - started < 60


def test_a_child_that_keeps_ending_waits_longer_each_time() -> None:
    said: list[str] = []
    with supervisor(said) as over:
        over.add(Child("worker", [sys.executable, "-c", "raise SystemExit(3)"], {}))
        assert over.watch(lambda: len(said) == 3, seconds=60)
    assert said == [
        "The worker ended (exit code 3); starting it again.",
        "The worker ended (exit code 3); starting it again in 1 s.",
        "The worker ended (exit code 3); starting it again in 2 s.",
    ]


def test_signals_mean_what_they_did_before() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with supervisor([]):
        assert signal.getsignal(signal.SIGTERM) != before
    assert signal.getsignal(signal.SIGTERM) == before
