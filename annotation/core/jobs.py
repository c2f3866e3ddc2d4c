"""Long work as rows: claimed under a token, kept by a lease, ended once, whichever worker dies on the way.

A message of the broker says that there is something to do, never what; workers look every few seconds without one.
What is true stands in the Job rows:

- `take` pulls waiting jobs, many under one token, so that of many workers one gets each;
- `Lease` prolongs the claims as long as the process lives, by the database's clock: those of hosts may differ;
- whoever writes results calls `hold` first, inside the transaction of the writing: a worker whose
  job was given to another one writes nothing more;
- `finish`, `try_later` and `stop_run` end a claim, and only with its token;
- `reap` gives the jobs of dead workers back.
A run's row is always locked before the rows of its jobs.
"""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar, Self

from celery import current_app
from django.conf import settings
from django.db import Error, connection, transaction
from django.db.models import Count, Exists, F, Max, OuterRef, Q
from django.utils import timezone
from kombu.exceptions import KombuError, OperationalError

from annotation.core.events import log
from annotation.core.run_answers import is_useless, most_common_reason
from annotation.core.shared.clock import LeapWatch, shared_now
from annotation.models import Job, Run, Worker

if TYPE_CHECKING:
    from django.db.models import QuerySet

WORK = "annotation.work"
"""The task that pulls what waits in one lane."""
BROKER_SECONDS = 2
PAUSES_SECONDS = (5, 10, 20, 40)
"""Before the second attempt at a job and each further one; after the last it has failed."""
REAPED_AT_ONCE = 500

OPEN = (Job.State.WAITING, Job.State.WORKING)

logger = logging.getLogger(__name__)


class Lane(StrEnum):
    """Work of one kind. A worker goes through each lane on its own, so that a run keeps no file waiting."""

    RUNS = "runs"
    EXPORTS = "exports"
    IMPORTS = "imports"


LANE_COLUMNS: Mapping[Lane, str] = {
    Lane.RUNS: "run",
    Lane.EXPORTS: "export",
    Lane.IMPORTS: "import_row",
}


def told_of(job: Job) -> dict[str, str]:
    """What the log has of a job beside each line about it."""
    run = {} if job.run is None else {"run": job.run.public_id}
    return {"job": job.public_id, "request_id": job.request_id, **run}


def lane_of(job: Job) -> Lane:
    return next(lane for lane, column in LANE_COLUMNS.items() if getattr(job, f"{column}_id") is not None)


def _in_lane(lane: Lane) -> Q:
    return Q(**{f"{LANE_COLUMNS[lane]}__isnull": False})


class StoppedJob(Exception):
    """The job's run was cancelled while the job was worked on."""


class HopelessJob(Exception):
    """The job cannot succeed by being tried again; the message says why."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """A job that this worker may work on, as it stood at the claim, and the token that proves it."""

    job: Job
    token: str


def lease_seconds() -> float:
    """How long a worker that says nothing keeps its job."""
    return float(settings.JOB_LEASE_SECONDS)


def enqueue(jobs: Sequence[Job]) -> None:
    """Wake workers for these jobs, which are of one lane, once the caller's transaction has been committed."""
    if not jobs:
        return
    lane = lane_of(jobs[0])
    transaction.on_commit(lambda: _wake(lane, len(jobs)))


def take(
    *, run: Run | None = None, lane: Lane = Lane.EXPORTS, most: int = 1, token: str | None = None
) -> list[Claimed]:
    """Up to `most` waiting jobs of a run for this worker, oldest first; without a run, those of a lane.

    They are taken under `token`, a new one unless given. A number of statements that does not grow with the jobs.
    """
    jobs = Job.objects.filter(run=run) if run else Job.objects.filter(_in_lane(lane))
    return _take(jobs, most=most, token=token or new_token())


def is_something_due(lane: Lane) -> bool:
    """Whether a job waits in the lane that may be taken now."""
    is_active = Q(run__isnull=True) | Q(run__state=Run.State.ACTIVE)
    return Job.objects.filter(_in_lane(lane), _is_due(shared_now()), is_active).exists()


def run_to_work_on(*, besides: Collection[int] = ()) -> Run | None:
    """The active run with waiting jobs that the fewest workers are at; of those the one that waited longest.

    `besides` are the keys of runs that are left out.
    """
    waiting = Job.objects.filter(_is_due(shared_now()), run__state=Run.State.ACTIVE, run=OuterRef("pk"))
    at_work = Count("jobs__token", distinct=True, filter=Q(jobs__state=Job.State.WORKING))
    runs = Run.objects.filter(Exists(waiting)).exclude(pk__in=besides)
    runs = runs.annotate(workers=at_work, served=Max("jobs__started_at"))
    in_turn = runs.order_by("workers", F("served").asc(nulls_first=True), "pk")
    return in_turn.select_related("project", "judge").first()


