"""A Redis for tests from the machine's redis-server, on loopback and without files."""

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
    """This machine cannot run a redis-server; the message has the reason."""


@contextmanager
def running(port: int | None = None) -> Iterator[str]:
    """Yield the URL of a server. Raises NoRedis if it does not start."""
    program = shutil.which("redis-server")
    if program is None:
        raise NoRedis("redis-server is not on PATH; on Debian: apt install redis-server")
    with tempfile.TemporaryDirectory(prefix="redis-") as room:
        port = port or free_port()
        command = [program, "--bind", "127.0.0.1", "--port", str(port), "--dir", room]
        command += ["--save", "", "--appendonly", "no", "--daemonize", "no", "--loglevel", "warning"]
        # The server has its own session, so that Ctrl-C ends only the tests, which then end the server.
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
