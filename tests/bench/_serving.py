"""The application in gunicorn, and people who send requests to it."""

from __future__ import annotations

import json
import os
import re
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

from tests import postgres
from tests.parts import free_port

SETTINGS = "tests.bench._settings"
HOST = "127.0.0.1"
WORKERS, THREADS = 2, 4
ROUND_SECONDS = 2.0
START_SECONDS = 60.0
PATIENCE_SECONDS = 60.0
SAVED = 200


@contextmanager
def on_postgres() -> Iterator[str | None]:
    """Start a PostgreSQL and yield its URL; if none can be started, print the reason and yield None."""
    try:
        server = postgres.start()
    except postgres.NoPostgres as reason:
        print(f"bench: not measured: {reason}", file=sys.stderr)
        yield None
        return
    try:
        yield server.url
    finally:
        server.stop()


class Answer(NamedTuple):
    status: int
    head: bytes
    body: bytes


@dataclass
class Desk:
    port: int
    username: str
    cookies: dict[str, str] = field(default_factory=dict)
    line: socket.socket | None = None
    is_htmx = False

    @classmethod
    def signed_in(cls, port: int, username: str, password: str) -> Self:
        desk = cls(port, username)
        desk.ask("GET", "/accounts/login/")
        token = desk.cookies["coverdict_csrf"]
        form = f"csrfmiddlewaretoken={token}&login={username}&password={password}"
        answer = desk.ask(
            "POST", "/accounts/login/", form.replace(" ", "+").encode(), "x-www-form-urlencoded"
        )
        require(answer, 302)
        return desk

    def post(self, path: str, content: dict[str, Any], expected: int) -> Any:
        answer = self.send(path, content)
        require(answer, expected)
        return json.loads(answer.body)

    def send(self, path: str, content: dict[str, Any]) -> Answer:
        return self.ask("POST", path, json.dumps(content).encode(), "json")

    def ask(self, method: str, path: str, body: bytes = b"", kind: str = "json") -> Answer:
        head = [
            f"{method} {path} HTTP/1.1",
            f"Host: {HOST}:{self.port}",
            f"Cookie: {'; '.join(f'{name}={value}' for name, value in self.cookies.items())}",
            f"X-CSRFToken: {self.cookies.get('coverdict_csrf', '')}",
            f"Content-Type: application/{kind}",
            f"Content-Length: {len(body)}",
            *(["HX-Request: true"] if self.is_htmx else []),
        ]
        request = "\r\n".join([*head, "", ""]).encode() + body
        try:
            answer = self._exchange(request)
        except ConnectionError:
            # Try once more, as a browser does: the server may close an idle connection.
            self.reconnect()
            answer = self._exchange(request)
        self._keep_cookies(answer.head)
        return answer

    def _exchange(self, request: bytes) -> Answer:
        if self.line is None:
            self.reconnect()
        assert self.line is not None
        self.line.sendall(request)
        return _received(self.line)

    def reconnect(self) -> None:
        if self.line is not None:
            self.line.close()
        self.line = socket.create_connection((HOST, self.port), timeout=PATIENCE_SECONDS)
        self.line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def _keep_cookies(self, head: bytes) -> None:
        for line in head.split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.lower() == b"set-cookie":
                key, _, content = value.decode().strip().partition(";")[0].partition("=")
                self.cookies[key] = content


class Reviewer(Desk):
    here = ""
    is_htmx = True

    def next(self) -> Answer:
        answer = self.form("/p/study/review/next/", f"here={self.here}" if self.here else "")
        found = re.search(rb'data-check="(\w+)"', answer.body)
        self.here = found[1].decode() if found else ""
        return answer

    def answer(self) -> Answer:
        return self.form(f"/p/study/review/{self.here}/answer/", "label=yes&seen=")

    def form(self, path: str, content: str) -> Answer:
        return self.ask("POST", path, content.encode(), "x-www-form-urlencoded")


@dataclass
class SavingDesk(Desk):
    """`done` is the number of the last act that was sent."""

    person: dict[str, Any] = field(default_factory=dict)
    done: int = 0

    @classmethod
    def of(cls, port: int, person: dict[str, Any], password: str) -> SavingDesk:
        desk = cls.signed_in(port, person["username"], password)
        desk.person = person
        return desk

    def save(self) -> None:
        self.done += 1
        answer = self.send_act(self.done)
        require(answer, 200)
        if json.loads(answer.body)["results"][0]["status"] != SAVED:
            raise RuntimeError(f"an act was not saved: {answer.body[:300]!r}")

    def send_act(self, number: int) -> Answer:
        """Save the act with this number, counted from 1, on the units in turn."""
        acts = self.person["acts"]
        before, place = divmod(number - 1, len(acts))
        reading, unit = acts[place]
        act = {"kind": "unit", "reading": reading, "unit": unit, "ms": 2000, "follows": before}
        act |= {"percent": number % 6 * 20, "marks": [1, 2], "note": str(number)}
        path = f"/p/study/work/sets/{self.person['assignment']}/acts/"
        return self.send(path, {"acts": [act]})


AnyDesk = TypeVar("AnyDesk", bound=Desk)


def rush(desks: Sequence[AnyDesk], act: Callable[[AnyDesk], object], rounds: int) -> float:
    start = threading.Barrier(len(desks))

    def busy(desk: AnyDesk) -> int:
        desk.reconnect()
        start.wait()
        end, done = time.perf_counter() + ROUND_SECONDS, 0
        while time.perf_counter() < end:
            act(desk)
            done += 1
        return done

    began, done = time.perf_counter(), 0
    with ThreadPoolExecutor(len(desks)) as pool:
        for _ in range(rounds):
            done += sum(pool.map(busy, desks))
    return done / (time.perf_counter() - began)


def _received(line: socket.socket) -> Answer:
    data = b""
    while b"\r\n\r\n" not in data:
        data += _more(line)
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    length = next((int(each.partition(b":")[2]) for each in lines if each.startswith(b"content-length:")), 0)
    while len(body) < length:
        body += _more(line)
    return Answer(int(head.split(b" ", 2)[1]), head, body)


def _more(line: socket.socket) -> bytes:
    data = line.recv(65536)
    if not data:
        raise ConnectionError("the server hung up")
    return data


def require(answer: Answer, status: int) -> None:
    if answer.status != status:
        raise RuntimeError(f"answered {answer.status} instead of {status}: {answer.body[:500]!r}")


@contextmanager
def served(environment: dict[str, str], folder: Path) -> Iterator[int]:
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "annotation.config.wsgi:application"]
    command += [
        f"--bind={HOST}:{port}",
        f"--workers={WORKERS}",
        f"--threads={THREADS}",
        "--worker-class=gthread",
        "--log-level=warning",
    ]
    log = folder / "server.log"
    with log.open("wb") as sink:
        server = subprocess.Popen(command, env=environment, stdout=sink, stderr=subprocess.STDOUT)
        try:
            _wait_for(port, server, log)
            yield port
        finally:
            server.terminate()
            server.wait(START_SECONDS)


def _wait_for(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with socket.create_connection((HOST, port), timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"the server did not come up: {log.read_text(errors='replace')[-2000:]}")


def timed(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return (time.perf_counter() - began) * 1000


def p95(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]


def load() -> str:
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"
