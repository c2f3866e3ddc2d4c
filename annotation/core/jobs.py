"""Long work as rows: claimed under a token, kept by a lease, ended once, whichever worker dies on the way.

A message of the broker is only a hint. What is true stands in the Job row:

- `claim` takes a waiting job by one conditional update, so that of many workers one gets it;
- `Lease` prolongs the claim as long as the process lives;
- whoever writes results calls `hold` first, inside the transaction of the writing: a worker whose
  job was given to another one writes nothing more;
- `finish`, `try_later` and `stop_run` end the claim, and only with its token;
- `reap` gives the jobs of dead workers back, and repeats hints that may have got lost.
A run's row is always locked before the rows of its jobs.
"""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import TracebackType
from typing import Self

from celery import current_app
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import F, Q
from django.utils import timezone
from kombu.exceptions import KombuError

from annotation.core.events import log
from annotation.models import DocumentSet, Job, Run, Worker

RUN_JOB = "annotation.run_job"
MOST_JOB_ATTEMPTS = 5
FIRST_PAUSE_SECONDS = 5
HINT_SECONDS = 15
REAPED_AT_ONCE = 500

OPEN = (Job.State.WAITING, Job.State.WORKING)

logger = logging.getLogger(__name__)


class LostJob(Exception):
    """The job is no longer this worker's: its lease ran out and somebody else may have it."""


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


def enqueue(jobs: Iterable[Job]) -> None:
    """Tell the workers of these jobs once the caller's transaction has been committed."""
    public_ids = [job.public_id for job in jobs]
    transaction.on_commit(lambda: _send(public_ids))


def claim(job_id: str) -> Claimed | None:
    """The job of that public id for this worker, or None where it is not waiting (any more).

    Counts an attempt. A job that failed before is not given out until its pause is over.
    """
    token = secrets.token_hex(16)
    now = timezone.now()
    # Columns of the row alone: PostgreSQL tests them again on the row as another worker left it,
    # which it would not do for a subquery that a joined table needs.
    is_due = Q(attempt=0) | Q(queued_at__lte=now)
    taken = Job.objects.filter(is_due, public_id=job_id, state=Job.State.WAITING).update(
        state=Job.State.WORKING,
        token=token,
        lease_until=now + timedelta(seconds=lease_seconds()),
        attempt=F("attempt") + 1,
        # What an earlier attempt had set aside for calls died with it.
        reserved_cost=0,
        started_at=now,
        finished_at=None,
    )
    if not taken:
        return None
    job = Job.objects.select_related("run__project", "run__judge", "document_set", "export__project").get(
        public_id=job_id
    )
    return Claimed(job=job, token=token)


