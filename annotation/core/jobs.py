"""Background work as rows. A worker claims a job with a token and a lease.

Messages of the broker only wake workers, which also look for jobs at intervals. The Job rows decide:

- `take` claims waiting jobs with a token.
- `Lease` is the heartbeat: it extends the claims and writes the progress.
- `hold` locks the claimed jobs that the worker still owns.
- `finish` and `try_later` end a claim; they need its token.
- `reap` handles jobs with an expired lease, `cancel` ends open jobs, and `again` restarts ended jobs.
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
"""The name of the task that works on waiting jobs of one kind."""
MAIL = "annotation.mail"
"""The name of the task that sends a mail."""
BROKER_SECONDS = 2
PAUSES_SECONDS = (5, 10, 20, 40)
"""The pauses in seconds before the second and each further attempt. A job has one attempt more than pauses."""
REPORT_SECONDS = 0.5
"""The seconds between two heartbeats of a job that reports its progress."""
REAPED_AT_ONCE = 500

OPEN = (Job.State.WAITING, Job.State.WORKING)
FREE: Mapping[str, object] = {"token": "", "lease_until": None}
"""The columns of a job without a worker."""

logger = logging.getLogger(__name__)


class StoppedJob(Exception):
    """The job was cancelled or given to another worker while this worker was working on it."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """A job claimed by this worker, with the token of the claim."""

    job: Job
    token: str


def log_context(job: Job) -> dict[str, str]:
    """Return the ids of a job, of its run (if it has one) and of its request, for the log."""
    run = {} if job.run is None else {"run": job.run.public_id}
    return {"job": job.public_id, "request_id": job.request_id, **run}


def lease_seconds() -> float:
    """Return the time in seconds after which a worker without a heartbeat loses its job."""
    return float(settings.JOB_LEASE_SECONDS)


def new_token() -> str:
    return secrets.token_hex(16)


def enqueue(jobs: Sequence[Job]) -> None:
    """After the caller's transaction commits, wake workers for these jobs, which must be of one kind."""
    if jobs:
        transaction.on_commit(lambda: _wake(jobs[0].kind, len(jobs)))


def again(jobs: QuerySet[Job]) -> list[Job]:
    """Put the ended jobs among `jobs` back in the queue, wake workers, and return these jobs as they were before.

    The caller must be in a transaction.
    """
    over = list(jobs.exclude(state__in=OPEN).select_for_update(of=("self",), no_key=True).order_by("pk"))
    Job.objects.filter(pk__in=[job.pk for job in over]).update(
        state=Job.State.WAITING, attempt=0, error="", queued_at=shared_now(), finished_at=None, **FREE
    )
    enqueue(over)
    return over


def due(kind: Job.Kind) -> QuerySet[Job]:
    """Select the waiting jobs that may be taken now. A job that failed waits until the pause after its attempt is
    over.
    """
    # A time beyond the longest pause comes from a clock that has jumped back.
    is_of_other_time = Q(queued_at__gt=Now() + timedelta(seconds=PAUSES_SECONDS[-1]))
    is_due = Q(attempt=0) | Q(queued_at__lte=Now()) | is_of_other_time
    return Job.objects.filter(is_due, kind=kind, state=Job.State.WAITING)


@transaction.atomic
def take(jobs: QuerySet[Job], *, most: int = 1, token: str | None = None) -> list[Claimed]:
    """Claim up to `most` of these jobs for this worker, oldest first, and count one more attempt for each.

    The claims have the given `token`, or a new one.
    """
    token, now = token or new_token(), shared_now()
    # Skip jobs that another worker is taking, if the database can skip locked rows.
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
    """Lock these jobs in the order of their keys until the caller's transaction ends, and return their keys."""
    held = jobs.select_for_update(of=("self",), no_key=True, skip_locked=skip_locked).order_by("pk")
    return list(held.values_list("pk", flat=True)[:most])


class Lease:
    """The heartbeat of all claims that have one token. It runs in its own thread within `with Lease(token)`.

    If the process dies, the lease expires. `reap` skips the jobs of the process that calls it. `progress` has columns
    of the job that each heartbeat writes.
    """

    alive: ClassVar[set[str]] = set()
    """The tokens that this process works with."""

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
        # This worker has stopped using its cancelled jobs, so end their leases. If the update fails, the leases
        # expire.
        with suppress(Error):
            Job.objects.filter(token=self._token, state=Job.State.CANCELLED).update(**FREE)

    def require(self) -> None:
        """Raise StoppedJob if this worker owned no job with the token at the last heartbeat."""
        if self._is_lost:
            raise StoppedJob

    def _beat_on(self) -> None:
        try:
            while not self._ended.wait(self._pause):
                self.beat()
        finally:
            connection.close()

    def beat(self) -> None:
        """Extend the leases. A cancelled job keeps its lease as long as a worker uses it."""
        try:
            until = shared_now() + timedelta(seconds=self._seconds)
            with transaction.atomic():
                mine = Job.objects.filter(pk__in=locked(Job.objects.filter(token=self._token)))
                mine.update(lease_until=until, **self.progress)
                self._is_lost = not mine.filter(state=Job.State.WORKING).exists()
        except Error:
            # Try again on a new connection at the next heartbeat.
            logger.warning("A lease was not renewed", exc_info=True)
            connection.close()


