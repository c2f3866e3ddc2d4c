"""Child processes that run until the supervisor is asked to stop."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import Any, Protocol

ENDS = (signal.SIGINT, signal.SIGTERM)
LOOK_EVERY_SECONDS = 0.2
STOP_WITHIN_SECONDS = 10.0
STEADY_AFTER_SECONDS = 30.0
LONGEST_PAUSE_SECONDS = 10.0


class Process(Protocol):
    """A running process, with the methods of `subprocess.Popen` that this module uses."""

    @property
    def pid(self) -> int: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> object: ...


def spawned(command: Sequence[str], environment: Mapping[str, str], *, stdout: int | None = None) -> Process:
    """Start the command in a new process with additional environment variables."""
    # In a new session, Ctrl-C reaches only the supervisor, which stops its children in order.
    return subprocess.Popen(command, env={**os.environ, **environment}, stdout=stdout, start_new_session=True)


@dataclass
class Fork:
    """A fork of this process, which shares the memory of imported modules."""

    process: BaseProcess

    @property
    def pid(self) -> int:
        return self.process.pid or 0

    def poll(self) -> int | None:
        return self.process.exitcode

    def wait(self, timeout: float | None = None) -> None:
        self.process.join(timeout)


def forked(work: Callable[[], object]) -> Process:
    """Run the work in a fork of this process, whose threads and connections must not be in use."""

    def begin() -> None:
        os.setpgid(0, 0)
        for number in ENDS:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)
        work()

    process = multiprocessing.get_context("fork").Process(target=begin)
    # Block signals until the fork has restored the default handlers.
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)
    process.start()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)
    # Set the group in both processes, because it must exist before anybody sends it a signal.
    with contextlib.suppress(OSError):
        os.setpgid(process.pid or 0, process.pid or 0)
    return Fork(process)


def run_here(command: Sequence[str]) -> None:
    """Run a module as `python -m module ...` does, with the modules that this process has imported already."""
    sys.argv = list(command[2:])
    runpy.run_module(command[2], run_name="__main__", alter_sys=True)


@dataclass
class Child:
    """A process that `look` restarts if it has ended."""

    name: str
    begin: Callable[[], Process]
    process: Process | None = None
    started_at: float = 0.0
    start_again_at: float = 0.0
    quick_ends: int = 0

    def start(self) -> None:
        self.process = self.begin()
        self.started_at = time.monotonic()

    def look(self, say: Callable[[str], None]) -> None:
        """Restart the process if it has ended; repeated quick ends make the pause longer."""
        if self.process is None:
            if time.monotonic() >= self.start_again_at:
                self.start()
            return
        status = self.process.poll()
        if status is None:
            return
        _signal_group(self.process, signal.SIGKILL)
        steady = time.monotonic() - self.started_at > STEADY_AFTER_SECONDS
        self.quick_ends = 0 if steady else self.quick_ends + 1
        pause = 0.0 if self.quick_ends <= 1 else min(2.0 ** (self.quick_ends - 2), LONGEST_PAUSE_SECONDS)
        say(
            f"The {self.name} ended ({_how(status)}); starting it again{f' in {pause:.0f} s' if pause else ''}."
        )
        self.process = None
        self.start_again_at = time.monotonic() + pause

    def stop(self) -> None:
        """Ask the process to end. After STOP_WITHIN_SECONDS at the latest, kill its group."""
        if self.process is None:
            return
        _signal_group(self.process, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(STOP_WITHIN_SECONDS)
        _signal_group(self.process, signal.SIGKILL)
        self.process.wait()
        self.process = None


@dataclass
class Supervisor:
    """Child processes and an optional periodic task `chore`, until SIGINT or SIGTERM.

    Use it in a with statement, which stops all children at its end.
    """

    say: Callable[[str], None]
    chore: Callable[[], object] = lambda: None
    chore_every_seconds: float = 5.0
    children: list[Child] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)
    handlers_before: dict[signal.Signals, Any] = field(default_factory=dict)

    def __enter__(self) -> Supervisor:
        for number in ENDS:
            self.handlers_before[number] = signal.signal(number, self._stop)
        return self

    def __exit__(self, *_: object) -> None:
        for child in reversed(self.children):
            child.stop()
        for number, handler in self.handlers_before.items():
            signal.signal(number, handler)

    def add(self, child: Child) -> None:
        child.start()
        self.children.append(child)

    def watch(self, until: Callable[[], bool] = lambda: False, *, seconds: float | None = None) -> bool:
        """Keep the children running until `until` returns True or the supervisor is asked to stop.

        Returns True if `until` returned True, False after a signal or after `seconds`.
        """
        end = None if seconds is None else time.monotonic() + seconds
        next_chore = time.monotonic()
        while not self.stopping.wait(LOOK_EVERY_SECONDS):
            for child in self.children:
                child.look(self.say)
            if time.monotonic() >= next_chore:
                self.chore()
                next_chore = time.monotonic() + self.chore_every_seconds
            if until():
                return True
            if end is not None and time.monotonic() >= end:
                return False
        return False

    def have_done(self, work: Callable[[], object], *, seconds: float) -> bool:
        """Run the work in a fork, and keep the children running meanwhile.

        Returns True if the work succeeded; False if it failed, after a signal, or after `seconds`.
        """
        process = forked(work)
        try:
            return self.watch(lambda: process.poll() is not None, seconds=seconds) and process.poll() == 0
        finally:
            _signal_group(process, signal.SIGKILL)
            process.wait()

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self.stopping.set()


def _signal_group(process: Process, number: signal.Signals) -> None:
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        return


def _how(status: int) -> str:
    return f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit code {status}"
