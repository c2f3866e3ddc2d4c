"""Long work as rows: claimed under a token, kept by a lease, ended once, whichever worker dies on the way.

A message of the broker says that there is something to do, never what; workers look every few seconds without one.
What is true stands in the Job rows:

- `take` claims waiting jobs, many under one token, so that of many workers one gets each;
- `Lease` is the heartbeat: it prolongs the claims and writes the progress as long as the process lives;
- anyone who writes results calls `hold` or `finish` inside the transaction of the writing: a worker whose job was
  cancelled or given to another one writes nothing more;
- `finish` and `try_later` end a claim, and only with its token;
- `reap` gives the jobs of dead workers back, `cancel` ends open jobs, `again` lets ended ones wait once more.

Jobs are locked by their keys, in that order, after whatever they belong to. Times go by the database's clock.
"""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar, Self

from celery import current_app
from django.conf import settings
from django.db import Error, connection, transaction
from django.db.models import F, Q
from django.db.models.functions import Now
from kombu.exceptions import KombuError, OperationalError
from structlog.contextvars import bound_contextvars

from annotation.core.refusals import Conflict, Refusal
from annotation.core.shared.clock import LeapWatch, shared_now
from annotation.models import Job, Worker

if TYPE_CHECKING:
    from django.db.models import QuerySet

WORK = "annotation.work"
"""The task that does what waits of one kind."""
BROKER_SECONDS = 2
PAUSES_SECONDS = (5, 10, 20, 40)
"""Before the second attempt at a job and each further one; after the last it has failed."""
REPORT_SECONDS = 0.5
"""How often a job that tells its progress writes it."""
REAPED_AT_ONCE = 500

OPEN = (Job.State.WAITING, Job.State.WORKING)
FREE: Mapping[str, object] = {"token": "", "lease_until": None}
"""The columns of a job that nobody is at."""

logger = logging.getLogger(__name__)


class StoppedJob(Exception):
    """The job was cancelled, or given to another worker, while it was worked on."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """A job that this worker may work on, as it stood at the claim, and the token that proves it."""

    job: Job
    token: str


def told_of(job: Job) -> dict[str, str]:
    """What the log has of a job beside each line about it."""
    run = {} if job.run is None else {"run": job.run.public_id}
    return {"job": job.public_id, "request_id": job.request_id, **run}


def lease_seconds() -> float:
    """How long a worker that says nothing keeps its job."""
    return float(settings.JOB_LEASE_SECONDS)


def new_token() -> str:
    return secrets.token_hex(16)


# Waiting


def enqueue(jobs: Sequence[Job]) -> None:
    """Wake workers for these jobs, which are of one kind, once the caller's transaction has been committed."""
    if jobs:
        transaction.on_commit(lambda: _wake(jobs[0].kind, len(jobs)))


def again(jobs: QuerySet[Job]) -> list[Job]:
    """Let those of these jobs that are over wait again, from the first attempt, in a transaction; wakes workers."""
    over = list(jobs.exclude(state__in=OPEN).select_for_update(of=("self",), no_key=True).order_by("pk"))
    Job.objects.filter(pk__in=[job.pk for job in over]).update(
        state=Job.State.WAITING, attempt=0, error="", queued_at=shared_now(), finished_at=None, **FREE
    )
    enqueue(over)
    return over


def due(kind: Job.Kind) -> QuerySet[Job]:
    """Waiting jobs that may be taken now: one that failed before is not given out until its pause is over."""
    is_due = Q(attempt=0) | Q(queued_at__lte=Now())
    return Job.objects.filter(is_due, kind=kind, state=Job.State.WAITING)


# Claims


@transaction.atomic
def take(jobs: QuerySet[Job], *, most: int = 1, token: str | None = None) -> list[Claimed]:
    """Up to `most` of these `due` jobs for this worker, oldest first; each counts an attempt.

    They are taken under `token`, a new one unless given. A number of statements that does not grow with the jobs.
    """
    token, now = token or new_token(), shared_now()
    # A job that another worker is just taking is passed over where the database can tell; else its own row decides.
    can_skip = connection.features.has_select_for_update_skip_locked
    keys = locked(jobs, most=most, skip_locked=can_skip)
    if not keys:
        return []
    jobs.filter(pk__in=keys).update(
        state=Job.State.WORKING,
        token=token,
        lease_until=now + timedelta(seconds=lease_seconds()),
        attempt=F("attempt") + 1,
        started_at=now,
        finished_at=None,
    )
    taken = Job.objects.filter(pk__in=keys, token=token, state=Job.State.WORKING)
    related = taken.select_related("project", "run__project", "run__judge", "document_set")
    return [Claimed(job=job, token=token) for job in related.order_by("pk")]


def locked(jobs: QuerySet[Job], *, most: int | None = None, skip_locked: bool = False) -> list[int]:
    """The keys of these jobs, whose rows are held until the caller's transaction ends.

    Several threads of a worker write to its jobs: all of them lock in this one order, so that none waits in a circle.
    """
    held = jobs.select_for_update(of=("self",), no_key=True, skip_locked=skip_locked).order_by("pk")
    return list(held.values_list("pk", flat=True)[:most])


