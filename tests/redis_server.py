"""A Redis of the tests' own, from the machine's redis-server: loopback, a free port, nothing on disk."""

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

import redis

from tests.parts import free_port

START_SECONDS = 60
STOP_SECONDS = 60


class NoRedis(Exception):
    """This machine cannot run a redis-server; the message says why."""


@contextmanager
def running(port: int | None = None) -> Iterator[str]:
    """A server for the length of a with block; gives its URL. Raises NoRedis if there is none to start."""
    program = shutil.which("redis-server")
    if program is None:
        raise NoRedis("redis-server is not on PATH; on Debian: apt install redis-server")
    with tempfile.TemporaryDirectory(prefix="redis-") as room:
        port = port or free_port()
        command = [program, "--bind", "127.0.0.1", "--port", str(port), "--dir", room]
        command += ["--save", "", "--appendonly", "no", "--daemonize", "no", "--loglevel", "warning"]
        # A session of its own, so that Ctrl-C ends the tests first and they end the server.
        server = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
        )
        try:
            _wait_until_ready(server, port)
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            server.terminate()
            server.communicate(timeout=STOP_SECONDS)


def _wait_until_ready(server: subprocess.Popen[str], port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    with redis.Redis(host="127.0.0.1", port=port) as client:
        while time.monotonic() < deadline and server.poll() is None:
            try:
                client.ping()
                return
            except redis.ConnectionError:
                time.sleep(0.02)
    server.terminate()
    said = server.communicate(timeout=STOP_SECONDS)[0]
    raise NoRedis(f"redis-server did not come up: {said.strip()[-500:]}")
