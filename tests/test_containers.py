"""The image of deploy/Containerfile, built and started with a PostgreSQL and a Redis for tests.

Without an engine or the base image, the tests are skipped as a missing part. `COVERDICT_BASE_IMAGE` names another
base, such as one made by debootstrap: Debian with python3 and python3-venv.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests import parts, postgres, redis_server
from tests.parts import free_port

ROOT = Path(__file__).parents[1]
BASE = os.environ.get("COVERDICT_BASE_IMAGE", "python:3.13-slim")
IMAGE = "coverdict-test"
NAME = "coverdict.example.org"
UP_SECONDS, STOP_SECONDS = 120, 40

pytestmark = [pytest.mark.process, pytest.mark.slow]


@dataclass(frozen=True)
class Engine:
    program: str
    given: tuple[str, ...] = ()

    def run(self, *words: str) -> str:
        done = subprocess.run([self.program, *words], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout.strip()

    def once(self, *words: str) -> str:
        return self.run("run", "--rm", *self.given, IMAGE, *words)

    @contextmanager
    def service(self, *words: str) -> Iterator[None]:
        name = self.run("run", "--detach", *self.given, IMAGE, *words)
        try:
            yield
            self.run("stop", "--time", str(STOP_SECONDS), name)
            assert self.run("inspect", "--format", "{{.State.ExitCode}}", name) == "0"
        finally:
            self.run("rm", "--force", name)


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    program = shutil.which("podman") or shutil.which("docker")
    if program is None:
        parts.missing("containers", "neither podman nor docker is on PATH")
    tried = subprocess.run(
        [program, "run", "--rm", "--network=host", BASE, "true"], capture_output=True, text=True, check=False
    )
    if tried.returncode:
        parts.missing("containers", f"{BASE} does not start: {tried.stderr.strip().splitlines()[-1]}")
    with ExitStack() as stack:
        # The image's user is neither this process's nor PostgreSQL's, so the socket must be open to other users here.
        open_to_all = {**postgres.QUICK, "unix_socket_permissions": "0777"}
        server = postgres.start(postgres.Options(settings=open_to_all))
        stack.callback(server.stop)
        broker = stack.enter_context(redis_server.running())
        user_and_host, _, database = server.url.rpartition("/")
        sockets = unquote(user_and_host.partition("@")[2])
        Path(sockets).chmod(0o711)
        settings = {
            "SECRET_KEY": os.urandom(32).hex(),
            "ALLOWED_HOSTS": NAME,
            "DATABASE_URL": f"{user_and_host.partition('@')[0]}@%2Fsockets/{database}",
            "CELERY_BROKER_URL": broker,
            "TRUST_PROXY_HEADER": "true",
            "TRUSTED_PROXIES": "1",
        }
        given = [f"--env={name}={value}" for name, value in settings.items()]
        made = Engine(program, ("--network=host", f"--volume={sockets}:/sockets", *given))
        built = ("--build-arg", f"BASE={BASE}", "--file", "deploy/Containerfile", "--tag", IMAGE)
        made.run("build", "--network=host", *built, ".")
        stack.callback(made.run, "rmi", "--force", IMAGE)
        yield made


def test_the_image_serves_and_works_as_nobody_in_particular(engine: Engine) -> None:
    assert engine.once("id", "--user") == "10001"
    engine.once("coverdict", "migrate", "--verbosity=0")
    port = free_port()
    with engine.service("coverdict", "serve", "--bind", f"127.0.0.1:{port}"):
        with engine.service("coverdict", "worker"):
            ready(port)
        assert f"https://{NAME}/setup/" in engine.once(
            "coverdict", "setup_link", "--address", f"https://{NAME}"
        )


def ready(port: int) -> None:
    request = urllib.request.Request(f"http://127.0.0.1:{port}/readyz", headers={"Host": NAME})
    end = time.monotonic() + UP_SECONDS
    while True:
        said: object = None
        try:
            with urllib.request.urlopen(request) as answer:
                said = json.load(answer)["warnings"]
        except (urllib.error.URLError, ConnectionError):
            pass
        if said == {}:
            return
        assert time.monotonic() < end, f"the image did not come up: {said}"
        time.sleep(0.2)