def _owned(claimed: Sequence[Claimed]) -> QuerySet[Job]:
    keys = [each.job.pk for each in claimed]
    return Job.objects.filter(pk__in=keys, token=claimed[0].token, state=Job.State.WORKING)


def hold(claimed: Sequence[Claimed]) -> set[int]:
    """Lock the claimed jobs that this worker still owns, and return their keys. All claims must have the same token."""
    return set(locked(_owned(claimed)))


@transaction.atomic
def finish(
    *claimed: Claimed,
    state: Job.State = Job.State.DONE,
    error: str = "",
    progress: Mapping[str, int] | None = None,
) -> bool:
    """End the claimed jobs that this worker still owns, and store the first 1,000 characters of `error`.

    Returns False if the worker owns none of them any more.
    """
    owned = Job.objects.filter(pk__in=locked(_owned(claimed)))
    ended = owned.update(
        state=state, error=error[:1000], finished_at=shared_now(), **FREE, **(progress or {})
    )
    return ended > 0


@transaction.atomic
def try_later(claimed: Claimed, *, error: str) -> bool:
    """Return a job to the queue after a failure that may be temporary. After the last attempt, the job has failed.

    The pause before the next attempt grows with each attempt. Returns True if this worker still owned the job.
    """
    attempt = claimed.job.attempt
    if attempt > len(PAUSES_SECONDS):
        error = f"{error} (Given up after {attempt} attempts.)"
        return finish(claimed, state=Job.State.FAILED, error=error)
    at = shared_now() + timedelta(seconds=PAUSES_SECONDS[attempt - 1])
    owned = Job.objects.filter(pk__in=locked(_owned([claimed])))
    return owned.update(state=Job.State.WAITING, error=error[:1000], queued_at=at, **FREE) > 0


def cancel(jobs: QuerySet[Job]) -> int:
    """Cancel the waiting and working jobs among `jobs`, and return their number.

    The caller must be in a transaction.
    """
    keys = locked(jobs.filter(state__in=OPEN))
    return Job.objects.filter(pk__in=keys).update(state=Job.State.CANCELLED, finished_at=shared_now())


_leaps = LeapWatch()


@transaction.atomic
def reap() -> None:
    """Return jobs with an expired lease to the queue. A job without attempts left has failed."""
    now = shared_now()
    if _leaps.has_leapt(now, by=lease_seconds() / 2):
        # After a leap of the clock, leases seem expired although their workers live and will soon extend them.
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
    """Do a claimed job by calling `act`, and end the job: as done, or as failed if `act` raises a Refusal.

    After a Conflict with the code `busy`, and after an error that is no Refusal, the job returns to the queue
    (`try_later`). After StoppedJob, the job is left as it is.
    """
    job = claimed.job
    with bound_contextvars(**log_context(job)), Lease(claimed.token, every_seconds=REPORT_SECONDS) as lease:
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
            # Catch every error, because a failing job must not end the worker.
            if try_later(claimed, error=f"{type(failure).__name__}: {failure}"):
                logger.exception("Job %s failed at attempt %s", job.public_id, job.attempt)
        else:
            finish(claimed, progress=lease.progress)
            logger.info("A job is done")


def hint(
    task: str, *, args: Sequence[object] = (), kwargs: Mapping[str, object] | None = None, waits: str
) -> bool:
    """Send a task by name to the workers. Returns True if the broker took the message.

    Call it after the caller's transaction has committed. An unavailable broker raises no error. `waits` names the
    waiting work in the log.
    """
    try:
        current_app.signature(task, args=args, kwargs=kwargs).delay()
    except (KombuError, OSError):
        logger.warning("The broker does not take messages; %s wait until it does", waits, exc_info=True)
        return False
    return True


def _wake(kind: str, jobs: int) -> None:
    """Send one message for each job, but no more messages than there are workers.

    At least one message is sent, because a worker may be starting.
    """
    for _ in range(min(jobs, max(1, workers_alive()))):
        # After a refused message, stop: workers look for jobs at intervals anyway.
        if not hint(WORK, args=[kind], waits="jobs"):
            return


def broker_fault() -> str:
    """Return the fault of a broker that does not answer; "" if it answers."""
    try:
        with current_app.connection_for_write(connect_timeout=BROKER_SECONDS) as broker:
            broker.ensure_connection(max_retries=1, interval_start=0, interval_step=0, timeout=BROKER_SECONDS)
    except (OperationalError, OSError):
        return "the broker does not answer"
    return ""


def workers_alive(now: datetime | None = None) -> int:
    """Count the workers with a recent heartbeat."""
    lately = (now or shared_now()) - timedelta(seconds=settings.WORKER_SILENT_SECONDS)
    return Worker.objects.filter(seen_at__gte=lately).count()
