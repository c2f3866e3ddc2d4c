"""Saving an act of the SEE form over HTTP, as the demo serves it: gunicorn, 2 workers of 4 threads, SQLite.

8 assessors in a project of 100 document sets x 25 systems, most of it judged. Each request is a whole one: a
session, a CSRF token, every middleware. Beside each figure stands that of a bare save, which does nothing but
write one row, taken in turns with it: on a busy machine the ratio of the two says more than either. Then the
8 of them empty a queue of 200 sets, pulling at the same instant, again and again. All of it once more on
PostgreSQL, where the tests can start one.
"""

from __future__ import annotations

import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tests import postgres
from tests.bench import Row

NAME = "saving"
SETTINGS = "tests.bench._saving_settings"
HOST = "127.0.0.1"
WORKERS, THREADS = 2, 4
WARM_UP, ALONE = 60, 400
ROUNDS, ROUND_SECONDS = 5, 2.0
QUEUED = 200
START_SECONDS = 60.0
PATIENCE_SECONDS = 60.0


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        rows = _measure("SQLite", f"sqlite:///{Path(folder) / 'saving.sqlite3'}", Path(folder), bars=True)
    try:
        server = postgres.start()
    except postgres.NoPostgres as reason:
        print(f"saving: no PostgreSQL: {reason}", file=sys.stderr)
        return rows
    try:
        with tempfile.TemporaryDirectory() as folder:
            return rows + _measure("PostgreSQL", server.url, Path(folder), bars=False)
    finally:
        server.stop()


