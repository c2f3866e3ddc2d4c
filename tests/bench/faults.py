"""The losses, the duplicates and the time to recovery after faults of an installation.

`FAULTS_SETS` is the number of document sets of a run. `FAULTS_ONLY` names faults, separated by commas.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests import postgres, redis_server
from tests.bench import Row
from tests.bench._faults_world import AT_ONCE, FAKETIME, LONGEST_SECONDS, People, World
from tests.bench._serving import load
from tests.bench._strikes import AHEAD, BACK, DIE, HOUR

if TYPE_CHECKING:
    from annotation.models import Export, Run

SETS = int(os.environ.get("FAULTS_SETS", "150"))
ONLY = tuple(filter(None, os.environ.get("FAULTS_ONLY", "").split(",")))
CHECKED_SETS = max(4, SETS // 20)
CALLS_A_SET = 3
AMID = 0.3
"""The share of the calls after which the fault comes."""
AWAY_SECONDS = 5.0
REAPERS = 8
RUN_GOES_ON_SECONDS, SAVES_GO_ON_SECONDS = 15.0, 5.0


@dataclass(frozen=True)
class Fault:
    """A fault. `strike` causes the fault and returns when the cause is over. `interrupts` is True if a process may die
    with calls in flight. `mortal` names the threads that can be killed, by the beginnings of their names.
    """

    what: str
    how: str
    strike: Callable[[World], None]
    interrupts: bool = False
    mortal: str = ""
    after: Callable[[World], int] = lambda _: 0
    """Returns the number of further losses, after the fault and the run are over."""
    missing: Callable[[World], str] = lambda _: ""
    """Returns the reason why the fault cannot be measured on this machine; "" if it can."""


def run() -> list[Row]:
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="faults-")))
        # PostgreSQL runs as another user.
        folder.chmod(0o755)
        try:
            world = World(opened, folder, SETS, CHECKED_SETS)
        except (postgres.NoPostgres, redis_server.NoRedis) as reason:
            print(f"faults: not measured: {reason}", file=sys.stderr)
            return []
        world.start_web()
        rows: list[Row] = []
        for fault in FAULTS:
            if ONLY and fault.what not in ONLY:
                continue
            if why := fault.missing(world):
                print(f"faults: {fault.what}: not measured: {why}", file=sys.stderr)
                continue
            rows += _measure(world, fault)
        return rows


def _measure(world: World, fault: Fault) -> list[Row]:
    world.set_database_clock(0)
    world.ready_workers(fault.mortal)
    with world.people() as people:
        judged = world.start_run()
        _until(lambda: len(world.judge.calls) >= AMID * CALLS_A_SET * SETS)
        held, kept = _held(judged), _kept_calls(judged)
        under_way = len(world.judge.calls) - kept
        began = time.monotonic()
        fault.strike(world)
        back = time.monotonic()
        calls = len(world.judge.calls)
        run_after = _until(lambda: _goes_on(world, judged, held, calls)) - back
        _until(lambda: people.longest_until_saved(back) < LONGEST_SECONDS)
        saves_after = people.longest_until_saved(back)
        is_over = _until(lambda: _is_over(judged)) - began < LONGEST_SECONDS
        people.stop()
        lost = _lost(world, people, judged) + Counter({"other": fault.after(world)})
        doubled = _doubled(people, judged)
    again = world.asked_twice
    if not is_over:
        lost["runs"] = 1
    # Besides the counted calls, replies that are being stored at the time of the fault may be lost: up to one per
    # call.
    allowed = max(2 * AT_ONCE, under_way) if fault.interrupts else 0
    wrong = "; ".join(f"{count} x {what}" for what, count in people.wrong.most_common(3))
    return [
        Row(f"{fault.what}: lost", lost.total(), "", at_most=0, note=f"{_parts(lost)}{fault.how}"),
        Row(
            f"{fault.what}: doubled",
            doubled.total() + max(0, again - allowed),
            "",
            at_most=0,
            note=f"{_parts(doubled)}{len(people.acts)} acts and answers acknowledged, "
            f"{len(world.judge.calls)} calls; asked again {again}, not kept yet {under_way}",
        ),
        Row(f"{fault.what}: the run goes on after", run_after, "s", at_most=RUN_GOES_ON_SECONDS, note=load()),
        Row(f"{fault.what}: saves go on after", saves_after, "s", at_most=SAVES_GO_ON_SECONDS),
        Row(f"{fault.what}: errors without a way out", people.wrong.total(), "", at_most=0, note=wrong),
    ]


def _parts(counts: Counter[str]) -> str:
    told = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    return f"{told}; " if told else ""


def _until(holds: Callable[[], bool]) -> float:
    end = time.monotonic() + LONGEST_SECONDS
    while not _tried(holds) and time.monotonic() < end:
        time.sleep(0.05)
    return time.monotonic()


def _tried(ask: Callable[[], Any]) -> Any:
    from django.db import Error, connection

    try:
        return ask()
    except Error:
        connection.close()
        return None


def _held(judged: Run) -> dict[int, str]:
    from annotation.models import Job

    return dict(Job.objects.filter(run=judged, state="working").values_list("pk", "token"))


def _kept_calls(judged: Run) -> int:
    from annotation.models import JudgeCall

    return JudgeCall.objects.filter(run=judged).count()


def _goes_on(world: World, judged: Run, held: dict[int, str], calls: int) -> bool:
    now = _held(judged)
    is_free = not any(now.get(key) == token for key, token in held.items())
    return is_free and (len(world.judge.calls) > calls + AT_ONCE or _is_over(judged))


def _is_over(judged: Run) -> bool:
    from annotation.models import Run

    return not Run.objects.filter(pk=judged.pk, state="active").exists()


def _lost(world: World, people: People, judged: Run) -> Counter[str]:
    from django.core.management import CommandError, call_command

    from annotation.models import CoverageJudgment, Job, Summary, Verdict

    lost: Counter[str] = Counter()
    for desk in people.assessors:
        rows = CoverageJudgment.objects.filter(reading__assignment__public_id=desk.person["assignment"])
        kept = set(map(int, rows.values_list("reason", flat=True)))
        lost["acts"] += sum(act.person == desk.username and act.what not in kept for act in people.acts)
    names = {desk.username for desk in people.reviewers}
    said = set(
        Verdict.objects.filter(person__username__in=names).values_list(
            "person__username", "check_row__public_id"
        )
    )
    lost["answers"] += sum(act.person in names and (act.person, act.what) not in said for act in people.acts)
    lost["jobs"] += Job.objects.filter(run=judged).exclude(state="done").count()
    summaries = Summary.objects.filter(document_set__project=world.runs, is_summary=True)
    answered = summaries.filter(checks__verdicts__run=judged).distinct().count()
    lost["summaries without a verdict"] += world.sets - answered
    for project in (world.runs, world.study):
        try:
            with Path(os.devnull).open("w") as nothing:
                call_command("verify_scores", project.slug, stdout=nothing)
        except CommandError:
            lost["projects whose scores differ"] += 1
    return lost


def _doubled(people: People, judged: Run) -> Counter[str]:
    from annotation.models import Check, CoverageJudgment, Verdict

    doubled: Counter[str] = Counter()
    verdicts = Verdict.objects.filter(run=judged)
    doubled["verdicts"] += verdicts.count() - Check.objects.filter(verdicts__run=judged).distinct().count()
    for desk in people.assessors:
        rows = CoverageJudgment.objects.filter(reading__assignment__public_id=desk.person["assignment"])
        doubled["acts"] += rows.count() - rows.values("reason").distinct().count()
    for reviewer in people.reviewers:
        said = Verdict.objects.filter(person__username=reviewer.username)
        doubled["answers"] += said.count() - said.values("check_row").distinct().count()
    return doubled


def _kill_worker(world: World) -> None:
    world.end_worker(world.workers[0])


def _kill_both_workers(world: World) -> None:
    for process in list(world.workers):
        world.end_worker(process)
    world.start_worker()


def _kill_threads(world: World) -> None:
    world.workers[0].send_signal(DIE)


def _reap_at_once(world: World) -> None:
    from django.db import connection

    from annotation.core.jobs import lease_seconds, reap

    end = time.monotonic() + lease_seconds() + 2

    def reap_on() -> None:
        try:
            while time.monotonic() < end:
                reap()
        finally:
            connection.close()

    reapers = [threading.Thread(target=reap_on) for _ in range(REAPERS)]
    _kill_worker(world)
    for each in reapers:
        each.start()
    for each in reapers:
        each.join()


def _fill_disk(world: World, name: str) -> Callable[[], None]:
    ballast = world.folder / name / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(64 * 1024))
        except OSError:
            pass
    return ballast.unlink


def _fill_database_disk(world: World) -> None:
    from django.db import connection

    free = _fill_disk(world, "database")
    time.sleep(AWAY_SECONDS)
    free()
    connection.close()
    end = time.monotonic() + AWAY_SECONDS
    while _tried(_held_any) is None:
        if time.monotonic() > end:
            # PostgreSQL ends if it cannot write its log, so start it again after the disk is free.
            world.database.restart()


def _held_any() -> bool:
    from annotation.models import Job

    return Job.objects.exists() or True


_exports: list[Export] = []


def _fill_var_disk(world: World) -> None:
    from annotation.exports.services import request_export

    free = _fill_disk(world, "var")
    _exports.append(request_export(project=world.study, level="claims", format="csv", by=None))
    time.sleep(AWAY_SECONDS)
    free()


def _lost_exports(world: World) -> int:
    from annotation.models import Check, Job

    export = _exports.pop()
    _until(lambda: not Job.objects.filter(export=export, state__in=("waiting", "working")).exists())
    export.refresh_from_db()
    file = world.folder / "var" / "exports" / export.path
    if not export.path or not file.is_file():
        return 1
    lines = file.read_text().count("\n") - 1
    return int(lines < Check.objects.filter(project=world.study).count())


def _with_right_clocks(world: World) -> int:
    from annotation.models import Verdict

    judged = Verdict.objects.filter(run__isnull=False).order_by("-pk").values_list("created_at", flat=True)
    if not any(abs(at.timestamp() - time.time()) > HOUR / 2 for at in judged[: world.sets]):
        raise RuntimeError("no worker's clock has jumped")
    for process in list(world.workers):
        world.end_worker(process)
    world.kill_web()
    return 0


def _needs_disk(name: str) -> Callable[[World], str]:
    return lambda world: "" if name in world.disks else "mounting a small disk takes root"


def _needs_clock(_: World) -> str:
    return "" if FAKETIME.exists() else "libfaketime is not there; on Debian: apt install libfaketime"


FAULTS = (
    Fault("worker killed", "SIGKILL to one of two workers", _kill_worker, interrupts=True),
    Fault("all workers killed", "SIGKILL to both, then one is started", _kill_both_workers, interrupts=True),
    Fault(
        "a worker's threads die",
        "SystemExit raised in all threads that do jobs",
        _kill_threads,
        interrupts=True,
        mortal="ThreadPoolExecutor,jobs-",
    ),
    Fault(
        "the thread of a judge's calls dies",
        "SystemExit raised in the event loop's thread",
        _kill_threads,
        interrupts=True,
        mortal="judge-loop",
    ),
    Fault("web process killed", "SIGKILL to one of two processes of gunicorn", World.kill_web_process),
    Fault("web server killed", "SIGKILL to gunicorn and its processes, then started again", World.kill_web),
    Fault(
        "PostgreSQL restarted",
        f"SIGINT to the postmaster (pg_ctl -m fast), started again after {AWAY_SECONDS:.0f} s",
        lambda world: world.database.restart(away=AWAY_SECONDS),
        interrupts=True,
    ),
    Fault(
        "PostgreSQL stopped at once",
        f"SIGQUIT to the postmaster (pg_ctl -m immediate), started again after {AWAY_SECONDS:.0f} s",
        lambda world: world.database.restart("immediate", away=AWAY_SECONDS),
        interrupts=True,
    ),
    Fault(
        "Redis killed",
        f"SIGKILL, an empty one at its address after {3 * AWAY_SECONDS:.0f} s",
        lambda world: world.kill_broker(3 * AWAY_SECONDS),
    ),
    Fault("Redis emptied", "FLUSHALL", World.empty_broker),
    Fault(
        "judge's server away",
        f"its port is closed for {3 * AWAY_SECONDS:.0f} s, calls under way are cut",
        lambda world: world.take_judge_away(3 * AWAY_SECONDS),
        interrupts=True,
    ),
    Fault(
        "database's disk full",
        f"tmpfs of limited size filled to ENOSPC for {AWAY_SECONDS:.0f} s",
        _fill_database_disk,
        interrupts=True,
        missing=_needs_disk("database"),
    ),
    Fault(
        "disk of files full",
        f"tmpfs of limited size filled to ENOSPC for {AWAY_SECONDS:.0f} s, an export asked for meanwhile",
        _fill_var_disk,
        after=_lost_exports,
        missing=_needs_disk("var"),
    ),
    *(
        Fault(
            f"a worker's clock jumps {where}",
            "by one hour, with time-machine, in one of two workers",
            lambda world, jump=jump: world.jump_worker_clock(jump),  # type: ignore[misc]
            after=_with_right_clocks,
        )
        for where, jump in (("ahead", AHEAD), ("back", BACK))
    ),
    *(
        Fault(
            f"clocks jump {where}",
            "by one hour: of a worker and the web server with time-machine, of PostgreSQL with libfaketime",
            lambda world, jump=jump: world.jump_all_clocks(jump),  # type: ignore[misc]
            after=_with_right_clocks,
            missing=_needs_clock,
        )
        for where, jump in (("ahead", AHEAD), ("back", BACK))
    ),
    Fault(
        "many reapers at once",
        f"SIGKILL to one of two workers; {REAPERS} threads and the other worker reap without pause",
        _reap_at_once,
        interrupts=True,
    ),
)
