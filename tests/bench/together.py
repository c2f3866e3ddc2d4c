"""A judged run, an import, exports and 8 reviewers at once, on SQLite, and on PostgreSQL with Redis: nobody must fail,
and nobody who answers must wait.

A judge that takes 200 ms reads TOGETHER_SETS document sets, 1,000 unless given, while TOGETHER_IMPORTED ones, 10,000
unless given, come in and the 7,500 checks that people answer go out again and again. It ends with run and import.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from tests import redis_server
from tests.bench import Row
from tests.bench._serving import Answer, Desk, at_work, filled, load, on_both, p95, require, served, timed
from tests.bench.call_plan import scripted_server
from tests.bench.volume_files import sets_as_lines

NAME = "together"
SETS = int(os.environ.get("TOGETHER_SETS", "1000"))
IMPORTED = int(os.environ.get("TOGETHER_IMPORTED", "10000"))
ANSWER_MS = 500


def run() -> list[Row]:
    return on_both(NAME, _measure)


def _measure(database: str, url: str, folder: Path) -> list[Row]:
    with ExitStack() as opened:
        address, _ = opened.enter_context(scripted_server())
        os.environ |= {"TOGETHER_JUDGE": address, "TOGETHER_SETS": str(SETS)}
        os.environ["COVERDICT_JUDGE_URLS"] = "http://127.0.0.1:*"
        os.environ.pop("CELERY_BROKER_URL", None)
        if database == "PostgreSQL":
            os.environ["CELERY_BROKER_URL"] = opened.enter_context(redis_server.running())
        environment, world = filled("tests.bench._together_world", url, folder)
        file = folder / "sets.jsonl"
        with file.open("w") as stream:
            stream.writelines(sets_as_lines(IMPORTED))
        opened.enter_context(at_work(environment))
        server = opened.enter_context(served(environment, folder))
        desks = [Desk.signed_in(server.port, name, world["password"]) for name in world["people"]]
        crowd = Work(environment, folder)
        spent = crowd.done(desks, world["checks"], file)
        note = f"{len(spent) / crowd.seconds:.3g} a second; {load()}"
        return [
            Row(
                f"{database}: 8 reviewers meanwhile, p95 of an answer", p95(spent), "ms", ANSWER_MS, note=note
            ),
            Row(f"{database}: the slowest answer", max(spent), "ms"),
            *(Row(f"{database}: {what}", took, "s") for what, took in crowd.took.items()),
            Row(f"{database}: exports meanwhile", crowd.exports, "files", at_least=1),
            Row(
                f"{database}: errors",
                len(crowd.errors),
                "errors",
                at_most=0,
                note="; ".join(crowd.errors[:3]),
            ),
        ]


class Work:
    """What goes on at the same time, how long it took, and what went wrong."""

    def __init__(self, environment: dict[str, str], folder: Path) -> None:
        self.environment = environment
        self.folder = folder
        self.errors: list[str] = []
        self.took: dict[str, float] = {}
        self.exports = 0
        self.seconds = 0.0
        self._is_over = threading.Event()

    def done(self, desks: list[Desk], checks: list[str], file: Path) -> list[float]:
        """All of it; milliseconds of each answer."""
        began, waiting = time.monotonic(), iter(checks)
        with ThreadPoolExecutor(len(desks) + 3) as pool:
            answering = [pool.submit(self._answer, desk, waiting) for desk in desks]
            exporting = pool.submit(self._export)
            judged = pool.submit(
                self._manage, f"run of {SETS:,} sets", "evaluate", "run", "--judge=scripted", "--wait"
            )
            brought = pool.submit(
                self._manage,
                f"import of {IMPORTED:,} sets",
                "import_dataset",
                "brought",
                str(file),
                "--create",
            )
            for each in (judged, brought):
                each.result()
            self._is_over.set()
            exporting.result()
            spent = [time for each in answering for time in each.result()]
        self.seconds = time.monotonic() - began
        return spent

    def _answer(self, desk: Desk, checks: Iterator[str]) -> list[float]:
        spent: list[float] = []
        desk.reconnect()
        while not self._is_over.is_set() and (check := next(checks, None)):
            path = f"/api/v1/projects/study/checks/{check}/verdicts/"
            answers: list[Answer] = []
            try:
                spent.append(timed(lambda: answers.append(desk.send(path, {"label": "yes", "seen": ""}))))  # noqa: B023
                require(answers[0], 201)
            except (OSError, RuntimeError) as failure:
                self.errors.append(f"an answer: {failure}"[:300])
        return spent

    def _export(self) -> None:
        words = ("--level=claims", "--format=csv", "-o", str(self.folder / "claims.csv"))
        while not self._is_over.is_set():
            self._manage("an export of 7,500 checks", "export_dataset", "study", *words)
            self.exports += 1

    def _manage(self, what: str, *words: str) -> None:
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "manage.py", *words],
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        self.took[what] = time.monotonic() - began
        if done.returncode:
            self.errors.append(f"{what}: {done.stderr[-300:]}")
