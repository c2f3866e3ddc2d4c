from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import parts
from tests.parts import free_port

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "docs" / "example.csv"
NO_INDEX = (
    "Could not find a version",
    "No matching distribution",
    "ConnectionError",
    "Temporary failure in name",
)
STOP_SECONDS = 60

pytestmark = [pytest.mark.process, pytest.mark.slow]


@dataclass(frozen=True)
class Fresh:
    folder: Path

    @property
    def packages(self) -> Path:
        (found,) = (self.folder / "lib").glob("python*/site-packages")
        return found

    def command(self, *words: str) -> list[str]:
        return [str(self.folder / "bin" / words[0]), *words[1:]]

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder), "LANG": "C.UTF-8"}

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*words),
            cwd=self.folder / "lib",
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )


def pip(folder: Path, *words: str) -> None:
    done = subprocess.run(
        [folder / "bin" / "python", "-m", "pip", "--disable-pip-version-check", *words],
        cwd=ROOT,
        env=os.environ | {"PIP_COMPILE": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and any(sign in done.stderr for sign in NO_INDEX):
        parts.missing("packages", f"pip {words[0]} finds no packages: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "fresh"], check=True, capture_output=True)
    return tmp_path / "fresh"


@pytest.fixture
def wheel(folder: Path, tmp_path: Path) -> Path:
    pip(folder, "wheel", "--no-deps", "--wheel-dir", str(tmp_path), ".")
    (built,) = tmp_path.glob("coverdict-*.whl")
    return built


def installed(folder: Path, wanted: str) -> Fresh:
    pip(folder, "install", "--only-binary", ":all:", wanted)
    return Fresh(folder)


def test_the_wheel_gates_without_the_server_and_serves_with_it(wheel: Path, folder: Path) -> None:
    library = installed(folder, str(wheel))
    gates_and_tests_without_the_server(library)
    server = installed(folder, f"{wheel}[server]")
    imports_judges_and_serves_from_an_empty_folder(server)


def gates_and_tests_without_the_server(fresh: Fresh) -> None:
    there = {path.name.lower() for path in fresh.packages.iterdir()}
    assert {"django", "celery", "kombu", "pyarrow", "rest_framework", "gunicorn"} & there == set()
    # The coverages are 0.5 and 0.83; one is below the minimum.
    gate = fresh.run("coverdict", "gate", str(EXAMPLE), "--fail-under", "coverage=.6")
    assert (gate.returncode, "FAIL alder (20 words) coverage 0.50 < 0.60" in gate.stdout) == (
        3,
        True,
    ), gate.stderr
    refused = fresh.run("coverdict", "serve")
    assert (refused.returncode, "pip install" in refused.stderr) == (1, True)
    code = (
        "from importlib.metadata import entry_points\n"
        "from evaluation import LexicalJudge, evaluate_summary\n"
        "print(evaluate_summary('It rained.', 'It rained.', judge=LexicalJudge(), metrics=['coverage'])['coverage'])\n"
        "print(*entry_points(group='pytest11', name='coverdict'))"
    )
    score, plugin = fresh.run("python", "-c", code).stdout.splitlines()
    assert score == "1.0"
    assert "annotation.command_line.pytest_plugin" in plugin


def imports_judges_and_serves_from_an_empty_folder(fresh: Fresh) -> None:
    for words in (
        ("import_dataset", "mystudy", str(EXAMPLE), "--create"),
        ("evaluate", "mystudy", "--wait", "--fail-under", "coverage=.5"),
        ("verify_scores", "mystudy"),
    ):
        done = fresh.run("coverdict", *words)
        assert done.returncode == 0, done.stderr
    assert (fresh.folder / ".local" / "share" / "coverdict" / "coverdict.sqlite3").exists()
    port = free_port()
    with (
        running(fresh, "coverdict", "worker"),
        running(fresh, "coverdict", "serve", "--bind", f"127.0.0.1:{port}", "--workers", "1"),
    ):
        page = wait_for(f"http://127.0.0.1:{port}/accounts/login/")
        assert b"Coverdict" in page
        assert b"--" in wait_for(f"http://127.0.0.1:{port}/static/css/base.css")
        wait_for(f"http://127.0.0.1:{port}/readyz", until=b'"worker": "ok"')


@contextmanager
def running(fresh: Fresh, *words: str) -> Iterator[None]:
    process = subprocess.Popen(fresh.command(*words), cwd=fresh.folder / "lib", env=fresh.environment)
    try:
        yield
        process.send_signal(signal.SIGTERM)
        assert process.wait(STOP_SECONDS) == 0, words
    finally:
        process.kill()
        process.wait()


def wait_for(address: str, *, until: bytes = b"", seconds: float = 300.0) -> bytes:
    end = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(address, timeout=5) as reply:
                body = bytes(reply.read())
        except OSError:
            if time.monotonic() > end:
                raise
        else:
            if until in body:
                return body
            assert time.monotonic() < end, body
        time.sleep(0.2)
