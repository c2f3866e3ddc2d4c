"""Saving an act of the SEE form over HTTP, as the demo serves it: gunicorn, 2 workers of 4 threads, SQLite.

8 assessors in a project of 100 document sets x 25 systems, most of it judged. Each request is a whole one: a
session, a CSRF token, every middleware. Beside each figure stands that of a bare save, which does nothing but
write one row, taken in turns with it: on a busy machine the ratio of the two says more than either. Then the
8 of them empty a queue of 200 sets, pulling at the same instant, again and again. All of it once more on
PostgreSQL, where the tests can start one.
"""

from __future__ import annotations

import json
import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.bench import Row
from tests.bench._serving import (
    Answer,
    Desk,
    Rush,
    Server,
    filled,
    load,
    on_both,
    p95,
    require,
    served,
    timed,
)

NAME = "saving"
WARM_UP, ALONE = 60, 400
ROUNDS = 5
QUEUED = 200


def run() -> list[Row]:
    return on_both(NAME, _measure)


def _measure(database: str, url: str, folder: Path) -> list[Row]:
    environment, world = filled("tests.bench._saving_world", url, folder)
    bars = database == "SQLite"
    with served(environment, folder) as server:
        desks = [SavingDesk.with_pen(server.port, person, world["password"]) for person in world["people"]]
        return [
            *_alone(database, desks[0], server, bars=bars),
            *_together(database, desks, bars=bars),
            *_pulling(database, desks),
        ]


# One after the other


def _alone(database: str, desk: SavingDesk, server: Server, *, bars: bool) -> list[Row]:
    desk.reconnect()
    for _ in range(WARM_UP):
        desk.save()
        desk.save_bare()
    saves, bare = [], []
    for _ in range(ALONE):
        bare.append(timed(desk.save_bare))
        saves.append(timed(desk.save))
    ratio = statistics.median(saves) / statistics.median(bare)
    note = f"{_against(bare, statistics.median)}; {load()}"
    return [
        *_busy(database, desk, server),
        Row(f"{database}: one client, p50", statistics.median(saves), "ms", _bar(8, bars), note=note),
        Row(f"{database}: one client, p95", p95(saves), "ms", _bar(20, bars), note=_against(bare, p95)),
        Row(f"{database}: one client, p50 over bare", ratio, "times"),
    ]


def _busy(database: str, desk: SavingDesk, server: Server) -> list[Row]:
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


def _together(database: str, desks: list[SavingDesk], *, bars: bool) -> list[Row]:
    saves, bare = Rush(), Rush()
    for _ in range(ROUNDS):
        bare.add(desks, SavingDesk.save_bare)
        saves.add(desks, SavingDesk.save)
    ratio = bare.per_second / saves.per_second
    aside = f"{bare.per_second:.0f} bare; aim 250; {load()}"
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
            p95(saves.times),
            "ms",
            _bar(120, bars),
            note=_against(bare.times, p95),
        ),
        Row(f"{database}: 8 clients, time of a save over bare", ratio, "times"),
    ]


# A queue


def _pulling(database: str, desks: list[SavingDesk]) -> list[Row]:
    """Each pulls at the instant at which the others do, judges what they got, closes it, and comes again."""
    together = threading.Barrier(len(desks))

    def work(desk: SavingDesk) -> tuple[list[str], list[float]]:
        try:
            return pull_all(desk)
        except Exception:
            # The others would wait at the barrier for somebody who does not come.
            together.abort()
            raise

    def pull_all(desk: SavingDesk) -> tuple[list[str], list[float]]:
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
        Row(f"{database}: 8 people pull, p95", p95(times), "ms", note=load()),
    ]


# A person at a browser


@dataclass
class SavingDesk(Desk):
    """An assessor with the pen of a sitting; `person` says what there is to save."""

    person: dict[str, Any] = field(default_factory=dict)
    done: int = 0
    bare_done: int = 0

    @classmethod
    def with_pen(cls, port: int, person: dict[str, Any], password: str) -> SavingDesk:
        desk = cls.signed_in(port, person["username"], password)
        desk.person = person
        desk.post(f"/p/study/work/sets/{person['sitting']}/pen/", {"client": "form", "seen": ""}, 200)
        return desk

    def save(self) -> None:
        """The next act."""
        self.done += 1
        answer = self.send_act(self.done)
        require(answer, 200)
        if json.loads(answer.body)["results"][0]["status"] != "saved":
            raise RuntimeError(f"an act was not saved: {answer.body[:300]!r}")

    def send_act(self, seq: int) -> Answer:
        """The act of that number: each percent in turn, with two marks."""
        acts = self.person["acts"]
        assignment, unit = acts[(seq - 1) % len(acts)]
        act = {"seq": seq, "kind": "unit", "assignment": assignment, "unit": unit, "ms": 2000}
        act |= {"percent": seq % 6 * 20, "marks": [1, 2], "note": ""}
        path = f"/p/study/work/sets/{self.person['sitting']}/acts/"
        return self.send(path, {"client": "form", "acts": [act]})

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
        require(answer, 201)
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


# Figures


def _against(bare: list[float], figure: Callable[[list[float]], float]) -> str:
    return f"bare save {figure(bare):.3g} ms"


def _bar(value: float, bars: bool) -> float | None:
    return value if bars else None