def _measure(database: str, url: str, folder: Path, *, bars: bool) -> list[Row]:
    environment = os.environ | {
        "DATABASE_URL": url,
        "COVERDICT_VAR": str(folder / "var"),
        "DJANGO_SETTINGS_MODULE": SETTINGS,
    }
    made = subprocess.run(
        [sys.executable, "-m", "tests.bench._saving_world"],
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    world = json.loads(made.stdout)
    with _served(environment, folder) as server:
        desks = [Desk.signed_in(server.port, person, world["password"]) for person in world["people"]]
        return [
            *_alone(database, desks[0], server, bars=bars),
            *_together(database, desks, bars=bars),
            *_pulling(database, desks),
        ]


# One after the other


def _alone(database: str, desk: Desk, server: Server, *, bars: bool) -> list[Row]:
    desk.reconnect()
    for _ in range(WARM_UP):
        desk.save()
        desk.save_bare()
    saves, bare = [], []
    for _ in range(ALONE):
        bare.append(_timed(desk.save_bare))
        saves.append(_timed(desk.save))
    ratio = statistics.median(saves) / statistics.median(bare)
    note = f"{_against(bare, statistics.median)}; {_load()}"
    return [
        *_busy(database, desk, server),
        Row(f"{database}: one client, p50", statistics.median(saves), "ms", _bar(8, bars), note=note),
        Row(f"{database}: one client, p95", _p95(saves), "ms", _bar(20, bars), note=_against(bare, _p95)),
        Row(f"{database}: one client, p50 over bare", ratio, "times"),
    ]


def _busy(database: str, desk: Desk, server: Server) -> list[Row]:
    """Processor time, which other work on the machine disturbs least."""
    spent = []
    for act in (desk.save, desk.save_bare):
        before = server.processor_seconds()
        if before is None:
            return []
        for _ in range(ALONE):
            act()
        spent.append(((server.processor_seconds() or 0) - before) / ALONE * 1000)
    note = f"bare save {spent[1]:.3g} ms"
    return [Row(f"{database}: the server's processor time for a save", spent[0], "ms", note=note)]


# 8 at once


def _together(database: str, desks: list[Desk], *, bars: bool) -> list[Row]:
    saves, bare = Rush(), Rush()
    for _ in range(ROUNDS):
        bare.add(desks, Desk.save_bare)
        saves.add(desks, Desk.save)
    ratio = bare.per_second / saves.per_second
    aside = f"{bare.per_second:.0f} bare; aim 250; {_load()}"
    return [
        Row(
            f"{database}: 8 clients, saves a second",
            saves.per_second,
            "a second",
            at_least=_bar(180, bars),
            note=aside,
        ),
        Row(
            f"{database}: 8 clients, p95",
            _p95(saves.times),
            "ms",
            _bar(120, bars),
            note=_against(bare.times, _p95),
        ),
        Row(f"{database}: 8 clients, time of a save over bare", ratio, "times"),
    ]


@dataclass
class Rush:
    """Saves by all clients at once, in rounds."""

    times: list[float] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def per_second(self) -> float:
        return len(self.times) / self.seconds

    def add(self, desks: list[Desk], act: Callable[[Desk], object]) -> None:
        """One more round."""
        start = threading.Barrier(len(desks))

        def busy(desk: Desk) -> list[float]:
            desk.reconnect()
            start.wait()
            end, times = time.perf_counter() + ROUND_SECONDS, []
            while time.perf_counter() < end:
                times.append(_timed(lambda: act(desk)))
            return times

        began = time.perf_counter()
        with ThreadPoolExecutor(len(desks)) as pool:
            for times in pool.map(busy, desks):
                self.times += times
        self.seconds += time.perf_counter() - began


# A queue


def _pulling(database: str, desks: list[Desk]) -> list[Row]:
    """Each pulls at the instant at which the others do, judges what they got, closes it, and comes again."""
    together = threading.Barrier(len(desks))

    def work(desk: Desk) -> tuple[list[str], list[float]]:
        try:
            return pull_all(desk)
        except Exception:
            # The others would wait at the barrier for somebody who does not come.
            together.abort()
            raise

    def pull_all(desk: Desk) -> tuple[list[str], list[float]]:
        got, times = [], []
        for _ in range(QUEUED // len(desks) + 1):
            desk.reconnect()
            together.wait()
            began = time.perf_counter()
            sitting = desk.pull()
            times.append((time.perf_counter() - began) * 1000)
            if sitting:
                got.append(sitting)
                desk.judge_and_close(sitting)
        return got, times

    with ThreadPoolExecutor(len(desks)) as pool:
        worked = list(pool.map(work, desks))
    handed_out = Counter(sitting for got, _ in worked for sitting in got)
    times = [each for _, spent in worked for each in spent]
    twice = sum(count - 1 for count in handed_out.values())
    return [
        Row(f"{database}: 8 people pull, handed out twice", twice, "sets", at_most=0),
        Row(
            f"{database}: 8 people pull, handed out",
            len(handed_out),
            "sets",
            at_least=QUEUED,
            note=f"of {QUEUED}",
        ),
        Row(f"{database}: 8 people pull, p95", _p95(times), "ms", note=_load()),
    ]


# A person at a browser


class Answer(NamedTuple):
    status: int
    head: bytes
    body: bytes


@dataclass
class Desk:
    """A signed-in person with one connection that stays open, and as little else as possible."""

    port: int
    person: dict[str, Any]
    cookies: dict[str, str] = field(default_factory=dict)
    line: socket.socket | None = None
    done: int = 0
    bare_done: int = 0

    @classmethod
    def signed_in(cls, port: int, person: dict[str, Any], password: str) -> Desk:
        desk = cls(port, person)
        desk.ask("GET", "/sign-in/")
        token = desk.cookies["coverdict_csrf"]
        form = f"csrfmiddlewaretoken={token}&username={person['username']}&password={password}"
        answer = desk.ask("POST", "/sign-in/", form.replace(" ", "+").encode(), "x-www-form-urlencoded")
        _require(answer, 302)
        desk.post(f"/p/study/work/sets/{person['sitting']}/pen/", {"client": "form", "seen": ""}, 200)
        return desk

    def save(self) -> None:
        """The next act: each percent in turn, with two marks."""
        acts = self.person["acts"]
        assignment, unit = acts[self.done % len(acts)]
        self.done += 1
        act = {"seq": self.done, "kind": "unit", "assignment": assignment, "unit": unit, "ms": 2000}
        act |= {"percent": self.done % 6 * 20, "marks": [1, 2], "note": ""}
        path = f"/p/study/work/sets/{self.person['sitting']}/acts/"
        answer = self.post(path, {"client": "form", "acts": [act]}, 200)
        if answer["results"][0]["status"] != "saved":
            raise RuntimeError(f"an act was not saved: {answer}")

    def save_bare(self) -> None:
        rows = self.person["rows"]
        assignment, unit = rows[self.bare_done % len(rows)]
        self.bare_done += 1
        self.post("/bare/", {"assignment": assignment, "unit": unit, "percent": 40, "marks": [1, 2]}, 200)

    def pull(self) -> str | None:
        """The set that the queue gave; None where it is empty."""
        answer = self.send("/api/v1/projects/queue/sittings/pull/", {})
        if answer.status == 409 and b"queue_empty" in answer.body:
            return None
        _require(answer, 201)
        return str(json.loads(answer.body)["id"])

    def judge_and_close(self, sitting: str) -> None:
        base = "/api/v1/projects/queue"
        (assignment,) = self.get(f"{base}/sittings/{sitting}/")["assignments"]
        units = self.get(f"{base}/assignments/{assignment['id']}/")["model_units"]
        acts = [
            {
                "seq": seq,
                "kind": "unit",
                "assignment": assignment["id"],
                "unit": unit["id"],
                "percent": 100,
                "marks": [1],
            }
            for seq, unit in enumerate(units, start=1)
        ]
        self.post(f"{base}/sittings/{sitting}/acts/", {"client": "form", "acts": acts}, 200)
        self.post(f"{base}/sittings/{sitting}/close/", {}, 200)

    def get(self, path: str) -> Any:
        answer = self.ask("GET", path)
        _require(answer, 200)
        return json.loads(answer.body)

    def post(self, path: str, content: dict[str, Any], expected: int) -> Any:
        answer = self.send(path, content)
        _require(answer, expected)
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
        ]
        request = "\r\n".join([*head, "", ""]).encode() + body
        try:
            answer = self._exchange(request)
        except ConnectionError:
            # Once more, as a browser does: the server may hang up on a line that was idle for 2 seconds.
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
        """Open a line of one's own to the server; opening one belongs to no measurement."""
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


def _received(line: socket.socket) -> Answer:
    data = b""
    while b"\r\n\r\n" not in data:
        data += _more(line)
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(
        (int(each.partition(b":")[2]) for each in head.split(b"\r\n") if _is_length(each)),
        0,
    )
    while len(body) < length:
        body += _more(line)
    return Answer(int(head.split(b" ", 2)[1]), head, body)


def _more(line: socket.socket) -> bytes:
    data = line.recv(65536)
    if not data:
        raise ConnectionError("the server hung up")
    return data


def _is_length(line: bytes) -> bool:
    return line.lower().startswith(b"content-length:")


def _require(answer: Answer, status: int) -> None:
    if answer.status != status:
        raise RuntimeError(f"answered {answer.status} instead of {status}: {answer.body[:500]!r}")


# The server


@dataclass(frozen=True)
class Server:
    """gunicorn as the demo runs it."""

    port: int
    process: subprocess.Popen[bytes]

    def processor_seconds(self) -> float | None:
        """What its workers have used of the processors so far; None where the system does not say."""
        try:
            children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
            stats = [Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split() for child in children]
        except OSError:
            return None
        # Of what follows the name in brackets, user and system time are the 12th and 13th.
        ticks = sum(int(stat[11]) + int(stat[12]) for stat in stats)
        return ticks / os.sysconf("SC_CLK_TCK")


@contextmanager
def _served(environment: dict[str, str], folder: Path) -> Iterator[Server]:
    """A server on a free port for the length of a with block."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port = int(probe.getsockname()[1])
    command = [sys.executable, "-m", "gunicorn", "annotation.config.wsgi:application"]
    command += [
        f"--bind={HOST}:{port}",
        f"--workers={WORKERS}",
        f"--threads={THREADS}",
        "--log-level=warning",
    ]
    log = folder / "server.log"
    with log.open("wb") as sink:
        server = subprocess.Popen(command, env=environment, stdout=sink, stderr=subprocess.STDOUT)
        try:
            _wait_for(port, server, log)
            yield Server(port, server)
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


# Figures


def _timed(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return (time.perf_counter() - began) * 1000


def _p95(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]


def _against(bare: list[float], figure: Callable[[list[float]], float]) -> str:
    return f"bare save {figure(bare):.3g} ms"


def _load() -> str:
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"


def _bar(value: float, bars: bool) -> float | None:
    return value if bars else None
