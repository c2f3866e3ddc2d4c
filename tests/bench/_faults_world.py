"""The installation for the tests of faults, and people who save and answer in it."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import redis

from tests import postgres, redis_server
from tests.bench._judge_server import claims_of
from tests.bench._serving import HOST, SETTINGS, START_SECONDS, Reviewer, SavingDesk
from tests.bench._strikes import AHEAD, HOUR
from tests.bench._study import PASSWORD
from tests.llm_server import Call, LLMServer
from tests.parts import free_port

if TYPE_CHECKING:
    from annotation.models import Run

AT_ONCE = 8
"""The number of calls that the judge answers at the same time."""
LATENCY = 0.2
WORKERS, ASSESSORS, REVIEWERS = 2, 4, 2
PAUSES = {"save": 0.1, "answer": 0.5}
LONGEST_SECONDS = 180.0
DISK_MB = 700
ROOM_MB = 16
# PostgreSQL's own defaults, except that its log of writes fits a small disk.
DURABLE = {"max_wal_size": "128MB", "min_wal_size": "80MB"}
FAKETIME = (
    Path("/usr/lib") / f"{os.uname().machine}-linux-gnu" / "faketime" / "libfaketimeMT.so.1"
)  # the path in Debian's package libfaketime


def clock_of(file: Path) -> dict[str, str]:
    """Return the environment of a PostgreSQL whose clock is shifted by the number of seconds in the file."""
    fake = {"FAKETIME_TIMESTAMP_FILE": str(file), "FAKETIME_CACHE_DURATION": "1"}
    return {"LD_PRELOAD": str(FAKETIME), "FAKETIME_DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1", **fake}


@dataclass
class Act:
    at: float
    person: str
    what: Any


@dataclass
class People:
    assessors: list[SavingDesk]
    reviewers: list[Reviewer]
    acts: list[Act] = field(default_factory=list)
    wrong: Counter[str] = field(default_factory=Counter)
    """The number of each answer that is neither a success nor a sign that a part is unavailable (502, 503, 507)."""
    _ended: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def start(self) -> None:
        work = [(self._save, desk) for desk in self.assessors] + [
            (self._answer, desk) for desk in self.reviewers
        ]
        self._threads = [threading.Thread(target=each, args=(desk,), daemon=True) for each, desk in work]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join(LONGEST_SECONDS)

    def longest_until_saved(self, after: float) -> float:
        first = {desk.username: float("inf") for desk in self.assessors}
        for act in self.acts:
            if act.at > after and act.person in first:
                first[act.person] = min(first[act.person], act.at - after)
        return max(first.values())

    def _save(self, desk: SavingDesk) -> None:
        while not self._ended.wait(PAUSES["save"]):
            number = desk.done + 1
            if self._sent(desk, lambda number=number: desk.send_act(number), (200,)):  # type: ignore[misc]
                desk.done = number
                self.acts.append(Act(time.monotonic(), desk.username, number))

    def _answer(self, desk: Reviewer) -> None:
        while not self._ended.wait(PAUSES["answer"]):
            if not self._sent(desk, desk.next, (200,)) or not desk.here:
                continue
            # 409: the person's own answer exists already, if it was saved and the response was lost.
            if self._sent(desk, desk.answer, (200, 409)):
                self.acts.append(Act(time.monotonic(), desk.username, desk.here))

    def _sent(self, desk: Any, send: Callable[[], Any], good: tuple[int, ...]) -> bool:
        while not self._ended.is_set():
            try:
                answer = send()
            except OSError:
                desk.line = None
            else:
                if answer.status in good:
                    return True
                if answer.status not in (502, 503, 507):
                    self.wrong[f"{answer.status} {answer.body[:80]!r}"] += 1
                    return False
            time.sleep(PAUSES["save"])
        return False


class World:
    """Only a process that has not set up Django yet can create it."""

    def __init__(self, opened: ExitStack, folder: Path, sets: int, checked_sets: int) -> None:
        self.opened = opened
        self.folder = folder
        self.clock = folder / "clock"
        self.set_database_clock(0)
        self.disks = [disk for disk in ("database", "var") if _mounted(opened, folder / disk)]
        options = postgres.Options(
            parent=str(folder / "database"),
            settings=DURABLE,
            environment=clock_of(self.clock) if FAKETIME.exists() else {},
        )
        self.database = postgres.start(options)
        opened.callback(self.database.stop)
        self.broker = opened.enter_context(ExitStack())
        self.broker_url = self.broker.enter_context(redis_server.running())
        self.environment = os.environ | {
            "DATABASE_URL": self.database.url,
            "CELERY_BROKER_URL": self.broker_url,
            "COVERDICT_VAR": str(folder / "var"),
            "COVERDICT_JUDGE_URLS": f"http://{HOST}:*",
            "DJANGO_SETTINGS_MODULE": SETTINGS,
            "TMPDIR": str(folder),
        }
        os.environ |= self.environment
        self.answered: Counter[str] = Counter()
        self.judge_server = opened.enter_context(ExitStack())
        self._serve_judge()
        self._fill(sets, checked_sets)
        self.workers: list[subprocess.Popen[bytes]] = []
        self._mortal = ""
        self.web: subprocess.Popen[bytes] | None = None
        self.port = free_port()
        opened.callback(self._end)

    def _fill(self, sets: int, checked_sets: int) -> None:
        import django

        django.setup()
        from django.core.management import call_command
        from django.db import transaction

        call_command("migrate", verbosity=0)
        from annotation.models import Project, Role
        from tests.bench import _run_world, _study

        with transaction.atomic():
            self.study = study = _study.fill(checked_sets)
            self._assessors = _study.at_work(study, _study.members(study, Role.ASSESSOR, ASSESSORS))
            self._reviewers = [each.username for each in _study.members(study, Role.REVIEWER, REVIEWERS)]
            self.sets = sets
            self.runs = Project.objects.create(slug="runs", name="Runs")
            _run_world.fill(self.runs, sets, with_claims=False)

    def start_run(self) -> Run:
        from annotation.judging.services.start_run import start_run
        from annotation.models import Judge

        number = Judge.objects.count()
        judge = Judge.objects.create(
            name=f"judge {number}",
            kind="openai",
            model=f"m{number}",
            base_url=self.judge.base_url,
            concurrency=AT_ONCE,
        )
        self.answered.clear()
        self.judge.calls.clear()
        return start_run(project=self.runs, judge=judge, metrics=["coverage", "alignment"], by=None)

    def _serve_judge(self, port: int = 0) -> None:
        server = LLMServer(latency=LATENCY, claims_of=claims_of, port=port)
        self.judge = self.judge_server.enter_context(server)
        self.judge.where(self._note)

    def _note(self, call: Call) -> None:
        self.answered[f"{call.body['model']} {call.body['messages']}"] += 1

    @property
    def asked_twice(self) -> int:
        return self.answered.total() - len(self.answered)

    def take_judge_away(self, seconds: float) -> None:
        port = urlsplit(self.judge.base_url).port
        assert port is not None
        # All servers, one after the other, share one list of calls.
        calls = self.judge.calls
        self.judge_server.close()
        time.sleep(seconds)
        self._serve_judge(port)
        self.judge.calls = calls

    def empty_broker(self) -> None:
        with redis.Redis.from_url(self.broker_url) as client:
            client.flushall()

    def kill_broker(self, seconds: float) -> None:
        with redis.Redis.from_url(self.broker_url) as client:
            os.kill(client.info("server")["process_id"], signal.SIGKILL)
        self.broker.close()
        time.sleep(seconds)
        self.broker.enter_context(redis_server.running(urlsplit(self.broker_url).port))

    def start_web(self) -> None:
        from annotation.management.commands.serve import gunicorn_command

        command = gunicorn_command(f"{HOST}:{self.port}")
        command[command.index("annotation.config.wsgi:application")] = "tests.bench._struck:web()"
        self.web = subprocess.Popen(command, env=self.environment, start_new_session=True)
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.web.poll() is None:
            with suppress(OSError), urlopen(f"http://{HOST}:{self.port}/healthz", timeout=START_SECONDS):
                return
            time.sleep(0.05)
        raise RuntimeError("the web server did not come up")

    def kill_web(self) -> None:
        assert self.web is not None
        os.killpg(self.web.pid, signal.SIGKILL)
        self.web.wait()
        self.start_web()

    def kill_web_process(self) -> None:
        os.kill(self._web_processes()[0], signal.SIGKILL)

    def _web_processes(self) -> list[int]:
        assert self.web is not None
        children = Path(f"/proc/{self.web.pid}/task/{self.web.pid}/children").read_text()
        return [int(child) for child in children.split()]

    def ready_workers(self, mortal: str) -> None:
        if mortal != self._mortal:
            for process in list(self.workers):
                self.end_worker(process)
        self._mortal = mortal
        while len(self.workers) < WORKERS:
            self.start_worker()

    def start_worker(self) -> subprocess.Popen[bytes]:
        from annotation.models import Worker
        from annotation.workers import worker_command

        command, environment = worker_command(), self.environment | {"MORTAL": self._mortal}
        command[command.index("annotation.config.celery")] = "tests.bench._struck"
        process = subprocess.Popen(command, env=environment, start_new_session=True)
        self.workers.append(process)
        end = time.monotonic() + START_SECONDS
        while not Worker.objects.filter(name__endswith=f":{process.pid}").exists():
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError("a worker did not come up")
            time.sleep(0.1)
        return process

    def end_worker(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()
        self.workers.remove(process)

    def set_database_clock(self, ahead: int) -> None:
        self.clock.write_text(f"{ahead:+d}\n")
        # PostgreSQL, which reads the file, runs as another user.
        self.clock.chmod(0o644)

    def jump_worker_clock(self, jump: int) -> None:
        self.workers[0].send_signal(jump)

    def jump_all_clocks(self, jump: int) -> None:
        """The clock of the second worker does not change."""
        self.jump_worker_clock(jump)
        for child in self._web_processes():
            os.kill(child, jump)
        self.set_database_clock(HOUR if jump == AHEAD else -HOUR)
        self._wait_for_database_clock()

    def _wait_for_database_clock(self) -> None:
        """Wait for libfaketime, which reads the file once a second."""
        from annotation.core.shared.clock import shared_now

        end = time.monotonic() + START_SECONDS
        while abs(shared_now().timestamp() - time.time()) < HOUR / 2:
            if time.monotonic() > end:
                raise RuntimeError("the clock of the database did not jump")
            time.sleep(0.1)

    @contextmanager
    def people(self) -> Iterator[People]:
        assessors = [SavingDesk.of(self.port, each, PASSWORD) for each in self._assessors]
        reviewers = [Reviewer.signed_in(self.port, name, PASSWORD) for name in self._reviewers]
        for desk in assessors:
            desk.done = self.last_act(desk)
        people = People(assessors, reviewers)
        people.start()
        try:
            yield people
        finally:
            people.stop()

    def last_act(self, desk: SavingDesk) -> int:
        from annotation.models import CoverageJudgment

        rows = CoverageJudgment.objects.filter(reading__assignment__public_id=desk.person["assignment"])
        return max((int(note) for note in rows.values_list("reason", flat=True)), default=0)

    def _end(self) -> None:
        for process in self.workers:
            process.kill()
            process.wait()
        if self.web is not None and self.web.poll() is None:
            os.killpg(self.web.pid, signal.SIGKILL)
            self.web.wait()


def _mounted(opened: ExitStack, folder: Path) -> bool:
    """Return True if a small disk could be mounted at the folder."""
    folder.mkdir()
    folder.chmod(0o755)
    size = DISK_MB if folder.name == "database" else ROOM_MB
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}m,mode=0755", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode:
        return False
    opened.callback(subprocess.run, ["umount", "--lazy", str(folder)], check=False)
    return True
