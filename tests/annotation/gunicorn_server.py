"""The application in its own gunicorn, on the test's database."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field

from tests.parts import free_port

STARTED_WITHIN_S = 120


@dataclass
class Server:
    environment: dict[str, str]
    port: int = 0
    running: subprocess.Popen[bytes] | None = field(default=None)

    def start(self) -> None:
        self.port = self.port or free_port()
        command = [sys.executable, "-m", "gunicorn", "annotation.config.wsgi:application"]
        options = [f"--bind=127.0.0.1:{self.port}", "--workers=1", "--threads=4", "--log-level=error"]
        self.running = subprocess.Popen([*command, *options], env=self.environment, start_new_session=True)
        until = time.monotonic() + STARTED_WITHIN_S
        while not self._answers():
            assert time.monotonic() < until, "gunicorn did not start"
            time.sleep(0.1)

    def kill(self) -> None:
        if self.running is None:
            return
        os.killpg(self.running.pid, signal.SIGKILL)
        self.running.wait()
        self.running = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.address}/healthz", timeout=10) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            return False
