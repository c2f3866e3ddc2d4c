"""Forks of a Python process that has loaded packages, which start quickly.

A process reads settings only once, so each environment needs its own process.
"""

import atexit
import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parents[1]
LOADED = (
    "celery",
    "csp",
    "environ",
    "evaluation",
    "evaluation.judging.openai",
    "psycopg",
    "requests",
    "structlog",
)
KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "COVERDICT_VAR")


def run(code: str, *arguments: str, **environment: str | None) -> subprocess.CompletedProcess[str]:
    own = {name: value for name in KEPT if (value := os.environ.get(name))}
    asked = {name: value for name, value in {**own, **environment}.items() if value is not None}
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        wanted = {"code": code, "argv": ["-c", *arguments], "environment": asked}
        server = _server()
        stdin, stdout = _pipes(server)
        stdin.write(json.dumps({**wanted, "out": str(out), "err": str(err)}) + "\n")
        stdin.flush()
        ended = int(stdout.readline())
        return subprocess.CompletedProcess(code, ended, out.read_text(), err.read_text())


def _pipes(server: subprocess.Popen[str]) -> tuple[IO[str], IO[str]]:
    assert server.stdin
    assert server.stdout
    return server.stdin, server.stdout


@cache
def _server() -> subprocess.Popen[str]:
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.forking"],
        cwd=ROOT,
        # A fork has only one thread, so the process must have no others.
        env={"PATH": os.environ["PATH"], "OPENBLAS_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(server.communicate)
    return server


def _next_fork() -> str | None:
    for line in sys.stdin:
        wanted = json.loads(line)
        if child := os.fork():
            sys.stdout.write(f"{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n")
            sys.stdout.flush()
            continue
        for number, name in ((1, wanted["out"]), (2, wanted["err"])):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT), number)
        os.environ.clear()
        os.environ.update(wanted["environment"])
        sys.argv = wanted["argv"]
        return str(wanted["code"])
    return None


if __name__ == "__main__":
    for name in LOADED:
        import_module(name)
    if code := _next_fork():
        # Run it at the top level, so that exit code and traceback are those of a usual process.
        exec(code, {"__name__": "__main__"})
