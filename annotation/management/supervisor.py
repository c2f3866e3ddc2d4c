"""Keeps a few child processes running until told to stop."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

LOOK_EVERY_SECONDS = 0.2
STOP_WITHIN_SECONDS = 10.0
STEADY_AFTER_SECONDS = 30.0
LONGEST_PAUSE_SECONDS = 10.0


@dataclass
class Child:
    """A process that is started again when it ends, sooner or later as it keeps ending."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    start_again_at: float = 0.0
    quick_ends: int = 0

    def start(self) -> None:
        # A session of its own: Ctrl-C reaches the supervisor alone, which stops its children in order.
        self.process = subprocess.Popen(
            self.command, env={**os.environ, **self.environment}, start_new_session=True
        )
        self.started_at = time.monotonic()

    def look(self, say: Callable[[str], None]) -> None:
        """Start the process again if it has ended, at once the first time, then after growing pauses."""
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
        """Ask the process to end; kill what is left of its group after a while."""
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
    """Children, and something to do every few seconds; ends at SIGINT or SIGTERM.

    Use as a context manager: whatever happens inside, no child outlives it.
    """

    say: Callable[[str], None]
    chore: Callable[[], object]
    chore_every_seconds: float = 5.0
    children: list[Child] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)
    handlers_before: dict[signal.Signals, Any] = field(default_factory=dict)

    def __enter__(self) -> Supervisor:
        for number in (signal.SIGINT, signal.SIGTERM):
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
        """Keep the children running until `until` holds or the supervisor is told to stop.

        True if `until` held; False after a signal or after so many seconds.
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

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self.stopping.set()


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        return


def _how(status: int) -> str:
    return f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit code {status}"