class Lease:
    """The heartbeat of all claims under a token, in a thread of its own while the work goes on: `with Lease(token)`.

    A process that dies takes the thread with it, and the jobs are given to another worker when the
    lease has run out. The process itself never takes for dead what it is at, however long the database keeps its
    lease from being renewed. `progress` are columns of the job that each beat writes.
    """

    alive: ClassVar[set[str]] = set()
    """The tokens under which this process is at work."""

    def __init__(self, token: str, *, every_seconds: float | None = None) -> None:
        self.progress: dict[str, int] = {}
        self._token = token
        self._is_lost = False
        self._seconds = lease_seconds()
        self._pause = min(every_seconds or self._seconds, self._seconds / 3)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._beat_on, name="lease", daemon=True)

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
        # What was cancelled meanwhile is worked on no more; where this fails, its lease runs out.
        with suppress(Error):
            Job.objects.filter(token=self._token, state=Job.State.CANCELLED).update(**FREE)

    def require(self) -> None:
        """Raises StoppedJob where no job under the token is this worker's any more, by the latest beat."""
        if self._is_lost:
            raise StoppedJob

    def _beat_on(self) -> None:
        try:
            while not self._ended.wait(self._pause):
                self.beat()
        finally:
            connection.close()

    def beat(self) -> None:
        """Renew the claims. A cancelled job keeps its lease as long as somebody is at it."""
        try:
            until = shared_now() + timedelta(seconds=self._seconds)
            with transaction.atomic():
                mine = Job.objects.filter(pk__in=locked(Job.objects.filter(token=self._token)))
                mine.update(lease_until=until, **self.progress)
                self._is_lost = not mine.filter(state=Job.State.WORKING).exists()
        except Error:
            # The next turn tries again on a new connection; `hold` decides whether it was too late.
            logger.warning("A lease was not renewed", exc_info=True)
            connection.close()


def _owned(claimed: Sequence[Claimed]) -> QuerySet[Job]:
    keys = [each.job.pk for each in claimed]
    return Job.objects.filter(pk__in=keys, token=claimed[0].token, state=Job.State.WORKING)


def hold(claimed: Sequence[Claimed]) -> set[int]:
    """The keys of those jobs, claimed under one token, that are still this worker's, until the caller's transaction
    ends.
    """
    return set(locked(_owned(claimed)))


# Ends


@transaction.atomic
def finish(
    *claimed: Claimed,
    state: Job.State = Job.State.DONE,
    error: str = "",
    progress: Mapping[str, int] | None = None,
) -> bool:
    """End those of the jobs that this worker still owns. Returns False if it owns none."""
    owned = Job.objects.filter(pk__in=locked(_owned(claimed)))
    ended = owned.update(
        state=state, error=error[:1000], finished_at=shared_now(), **FREE, **(progress or {})
    )
    return ended > 0


@transaction.atomic
def try_later(claimed: Claimed, *, error: str) -> bool:
    """Give a job back after a failure that may pass; after so many attempts it has failed for good.

    The pause before the next attempt grows from attempt to attempt. Whether it was still this worker's.
    """
    attempt = claimed.job.attempt
    if attempt > len(PAUSES_SECONDS):
        error = f"{error} (Given up after {attempt} attempts.)"
        return finish(claimed, state=Job.State.FAILED, error=error)
    at = shared_now() + timedelta(seconds=PAUSES_SECONDS[attempt - 1])
    owned = Job.objects.filter(pk__in=locked(_owned([claimed])))
    return owned.update(state=Job.State.WAITING, error=error[:1000], queued_at=at, **FREE) > 0


def cancel(jobs: QuerySet[Job]) -> int:
    """Cancel those of these jobs that wait or are worked on, in a transaction; how many.

    A worker that is at one writes nothing more.
    """
    keys = locked(jobs.filter(state__in=OPEN))
    return Job.objects.filter(pk__in=keys).update(state=Job.State.CANCELLED, finished_at=shared_now())


_leaps = LeapWatch()


@transaction.atomic
def reap() -> None:
    """Give the jobs of silent workers back. May be called by anybody at any time; two at once do no harm."""
    now = shared_now()
    if _leaps.has_leapt(now, by=lease_seconds() / 2):
        # What looks expired is about to be renewed by workers that are alive.
        return
    expired = Job.objects.filter(state=Job.State.WORKING, lease_until__lt=now)
    silent = expired.exclude(token__in=tuple(Lease.alive))
    if not (keys := locked(silent, most=REAPED_AT_ONCE)):
        return
    held = expired.filter(pk__in=keys)
    held.filter(attempt__gt=len(PAUSES_SECONDS)).update(
        state=Job.State.FAILED,
        error=f"The worker crashed at each of {len(PAUSES_SECONDS) + 1} attempts; its log may say why.",
        finished_at=now,
        **FREE,
    )
    held.update(state=Job.State.WAITING, queued_at=now, **FREE)


def carry_out(claimed: Claimed, act: Callable[[Claimed, Lease], None]) -> None:
    """Do a claimed job and end it: done, failed for good after a Refusal, or tried later after anything else."""
    job = claimed.job
    with bound_contextvars(**told_of(job)), Lease(claimed.token, every_seconds=REPORT_SECONDS) as lease:
        logger.info("A job begins")
        try:
            act(claimed, lease)
        except StoppedJob:
            logger.info("A job was cancelled or given to another worker")
        except Refusal as failure:
            if isinstance(failure, Conflict) and failure.code == "busy":
                try_later(claimed, error=failure.message)
            else:
                finish(claimed, state=Job.State.FAILED, error=str(failure))
        except Exception as failure:
            # The boundary of a job: one that breaks must not take the worker with it.
            if try_later(claimed, error=f"{type(failure).__name__}: {failure}"):
                logger.exception("Job %s failed at attempt %s", job.public_id, job.attempt)
        else:
            finish(claimed, progress=lease.progress)
            logger.info("A job is done")


# The broker


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


def _wake(kind: str, jobs: int) -> None:
    """Tell as many workers as could be at it, and at least one: it may be about to start."""
    for _ in range(min(jobs, max(1, workers_alive()))):
        # One refusal is enough: workers look by themselves.
        if not hint(WORK, args=[kind], waits="jobs"):
            return


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
