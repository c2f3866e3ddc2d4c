import os
import signal
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from annotation.management.supervisor import Child, Process, Supervisor, forked, run_here, spawned

pytestmark = pytest.mark.process


def sleeps() -> None:
    time.sleep(600)


def ignores_requests(ready: Path) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    ready.touch()
    sleeps()


def pytests_version(output: Path) -> None:
    with output.open("w") as file:
        os.dup2(file.fileno(), 1)
        sys.stdout = os.fdopen(1, "w")
        run_here([sys.executable, "-m", "pytest", "--version"])


@pytest.fixture(params=["forked", "spawned"])
def sleeping(request: pytest.FixtureRequest) -> Child:
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    begin = {"forked": partial(forked, sleeps), "spawned": partial(spawned, command, {})}[request.param]
    return Child("worker", begin)


def supervisor(said: list[str]) -> Supervisor:
    return Supervisor(say=said.append, chore_every_seconds=0.1)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_killed_child_is_started_again_and_said_so(sleeping: Child) -> None:
    said: list[str] = []
    with supervisor(said) as over:
        child = sleeping
        over.add(child)
        first = child.process.pid
        os.kill(first, signal.SIGKILL)
        assert over.watch(lambda: child.process is not None and child.process.pid != first, seconds=60)
    assert said == ["The worker ended (killed by SIGKILL); starting it again."]


def test_no_child_outlives_the_supervisor_whatever_happens_inside(sleeping: Child) -> None:
    child = sleeping

    def fail_inside() -> None:
        with supervisor([]) as over:
            over.add(child)
            pids.append(child.process.pid)
            raise KeyError("anything")

    pids: list[int] = []
    with pytest.raises(KeyError):
        fail_inside()
    assert not is_alive(pids[0])


def test_a_child_that_ignores_the_request_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.management.supervisor.STOP_WITHIN_SECONDS", 0.2)
    with supervisor([]) as over:
        child = Child("worker", partial(forked, partial(ignores_requests, tmp_path / "ready")))
        over.add(child)
        assert over.watch((tmp_path / "ready").exists, seconds=60)
        pid = child.process.pid
    assert not is_alive(pid)


def test_a_signal_ends_the_watch() -> None:
    with supervisor([]) as over:
        over.chore = lambda: os.kill(os.getpid(), signal.SIGTERM)
        started = time.monotonic()
        assert not over.watch(seconds=60)
        assert over.stopping.is_set()
        assert time.monotonic() - started < 60


def test_a_child_that_keeps_ending_waits_longer_each_time() -> None:
    said: list[str] = []
    with supervisor(said) as over:
        over.add(Child("worker", partial(forked, partial(sys.exit, 3))))
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


@pytest.mark.parametrize(("ends_with", "is_done"), [(0, True), (3, False)])
def test_work_is_done_where_its_fork_ends_well(ends_with: int, is_done: bool) -> None:
    with supervisor([]) as over:
        assert over.have_done(partial(sys.exit, ends_with), seconds=60) is is_done


def test_work_that_lasts_too_long_is_ended() -> None:
    started: list[Process] = []

    def begin() -> Process:
        started.append(forked(sleeps))
        return started[-1]

    with supervisor([]) as over:
        over.add(Child("worker", begin))
        assert not over.have_done(sleeps, seconds=0.1)
        # The other children continue.
        assert started[0].poll() is None


def test_a_fork_does_what_a_command_would_do(tmp_path: Path) -> None:
    with supervisor([]) as over:
        assert over.have_done(partial(pytests_version, tmp_path / "output"), seconds=60)
    assert (tmp_path / "output").read_text() == f"pytest {pytest.__version__}\n"


def test_a_fork_that_is_ended_at_once_ends() -> None:
    """The signal may arrive before the fork has replaced the supervisor's handlers."""
    with supervisor([]):
        process = forked(sleeps)
        os.kill(process.pid, signal.SIGTERM)
        process.wait(60)
        assert process.poll() == -signal.SIGTERM
