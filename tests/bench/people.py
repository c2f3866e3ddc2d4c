"""30 and 50 people at once on PostgreSQL, 3 web processes of 4 threads and a worker: some save percents in the SEE
form, some answer claims in review, some read leaderboard, estimates, plan and progress of a project that is worked on.

First each kind of request by itself, for the server's processor time, which other work on the machine disturbs least.
Then 30 for `PEOPLE_SECONDS`: as people work, with a pause between two acts (a second after a percent, two after a
claim, and after a page, which asks for itself again as often while newer numbers are made), and without any pause. Then
50 for twice as long, with the same pauses, while a run is judged and exports are written: none must fail, none may get
less done than others in the same role.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from tests import postgres, redis_server
from tests.bench import Row
from tests.bench._serving import Answer, Desk, Server, at_work, filled, load, p95, require, served, timed
from tests.bench.call_plan import Counts, scripted_server
from tests.bench.saving import SavingDesk

NAME = "people"
SECONDS = float(os.environ.get("PEOPLE_SECONDS", "30"))
PROCESSES = 3
PAUSES = {"save": 1.0, "claim": 2.0, "page": 2.0}
SAVE_MS, PAGE_MS = 250, 800
FEWER = (10, 15, 5)
"""Of the assessors, reviewers and readers, those who are 30."""
UNFAIR = 0.2
"""How much less than the busiest of a role anybody in it may get done."""
WARM_UP, ALONE = 20, 60
PAGES = {
    "leaderboard": "/p/study/scores/",
    "estimate": "/p/study/scores/?by=coverage_estimate",
    "plan": "/p/study/scores/plan/",
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
        address, counts = opened.enter_context(scripted_server())
        os.environ |= {"CELERY_BROKER_URL": broker, "PEOPLE_JUDGE": address}
        os.environ["COVERDICT_JUDGE_URLS"] = "http://127.0.0.1:*"
        environment, world = filled("tests.bench._people_world", database.url, folder)
        opened.enter_context(at_work(environment))
        with served(environment, folder, PROCESSES) as server:
            everybody = Crowd.signed_in(server.port, world)
            crowd = everybody.some(*FEWER)
            rows = [*crowd.alone(server), *crowd.together(PAUSES), *crowd.together({})]
            return rows + _with_a_run(everybody, environment, folder, counts)


def _with_a_run(crowd: Crowd, environment: dict[str, str], folder: Path, counts: Counts) -> list[Row]:
    """Everybody at work while a run is judged and exports are written; and what the database holds afterwards."""

    def deadlocks() -> int:
        with psycopg.connect(environment["DATABASE_URL"]) as connection:
            told = connection.execute("SELECT sum(deadlocks) FROM pg_stat_database").fetchone()
        return int(told[0]) if told else 0

    before, failed = deadlocks(), Counter[str]()
    judging = _manage(environment, "evaluate", "run", "--judge=scripted")
    failed["evaluate"] += judging.wait() != 0
    calls, exports = counts()[0], Counter[str]()
    with _exporting(environment, folder, exports, failed):
        rows = crowd.together(PAUSES, seconds=2 * SECONDS, how="with pauses, a run and exports", bars=False)
    calls = counts()[0] - calls
    failed["the run"] += _manage(environment, "evaluate", "run", "--judge=scripted", "--wait").wait() != 0
    differ = sum(_manage(environment, "verify_scores", project).wait() != 0 for project in ("study", "run"))
    what = f"{crowd.people} people with pauses, a run and exports"
    note = "; ".join(f"{name} failed" for name, count in failed.items() if count)
    return [
        *rows,
        Row(f"{what}: calls of the run meanwhile", calls, "calls", at_least=1),
        Row(f"{what}: exports of 7,500 checks meanwhile", exports["written"], "files", at_least=1),
        Row(f"{what}: commands that failed", failed.total(), "commands", at_most=0, note=note),
        Row(f"{what}: deadlocks", deadlocks() - before, "deadlocks", at_most=0),
        Row(f"{what}: projects whose scores differ (verify_scores)", differ, "projects", at_most=0),
    ]


def _manage(environment: dict[str, str], *words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "manage.py", *words]
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)


@contextmanager
def _exporting(
    environment: dict[str, str], folder: Path, exports: Counter[str], failed: Counter[str]
) -> Iterator[None]:
    """One export after the other for the length of a with block."""
    is_over = threading.Event()

    def export_on() -> None:
        words = (
            "export_dataset",
            "study",
            "--level=claims",
            "--format=csv",
            "-o",
            str(folder / "claims.csv"),
        )
        while not is_over.is_set():
            failed["an export"] += _manage(environment, *words).wait() != 0
            exports["written"] += 1

    thread = threading.Thread(target=export_on)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


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
    done: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How much each person got done, by role and name."""

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

    @property
    def people(self) -> int:
        return len(self.savers) + len(self.reviewers) + len(self.readers)

    def some(self, savers: int, reviewers: int, readers: int) -> Crowd:
        return Crowd(self.savers[:savers], self.reviewers[:reviewers], self.readers[:readers])

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

    def together(
        self, pauses: dict[str, float], *, seconds: float = SECONDS, how: str = "", bars: bool = True
    ) -> list[Row]:
        """All of them for a while."""
        spent, people = Spent(), self.people
        at_desk = threading.Barrier(people)

        def work(desk: Desk, place: int, act: Callable[[int], None], role: str) -> None:
            pause = pauses.get(role, 0.0)
            desk.reconnect()
            at_desk.wait()
            end = time.monotonic() + seconds
            # Not all at the same instant, as people are not.
            time.sleep(pause * place / people)
            turn = place
            while time.monotonic() < end:
                act(turn)
                spent.done[role, desk.username] += 1
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

        tasks: list[tuple[Desk, Callable[[int], None], str]] = [
            *((desk, save(desk), "save") for desk in self.savers),
            *((desk, review(desk), "claim") for desk in self.reviewers),
            *((desk, read(desk), "page") for desk in self.readers),
        ]
        with ThreadPoolExecutor(people) as pool:
            done = [
                pool.submit(work, desk, place, act, role) for place, (desk, act, role) in enumerate(tasks)
            ]
        for each in done:
            each.result()
        what = f"{people} people {how or ('with pauses' if pauses else 'without pauses')}"
        return [*self._told(spent, what, seconds, bars=bars), *(() if bars else self._fair(spent, what))]

    @staticmethod
    def _told(spent: Spent, what: str, seconds: float, *, bars: bool) -> list[Row]:
        rows = []
        for kind, bar in (("save", SAVE_MS), ("claim", None), ("answer", None), ("page", PAGE_MS)):
            times = spent.times[kind]
            note = f"p50 {statistics.median(times):.3g} ms, {len(times) / seconds:.3g} a second; {load()}"
            at_most = bar if bars else None
            rows.append(Row(f"{what}: {kind}, p95", p95(times), "ms", at_most=at_most, note=note))
        note = "; ".join(sorted(set(spent.errors))[:3])
        return [*rows, Row(f"{what}: errors", len(spent.errors), "errors", at_most=0, note=note)]

    @staticmethod
    def _fair(spent: Spent, what: str) -> list[Row]:
        rows = []
        for role in PAUSES:
            done = [count for (whose, _), count in spent.done.items() if whose == role]
            less = 1 - min(done) / max(done)
            note = f"{len(done)} people, from {min(done)} to {max(done)}"
            rows.append(
                Row(f"{what}: {role}, fewest less than most", less, "share", at_most=UNFAIR, note=note)
            )
        return rows
