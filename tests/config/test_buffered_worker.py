"""The server that `coverdict serve` starts: slow, idle and odd clients against one process of two threads."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from annotation.config.buffered_worker import Arriving, Leaving
from annotation.management.commands.serve import gunicorn_command
from tests.annotation.judging.processes import ROOT, STOP_SECONDS, wait_until

PATIENCE_SECONDS = 5.0
"""A thread that waited for a client would wait for 20 s and more."""
IDLE, TRICKLING = 50, 6
TRICKLE_SECONDS = 0.1
FEW_FILES = 164
"""Leaves a process 32 connections."""


@dataclass
class Server:
    port: int
    process: subprocess.Popen[bytes]

    def line(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_SECONDS)

    def say(self, text: bytes) -> bytes:
        """Everything that is answered to these bytes, until the server closes."""
        with self.line() as line:
            line.sendall(text)
            return b"".join(iter(lambda: line.recv(65536), b""))

    def is_well(self) -> bool:
        return self.say(b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n").startswith(b"HTTP/1.0 200")


@contextmanager
def serving(var: Path, *, files: int | None = None) -> Iterator[Server]:
    """One process with two threads; no more open files than so many."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    environment = {**os.environ, "COVERDICT_VAR": str(var)}
    environment.pop("DATABASE_URL", None)
    command = gunicorn_command(f"127.0.0.1:{port}", workers=1, threads=2)
    if files is not None:
        command = ["sh", "-c", f'ulimit -n {files} && exec "$@"', "sh", *command]
    process = subprocess.Popen(command, cwd=ROOT, env=environment)
    server = Server(port, process)
    try:
        wait_until(lambda: _answers(server))
        yield server
    finally:
        process.kill()
        process.wait(STOP_SECONDS)


def _answers(server: Server) -> bool:
    assert server.process.poll() is None, "the server ended; what it said is above"
    try:
        return server.is_well()
    except OSError:
        return False


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("served")) as running:
        yield running


@contextmanager
def trickling(lines: list[socket.socket]) -> Iterator[None]:
    """A byte over each line, ten times a second."""
    over = threading.Event()

    def trickle() -> None:
        while not over.wait(TRICKLE_SECONDS):
            for line in lines:
                line.send(b"x")

    thread = threading.Thread(target=trickle)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.mark.process
def test_idle_and_trickling_clients_stop_nobody(server: Server) -> None:
    with ExitStack() as stack:
        for _ in range(IDLE):
            stack.enter_context(server.line())
        slow = [stack.enter_context(server.line()) for _ in range(2 * TRICKLING)]
        for line in slow[:TRICKLING]:
            line.sendall(b"POST /sign-in/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n")
        for line in slow[TRICKLING:]:
            line.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        # Those who asked for the connection's end and keep it: the loop closes it, and waits for nobody.
        for _ in range(TRICKLING):
            line = stack.enter_context(server.line())
            line.sendall(b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n")
        with trickling(slow):
            for _ in range(30):
                assert server.is_well()


@pytest.mark.process
def test_more_idle_clients_than_connections_cost_the_oldest_of_them_theirs(tmp_path: Path) -> None:
    with serving(tmp_path, files=FEW_FILES) as server, ExitStack() as stack:
        lines = [stack.enter_context(server.line()) for _ in range(IDLE)]
        assert server.is_well()
        assert lines[0].recv(1) == b""


@pytest.mark.process
@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"POST /sign-in/ HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n", 411),
        (b"POST /sign-in/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999999\r\n\r\n", 413),
        (b"GET /healthz HTTP/1.1\r\nX: " + b"x" * 70_000, 431),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 65 + b"\r\n", 431),
        (b"GET /" + b"x" * 8200 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 414),
        (b"GET /healthz HTTP/1.1\r\nContent-Length: 1, 2\r\n\r\n", 400),
        (b"nothing at all\r\n\r\n", 400),
    ],
)  # fmt: skip
def test_what_no_thread_could_use_is_refused(server: Server, head: bytes, status: int) -> None:
    answer = server.say(head)
    assert answer.startswith(b"HTTP/1.1 %d " % status), answer


@pytest.mark.process
def test_a_connection_takes_one_request_after_the_other(server: Server) -> None:
    one = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    last = one.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    assert server.say(one + one + last).count(b"HTTP/1.1 200") == 3
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_SECONDS)
    for _ in range(3):
        line.request("GET", "/healthz")
        assert line.getresponse().read() == b"ok"
    line.close()


@pytest.mark.process
def test_a_body_larger_than_memory_arrives_whole(server: Server) -> None:
    # More fields than are taken at once: the answer can be known from the body's end alone.
    body = b"&".join(b"field=%06d" % number for number in range(60_000))
    said = server.say(
        b"POST /sign-in/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nExpect: 100-continue\r\n"
        b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    )
    assert b"HTTP/1.1 413" in said
    assert b"inputs. " in said


@pytest.mark.process
def test_a_request_that_has_begun_is_answered_when_the_server_is_told_to_stop(tmp_path: Path) -> None:
    with serving(tmp_path) as server, server.line() as begun, server.line() as idle:
        begun.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n")
        time.sleep(TRICKLE_SECONDS)
        server.process.send_signal(signal.SIGTERM)
        assert idle.recv(1) == b""
        begun.sendall(b"\r\n")
        assert begun.recv(65536).startswith(b"HTTP/1.1 200")
        begun.close()
        assert server.process.wait(STOP_SECONDS) == 0


@pytest.mark.parametrize("step", [1, 7, 1000])
def test_a_request_is_whole_at_its_last_byte(step: int) -> None:
    # 28 + 21 bytes of head with the empty line, 5 of body.
    text = b"POST / HTTP/1.1\r\nHost: a.b\r\nContent-Length: 5\r\n\r\nhello"
    request = Arriving()
    for start in range(0, len(text), step):
        assert not request.is_whole
        assert request.take(text[start : start + step]) is None
    assert request.is_whole
    assert request.length == len(text) == 54


def test_an_answer_leaves_as_the_client_takes_it() -> None:
    answer, told = Leaving(), os.urandom(3_000_000)
    answer.sendall(told[:10])
    answer.sendall(told[10:])
    answer.file.seek(0)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        assert not answer.pass_on(ours)
        taken = bytearray()
        while len(taken) < len(told):
            taken += theirs.recv(100_000)
            answer.pass_on(ours)
        assert answer.pass_on(ours)
    assert bytes(taken) == told
    assert answer.passed == len(told)


def test_a_part_of_a_file_leaves_as_that_part(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    answer = Leaving()
    with path.open("rb") as file:
        answer.sendfile(file, offset=2, count=3)
        answer.sendfile(file, offset=8)
    answer.file.seek(0)
    assert answer.file.read() == b"23489"


@pytest.mark.parametrize(
    ("seconds_left", "passed", "is_past"),
    # 20 s at first, and a second for each 500 bytes: 1,000 bytes in 21 s are enough, in 23 s they are not.
    [(20.5, 0, True), (19.5, 0, False), (21.0, 1000, False), (23.0, 1000, True)],
)
def test_a_client_has_to_keep_up(seconds_left: float, passed: int, is_past: bool) -> None:
    request = Arriving()
    request.began, request.passed = 100.0, passed
    assert (100.0 + seconds_left > request.deadline) == is_past
