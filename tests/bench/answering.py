"""A reviewer's answer through the API, and an assessor's save in the SEE form, over HTTP."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.bench import Row
from tests.bench._serving import SETTINGS, Desk, SavingDesk, load, on_postgres, p95, rush, served, timed
from tests.bench._study import PASSWORD

WARM_UP, ALONE, ROUNDS = 60, 300, 5
ANSWER_MS, SAVE_MS = (14, 25), (10, 20)
ANSWERS_A_SECOND = 100


def run() -> list[Row]:
    with on_postgres() as url, tempfile.TemporaryDirectory() as folder:
        if url is None:
            return []
        environment = os.environ | {
            "DATABASE_URL": url,
            "COVERDICT_VAR": f"{folder}/var",
            "DJANGO_SETTINGS_MODULE": SETTINGS,
        }
        command = [sys.executable, "-m", "tests.bench._study"]
        made = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
        with served(environment, Path(folder)) as port:
            return _measure(port, json.loads(made.stdout))


def _measure(port: int, world: dict[str, Any]) -> list[Row]:
    checks = iter(world["checks"])
    desks = [Desk.signed_in(port, name, PASSWORD) for name in world["reviewers"]]
    assessor = SavingDesk.of(port, world["assessors"][0], PASSWORD)
    rows = [
        *_alone("answer through the API", desks[0], lambda: _answer(desks[0], checks), ANSWER_MS),
        *_alone("save in the SEE form", assessor, assessor.save, SAVE_MS),
    ]
    per_second = rush(desks, lambda desk: _answer(desk, checks), ROUNDS)
    what = "answers by 8 clients at once"
    return [*rows, Row(what, per_second, "a second", at_least=ANSWERS_A_SECOND, note=load())]


def _answer(desk: Desk, checks: Iterator[str]) -> None:
    desk.post(f"/api/v1/projects/study/checks/{next(checks)}/verdicts/", {"label": "yes", "seen": ""}, 201)


def _alone(what: str, desk: Desk, act: Callable[[], None], bars: tuple[float, float]) -> list[Row]:
    desk.reconnect()
    for _ in range(WARM_UP):
        act()
    times = [timed(act) for _ in range(ALONE)]
    return [
        Row(f"{what}, p50", statistics.median(times), "ms", bars[0], note=load()),
        Row(f"{what}, p95", p95(times), "ms", bars[1]),
    ]