def _is_due(now: datetime) -> Q:
    """A job that failed before is not given out until its pause is over."""
    return Q(state=Job.State.WAITING) & (Q(attempt=0) | Q(queued_at__lte=now))


def new_token() -> str:
    return secrets.token_hex(16)


@transaction.atomic
def _take(jobs: QuerySet[Job], *, most: int, token: str) -> list[Claimed]:
    """Claim some of these jobs; each counts an attempt."""
    now = shared_now()
    # A job that another worker is just taking is passed over where the database can tell; else its own row decides.
    can_skip = connection.features.has_select_for_update_skip_locked
    due = jobs.filter(_is_due(now)).select_for_update(of=("self",), no_key=True, skip_locked=can_skip)
    keys = list(due.order_by("pk").values_list("pk", flat=True)[:most])
    if not keys:
        return []
    Job.objects.filter(_is_due(now), pk__in=keys).update(
        state=Job.State.WORKING,
        token=token,
        lease_until=now + timedelta(seconds=lease_seconds()),
        attempt=F("attempt") + 1,
        started_at=now,
        finished_at=None,
    )
    taken = Job.objects.select_related(
        "run__project",
        "run__judge",
        "document_set",
        "export__project",
        "import_row__project",
    )
    return [Claimed(job=job, token=token) for job in taken.filter(pk__in=keys, token=token).order_by("pk")]


class Lease:
    """Keeps all claims under a token alive from a thread of its own while the work goes on: `with Lease(token)`.

    A process that dies takes the thread with it, and the jobs are given to another worker when the
    lease has run out. The process itself never takes for dead what it is at, however long the database keeps its
    lease from being renewed.
    """

    alive: ClassVar[set[str]] = set()
    """The tokens under which this process is at work."""

    def __init__(self, token: str) -> None:
        self._token = token
        self._seconds = lease_seconds()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="lease", daemon=True)

    def __enter__(self) -> Self:
        self.alive.add(self._token)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.alive.discard(self._token)
        self._ended.set()
        self._thread.join(timeout=self._seconds)

    def _keep(self) -> None:
        try:
            while not self._ended.wait(self._seconds / 3):
                self._renew()
        finally:
            connection.close()

    def _renew(self) -> None:
        try:
            until = shared_now() + timedelta(seconds=self._seconds)
            with transaction.atomic():
                mine = locked(Job.objects.filter(token=self._token, state=Job.State.WORKING))
                Job.objects.filter(pk__in=mine).update(lease_until=until)
        except Error:
            # The next turn tries again on a new connection; `hold` decides whether it was too late.
            logger.warning("A lease was not renewed", exc_info=True)
            connection.close()


