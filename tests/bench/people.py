"""30 people at once on PostgreSQL, 3 web processes of 4 threads and a worker: 10 save percents in the SEE form,
15 answer claims in review, 5 read leaderboard, estimates, plan and progress of a project whose answers arrive.

First each kind of request by itself, for the server's processor time, which other work on the machine disturbs least.
Then all 30 for `PEOPLE_SECONDS`: as people work, with a pause between two acts (a second after a percent, two after a
claim, and after a page, which asks for itself again as often while newer numbers are made), and without any pause.
"""

from __future__ import annotations

import os
import re
import statistics
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests import postgres, redis_server
from tests.bench import Row
from tests.bench._serving import Answer, Desk, Server, at_work, filled, load, p95, require, served, timed
from tests.bench.saving import SavingDesk

NAME = "people"
SECONDS = float(os.environ.get("PEOPLE_SECONDS", "30"))
PROCESSES = 3
PAUSES = {"save": 1.0, "claim": 2.0, "page": 2.0}
SAVE_MS, PAGE_MS = 250, 800
WARM_UP, ALONE = 20, 60
PAGES = {
    "leaderboard": "/p/study/scores/",
    "estimate": "/p/study/scores/?by=coverage_estimate",
    "plan": "/p/study/scores/plan/",
    "progress": "/p/study/progress/",
    "progress by day": "/p/study/progress/?view=days",
}


def run() -> list[Row]:
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        try:
            database = postgres.start()
            opened.callback(database.stop)
            broker = opened.enter_context(redis_server.running())
        except (postgres.NoPostgres, redis_server.NoRedis) as reason:
            print(f"people: not measured: {reason}", file=sys.stderr)
            return []
        os.environ["CELERY_BROKER_URL"] = broker
        environment, world = filled("tests.bench._people_world", database.url, folder)
        opened.enter_context(at_work(environment))
        with served(environment, folder, PROCESSES) as server:
            crowd = Crowd.signed_in(server.port, world)
            return [*crowd.alone(server), *crowd.together(PAUSES), *crowd.together({})]


class Reviewer(Desk):
    """Answers the claims that the queue gives, as the form does: the answer goes out, and the next claim is fetched."""

    here = ""

    def next(self) -> Answer:
        answer = self.form("/p/study/review/next/", f"here={self.here}" if self.here else "")
        found = re.search(rb'data-check="(\w+)"', answer.body)
        self.here = found[1].decode() if found else ""
        return answer

    def answer(self) -> Answer:
        return self.form(f"/p/study/review/{self.here}/answer/", "label=yes&seen=")

    def form(self, path: str, content: str) -> Answer:
        return self.ask("POST", path, content.encode(), "x-www-form-urlencoded")


@dataclass
class Spent:
    """Milliseconds of each request by its kind, and what went wrong."""

    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)

    def time(self, kind: str, act: Callable[[], Answer | None]) -> None:
        def checked() -> None:
            try:
                if (answer := act()) is not None:
                    require(answer, 200)
            except (RuntimeError, OSError) as failure:
                self.errors.append(f"{kind}: {failure}"[:300])

        self.times[kind].append(timed(checked))


@dataclass(frozen=True)
class Crowd:
    """All who are at work."""

    savers: list[SavingDesk]
    reviewers: list[Reviewer]
    readers: list[Desk]

    @classmethod
    def signed_in(cls, port: int, world: dict[str, Any]) -> Crowd:
        password = world["password"]
        crowd = cls(
            [SavingDesk.with_pen(port, person, password) for person in world["assessors"]],
            [Reviewer.signed_in(port, name, password) for name in world["reviewers"]],
            [Desk.signed_in(port, name, password) for name in world["readers"]],
        )
        for desk in (*crowd.reviewers, *crowd.readers):
            desk.is_htmx = True
        return crowd

    def alone(self, server: Server) -> list[Row]:
        """The server's processor time for one request of each kind."""
        saver, reviewer, reader = self.savers[0], self.reviewers[0], self.readers[0]

        def claim() -> None:
            require(reviewer.next(), 200)
            require(reviewer.answer(), 200)

        acts: dict[str, Callable[[], object]] = {"save": saver.save}
        for name, path in PAGES.items():
            acts[f"{name} page"] = lambda path=path: require(reader.ask("GET", path), 200)  # type: ignore[misc]
        acts["claim fetched and answered"] = claim
        rows = []
        for kind, act in acts.items():
            for _ in range(WARM_UP):
                act()
            before = server.processor_seconds() or 0.0
            times = [timed(act) for _ in range(ALONE)]
            spent = ((server.processor_seconds() or 0.0) - before) / ALONE * 1000
            note = f"p50 {statistics.median(times):.3g} ms on the clock; {load()}"
            rows.append(Row(f"one {kind}: the server's processor time", spent, "ms", note=note))
        return rows

    def together(self, pauses: dict[str, float]) -> list[Row]:
        """All of them for a while."""
        spent, end = Spent(), time.monotonic() + SECONDS
        people = len(self.savers) + len(self.reviewers) + len(self.readers)
        at_desk = threading.Barrier(people)

        def work(desk: Desk, place: int, act: Callable[[int], None], pause: float) -> None:
            desk.reconnect()
            at_desk.wait()
            # Not all at the same instant, as people are not.
            time.sleep(pause * place / people)
            turn = place
            while time.monotonic() < end:
                act(turn)
                turn += 1
                time.sleep(pause)

        def save(desk: SavingDesk) -> Callable[[int], None]:
            return lambda _: spent.time("save", desk.save)

        def review(desk: Reviewer) -> Callable[[int], None]:
            def act(_: int) -> None:
                spent.time("claim", desk.next)
                if desk.here:
                    spent.time("answer", desk.answer)

            return act

        def read(desk: Desk) -> Callable[[int], None]:
            paths = list(PAGES.values())
            return lambda turn: spent.time("page", lambda: desk.ask("GET", paths[turn % len(paths)]))

        tasks: list[tuple[Desk, Callable[[int], None], float]] = [
            *((desk, save(desk), pauses.get("save", 0.0)) for desk in self.savers),
            *((desk, review(desk), pauses.get("claim", 0.0)) for desk in self.reviewers),
            *((desk, read(desk), pauses.get("page", 0.0)) for desk in self.readers),
        ]
        with ThreadPoolExecutor(people) as pool:
            done = [
                pool.submit(work, desk, place, act, pause) for place, (desk, act, pause) in enumerate(tasks)
            ]
        for each in done:
            each.result()
        return self._told(spent, "with pauses" if pauses else "without pauses", people)

    @staticmethod
    def _told(spent: Spent, how: str, people: int) -> list[Row]:
        rows = []
        for kind, bar in (("save", SAVE_MS), ("claim", None), ("answer", None), ("page", PAGE_MS)):
            times = spent.times[kind]
            note = f"p50 {statistics.median(times):.3g} ms, {len(times) / SECONDS:.3g} a second; {load()}"
            rows.append(Row(f"{people} people {how}: {kind}, p95", p95(times), "ms", at_most=bar, note=note))
        note = "; ".join(sorted(set(spent.errors))[:3])
        return [
            *rows,
            Row(f"{people} people {how}: errors", len(spent.errors), "errors", at_most=0, note=note),
        ]