class Lease:
    """Keeps a claim alive from a thread of its own while the work goes on: `with Lease(claimed) as lease`.

    A process that dies takes the thread with it, and the job is given to another worker when the
    lease has run out. `is_lost` tells early that this has happened to us.
    """

    def __init__(self, claimed: Claimed) -> None:
        self._claimed = claimed
        self._seconds = lease_seconds()
        self._ended = threading.Event()
        self._lost = threading.Event()
        self._thread = threading.Thread(target=self._keep, name=f"lease-{claimed.job.public_id}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join(timeout=self._seconds)

    @property
    def is_lost(self) -> bool:
        return self._lost.is_set()

    def _keep(self) -> None:
        try:
            while not self._ended.wait(self._seconds / 3):
                if not self._renew():
                    self._lost.set()
                    return
        finally:
            connection.close()

    def _renew(self) -> bool:
        until = timezone.now() + timedelta(seconds=self._seconds)
        try:
            return _update(self._claimed, lease_until=until)
        except DatabaseError:
            # The next turn tries again on a new connection; `hold` decides whether it was too late.
            logger.warning("The lease of job %s was not renewed", self._claimed.job.public_id, exc_info=True)
            connection.close()
            return True


def hold(claimed: Claimed) -> None:
    """Make sure that the job is still this worker's and still wanted, until the caller's transaction ends.

    Raises LostJob where the token is no longer good, StoppedJob where the run is not active.
    """
    held = (
        Job.objects.select_for_update(of=("self",), no_key=True)
        .select_related("run")
        .filter(pk=claimed.job.pk, token=claimed.token, state=Job.State.WORKING)
        .first()
    )
    if held is None:
        raise LostJob
    if held.run is not None and held.run.state != Run.State.ACTIVE:
        raise StoppedJob


@transaction.atomic
def finish(claimed: Claimed, *, state: Job.State, error: str = "") -> bool:
    """End a job as done, failed or cancelled; the last one of a run finishes the run.

    False, and nothing is written, where the job is no longer this worker's. A job that stopped
    because of a cancellation waits again if the run has been resumed meanwhile.
    """
    run = _locked_run(claimed.job)
    if state == Job.State.CANCELLED and run is not None and run.state == Run.State.ACTIVE:
        return _hand_back(claimed, error="", at=timezone.now())
    if not _end(claimed, state=state, error=error):
        return False
    settle(run)
    return True


@transaction.atomic
def try_later(claimed: Claimed, *, error: str) -> bool:
    """Give a job back after a failure that may pass; after so many attempts it has failed for good.

    The pause before the next attempt doubles from attempt to attempt.
    """
    attempt = claimed.job.attempt
    run = _locked_run(claimed.job)
    if run is not None and run.state != Run.State.ACTIVE:
        return _end(claimed, state=Job.State.CANCELLED, error=error)
    if attempt < MOST_JOB_ATTEMPTS:
        pause = timedelta(seconds=FIRST_PAUSE_SECONDS * 2 ** (attempt - 1))
        return _hand_back(claimed, error=error, at=timezone.now() + pause)
    return finish(claimed, state=Job.State.FAILED, error=f"{error} (Given up after {attempt} attempts.)")


@transaction.atomic
def stop_run(claimed: Claimed, *, reason: str, state: Job.State = Job.State.FAILED) -> bool:
    """Stop the whole run because of what this job met: it would meet every other job too.

    The job ends in that state, those that wait are cancelled, those in work stop by themselves.
    """
    run = _locked_run(claimed.job)
    if not _end(claimed, state=state, error=reason if state == Job.State.FAILED else ""):
        return False
    if run is None or run.state != Run.State.ACTIVE:
        return True
    cancel_waiting(run)
    run.state = Run.State.STOPPED
    run.stop_reason = reason[:500]
    run.finished_at = timezone.now()
    run.save(update_fields=["state", "stop_reason", "finished_at"])
    log(project=run.project, actor=None, verb="stop run", target=run, data={"reason": run.stop_reason})
    return True


def cancel_waiting(run: Run) -> int:
    """Cancel the run's waiting jobs, inside the caller's transaction, which has locked the run; how many."""
    return Job.objects.filter(run=run, state=Job.State.WAITING).update(
        state=Job.State.CANCELLED, finished_at=timezone.now()
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


def do_again(run: Run, document_set: DocumentSet, *, total: int) -> Job:
    """Let the run's job for a document set wait once more, from the first attempt, whatever became of it; or a new
    one. Inside the caller's transaction, which has locked the run.

    A worker that is at it finds that the job is no longer its own.
    """
    job, is_new = Job.objects.get_or_create(run=run, document_set=document_set, defaults={"total": total})
    if not is_new:
        Job.objects.filter(pk=job.pk).update(
            state=Job.State.WAITING,
            token="",
            lease_until=None,
            attempt=0,
            error="",
            queued_at=timezone.now(),
            finished_at=None,
        )
    return job


def settle(run: Run | None) -> None:
    """Finish the run if nothing of it waits or is worked on.

    Inside the caller's transaction, which has locked the run.
    """
    if run is None or run.state != Run.State.ACTIVE:
        return
    if Job.objects.filter(run=run, state__in=OPEN).exists():
        return
    jobs = Job.objects.filter(run=run)
    failed, total = jobs.filter(state=Job.State.FAILED).count(), jobs.count()
    run.state = Run.State.FAILED if failed == total else Run.State.FINISHED
    run.stop_reason = f"{failed} of {total} document sets failed." if failed else ""
    run.finished_at = timezone.now()
    run.save(update_fields=["state", "stop_reason", "finished_at"])
    log(project=run.project, actor=None, verb="finish run", target=run, data={"failed": failed})


def reap() -> int:
    """Give the jobs of silent workers back and repeat hints that seem lost; how many hints were sent.

    May be called by anybody at any time; two at once do no harm.
    """
    now = timezone.now()
    public_ids = [*_taken_back(now), *_without_hint(now)]
    transaction.on_commit(lambda: _send(public_ids))
    return len(public_ids)


def _taken_back(now: datetime) -> list[str]:
    """Public ids of the jobs that wait again because their lease has run out."""
    expired = Job.objects.filter(state=Job.State.WORKING, lease_until__lt=now).order_by("lease_until")
    return [job.public_id for job in expired[:REAPED_AT_ONCE] if _take_back(job, now)]


@transaction.atomic
def _take_back(job: Job, now: datetime) -> bool:
    run = _locked_run(job)
    # The token and the lease are tested again: the worker may just have ended the job or renewed its lease.
    still = Job.objects.filter(pk=job.pk, token=job.token, state=Job.State.WORKING, lease_until__lt=now)
    ended = {"token": "", "lease_until": None, "finished_at": now}
    if run is not None and run.state != Run.State.ACTIVE:
        still.update(state=Job.State.CANCELLED, **ended)
        return False
    if job.attempt < MOST_JOB_ATTEMPTS:
        back = {"token": "", "lease_until": None, "queued_at": now}
        return bool(still.update(state=Job.State.WAITING, **back))
    error = f"The worker died at each of {job.attempt} attempts; its log may say why."
    if still.update(state=Job.State.FAILED, error=error, **ended):
        settle(run)
    return False


def _without_hint(now: datetime) -> list[str]:
    """Public ids of the jobs that wait although a worker is idle: their hints must have got lost.

    While every worker is busy the hints are still in the queue, and repeating them would only
    make it longer.
    """
    bound = now - timedelta(seconds=HINT_SECONDS)
    stale = Job.objects.filter(state=Job.State.WAITING, queued_at__lt=bound)
    public_ids = list(stale.order_by("queued_at").values_list("public_id", flat=True)[:REAPED_AT_ONCE])
    if not public_ids:
        return []
    busy = Job.objects.filter(state=Job.State.WORKING, lease_until__gte=now).count()
    if busy >= workers_alive(now):
        return []
    sent_by_us = stale.filter(public_id__in=public_ids).update(queued_at=now)
    return public_ids if sent_by_us else []


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


def _send(public_ids: Sequence[str]) -> None:
    for public_id in public_ids:
        # One refusal is enough: `reap` sends the hints again.
        if not hint(RUN_JOB, args=[public_id], waits="jobs"):
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


def workers_alive(now: datetime | None = None) -> int:
    """How many workers have reported lately."""
    lately = (now or timezone.now()) - timedelta(seconds=settings.WORKER_SILENT_SECONDS)
    return Worker.objects.filter(seen_at__gte=lately).count()