@contextmanager
def every(seconds: float, act: Callable[[], object]) -> Iterator[None]:
    """Call `act` every so many seconds for the length of the block, from a thread and connection of its own: what a
    transaction of the block writes is seen by nobody, and what others write is not seen in its snapshot.
    """
    ended = threading.Event()

    def act_on() -> None:
        try:
            while not ended.wait(seconds):
                try:
                    act()
                except Error:
                    # The next turn tries again.
                    connection.close()
        finally:
            connection.close()

    thread = threading.Thread(target=act_on, name="telling", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def locked(jobs: QuerySet[Job]) -> list[int]:
    """The keys of these jobs, whose rows are held until the caller's transaction ends.

    Several threads of a worker write to its jobs: all of them lock in this one order, so that none waits in a circle.
    """
    held = jobs.select_for_update(of=("self",), no_key=True).order_by("pk")
    return list(held.values_list("pk", flat=True))


def hold(claimed: Sequence[Claimed]) -> set[int]:
    """The keys of those jobs that are still this worker's and still wanted, until the caller's transaction ends.

    They are claims under one token, of one run or of none. Raises StoppedJob where the run is not active.
    """
    token, run = claimed[0].token, claimed[0].job.run_id
    keys = [each.job.pk for each in claimed]
    held = Job.objects.filter(pk__in=keys, token=token, state=Job.State.WORKING)
    mine = set(locked(held))
    if run is not None and not Run.objects.filter(pk=run, state=Run.State.ACTIVE).exists():
        raise StoppedJob
    return mine


@transaction.atomic
def finish_all(claimed: Sequence[Claimed]) -> None:
    """End jobs of one run that are still this worker's as done."""
    run = _locked_run(claimed[0].job)
    owned = Job.objects.filter(
        pk__in=[each.job.pk for each in claimed], token=claimed[0].token, state=Job.State.WORKING
    )
    Job.objects.filter(pk__in=locked(owned)).update(
        state=Job.State.DONE, error="", token="", lease_until=None, finished_at=timezone.now()
    )
    settle(run)


@transaction.atomic
def finish(claimed: Claimed, *, state: Job.State, error: str = "") -> bool:
    """End a job as done, failed or cancelled; the last one of a run finishes the run.

    False, and nothing is written, where the job is no longer this worker's. A job that stopped
    because of a cancellation waits again if the run has been resumed meanwhile.
    """
    run = _locked_run(claimed.job)
    if state == Job.State.CANCELLED and run is not None and run.state == Run.State.ACTIVE:
        return _hand_back(claimed, error="", at=shared_now())
    if not _end(claimed, state=state, error=error):
        return False
    settle(run)
    return True


@transaction.atomic
def try_later(claimed: Claimed, *, error: str) -> bool:
    """Give a job back after a failure that may pass; after so many attempts it has failed for good.

    The pause before the next attempt grows from attempt to attempt.
    """
    attempt = claimed.job.attempt
    run = _locked_run(claimed.job)
    if run is not None and run.state != Run.State.ACTIVE:
        return _end(claimed, state=Job.State.CANCELLED, error=error)
    if attempt <= len(PAUSES_SECONDS):
        pause = timedelta(seconds=PAUSES_SECONDS[attempt - 1])
        return _hand_back(claimed, error=error, at=shared_now() + pause)
    return finish(claimed, state=Job.State.FAILED, error=f"{error} (Given up after {attempt} attempts.)")


@transaction.atomic
def stop_run(claimed: Claimed, *, reason: str, state: Job.State = Job.State.FAILED) -> bool:
    """Stop the whole run because of what this job met: it would meet every other job too.

    The job ends in that state, those that wait are cancelled, those in work stop by themselves.
    """
    run = _locked_run(claimed.job)
    if not _end(claimed, state=state, error=reason if state == Job.State.FAILED else ""):
        return False
    if run is not None:
        _stop(run, reason)
    return True


@transaction.atomic
def stop_waiting(run: Run, *, reason: str) -> None:
    """Stop a run between two jobs, because the others would come to as little as those that are done."""
    _stop(Run.objects.select_for_update(no_key=True).get(pk=run.pk), reason)


def _stop(run: Run, reason: str) -> None:
    if run.state != Run.State.ACTIVE:
        return
    cancel_waiting(run)
    run.state = Run.State.STOPPED
    run.stop_reason = reason[:500]
    run.finished_at = timezone.now()
    run.save(update_fields=["state", "stop_reason", "finished_at"])
    log(project=run.project, actor=None, verb="stop run", target=run, data={"reason": run.stop_reason})


def cancel_waiting(run: Run) -> int:
    """Cancel the run's waiting jobs, inside the caller's transaction, which has locked the run; how many."""
    return Job.objects.filter(run=run, state=Job.State.WAITING).update(
        state=Job.State.CANCELLED, finished_at=timezone.now()
    )


def cancel(jobs: QuerySet[Job]) -> int:
    """Cancel those of these jobs, which are of no run, that wait or are worked on, in a transaction; how many.

    A worker that is at one finds that it is no longer its own.
    """
    return Job.objects.filter(pk__in=locked(jobs.filter(state__in=OPEN))).update(
        state=Job.State.CANCELLED, token="", lease_until=None, finished_at=timezone.now()
    )


def wait_again(run: Run) -> list[Job]:
    """Let the run's failed and cancelled jobs wait again, from the first attempt, inside the caller's
    transaction, which has locked the run; those jobs.
    """
    jobs = list(Job.objects.filter(run=run, state__in=(Job.State.FAILED, Job.State.CANCELLED)))
    Job.objects.filter(pk__in=[job.pk for job in jobs]).update(
        state=Job.State.WAITING, attempt=0, error="", queued_at=timezone.now(), finished_at=None
    )
    return jobs


def settle(run: Run | None) -> None:
    """Finish the run if nothing of it waits or is worked on; it has failed if it came to nothing.

    Inside the caller's transaction, which has locked the run.
    """
    if run is None or run.state != Run.State.ACTIVE:
        return
    if Job.objects.filter(run=run, state__in=OPEN).exists():
        return
    jobs = Job.objects.filter(run=run)
    failed, total = jobs.filter(state=Job.State.FAILED).count(), jobs.count()
    useless = is_useless(run)
    run.state = Run.State.FAILED if useless or failed == total else Run.State.FINISHED
    told = [f"{failed} of {total} document sets failed."] if failed else []
    told += [f"No answer was usable.{most_common_reason(run)}"] if useless else []
    run.stop_reason = " ".join(told)[:500]
    run.finished_at = timezone.now()
    run.save(update_fields=["state", "stop_reason", "finished_at"])
    log(project=run.project, actor=None, verb="finish run", target=run, data={"failed": failed})


_leaps = LeapWatch()


def reap() -> None:
    """Give the jobs of silent workers back. May be called by anybody at any time; two at once do no harm."""
    now = shared_now()
    if _leaps.has_leapt(now, by=settings.JOB_LEASE_SECONDS / 2):
        # What looks expired is about to be renewed by workers that are alive.
        return
    expired = Job.objects.filter(state=Job.State.WORKING, lease_until__lt=now).exclude(
        token__in=tuple(Lease.alive)
    )
    for job in expired.order_by("lease_until")[:REAPED_AT_ONCE]:
        _take_back(job, now)


@transaction.atomic
def _take_back(job: Job, now: datetime) -> None:
    run = _locked_run(job)
    # The token and the lease are tested again: the worker may just have ended the job or renewed its lease.
    still = Job.objects.filter(pk=job.pk, token=job.token, state=Job.State.WORKING, lease_until__lt=now)
    ended = {"token": "", "lease_until": None, "finished_at": now}
    if run is not None and run.state != Run.State.ACTIVE:
        still.update(state=Job.State.CANCELLED, **ended)
        return
    if job.attempt <= len(PAUSES_SECONDS):
        still.update(state=Job.State.WAITING, token="", lease_until=None, queued_at=now)
        return
    error = f"The worker crashed at each of {job.attempt} attempts; its log may say why."
    if still.update(state=Job.State.FAILED, error=error, **ended):
        settle(run)


def hint(
    task: str, *, args: Sequence[object] = (), kwargs: Mapping[str, object] | None = None, waits: str
) -> bool:
    """Tell the workers, by a task's name, that there may be something to do; whether the broker took the message.

    Call it once the caller's transaction has been committed. What is true stands in rows, and somebody asks again: the
    caller's work must not fail for a broker that is away. `waits` says in the log what waits until it is back.
    """
    try:
        current_app.signature(task, args=args, kwargs=kwargs).delay()
    except (KombuError, OSError):
        logger.warning("The broker does not take messages; %s wait until it does", waits, exc_info=True)
        return False
    return True


def _wake(lane: Lane, jobs: int) -> None:
    """Tell as many workers as could be at it, and at least one: it may be about to start."""
    for _ in range(min(jobs, max(1, workers_alive()))):
        # One refusal is enough: workers look by themselves.
        if not hint(WORK, args=[lane.value], waits="jobs"):
            return


def _locked_run(job: Job) -> Run | None:
    if job.run_id is None:
        return None
    # no_key: others may go on writing verdicts that refer to the run.
    return (
        Run.objects.select_for_update(of=("self",), no_key=True).select_related("project").get(pk=job.run_id)
    )


def _update(claimed: Claimed, **columns: object) -> bool:
    owned = Job.objects.filter(pk=claimed.job.pk, token=claimed.token, state=Job.State.WORKING)
    return bool(owned.update(**columns))


def _end(claimed: Claimed, *, state: Job.State, error: str) -> bool:
    return _update(
        claimed, state=state, error=error[:1000], token="", lease_until=None, finished_at=timezone.now()
    )


def _hand_back(claimed: Claimed, *, error: str, at: datetime) -> bool:
    """Let the job wait until a moment; `reap` sends the hint."""
    return _update(
        claimed, state=Job.State.WAITING, error=error[:1000], token="", lease_until=None, queued_at=at
    )


def broker_fault() -> str:
    """Why the broker takes no messages, or nothing; known within some seconds."""
    try:
        with current_app.connection_for_write(connect_timeout=BROKER_SECONDS) as broker:
            broker.ensure_connection(max_retries=1, interval_start=0, interval_step=0, timeout=BROKER_SECONDS)
    except (OperationalError, OSError):
        return "the broker does not answer"
    return ""


def workers_alive(now: datetime | None = None) -> int:
    """How many workers have reported lately."""
    lately = (now or shared_now()) - timedelta(seconds=settings.WORKER_SILENT_SECONDS)
    return Worker.objects.filter(seen_at__gte=lately).count()
