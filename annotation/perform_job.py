"""A worker pulls what waits, whatever kind it is, and says how it ended."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from django.db import connection
from structlog.contextvars import bound_contextvars

from annotation.core import jobs
from annotation.core.jobs import Lane
from annotation.core.refusals import Conflict, Refusal
from annotation.exports import background as exports
from annotation.imports import background
from annotation.judging.services.judge_many import judge_run
from annotation.judging.services.let_decide import decide_after, runs_to_decide
from annotation.models import Job
from annotation.scoring.rescore import overdue, rescore_overdue

FIRST_PAUSE_SECONDS = 2.0
LONGEST_PAUSE_SECONDS = 30.0
LOOK_SECONDS = 0.5

logger = logging.getLogger(__name__)

stopping = threading.Event()
"""Set where this process is told to end: it takes nothing more."""
_in_lane: Mapping[Lane, threading.Lock] = {lane: threading.Lock() for lane in Lane}


def pull(lane: Lane) -> None:
    """Do what waits in a lane until nothing does; nothing where this process is at it already."""
    with at_work_in(lane) as is_first:
        if is_first:
            _WORK[lane]()


@contextmanager
def at_work_in(lane: Lane) -> Iterator[bool]:
    """Whether this process was not at work in the lane yet; it is for the length of the block."""
    is_first = _in_lane[lane].acquire(blocking=False)
    try:
        yield is_first
    finally:
        if is_first:
            _in_lane[lane].release()


def look() -> None:
    """Begin what waits in lanes that this process is not at work in, each in a thread of its own."""
    for lane in Lane:
        if not _in_lane[lane].locked() and not stopping.is_set() and _is_something_due(lane):
            threading.Thread(target=_pull_in_thread, args=(lane,), name=f"lane-{lane}").start()


def _is_something_due(lane: Lane) -> bool:
    return (
        jobs.is_something_due(lane)
        or (lane is Lane.IMPORTS and overdue().exists())
        or (lane is Lane.RUNS and runs_to_decide().exists())
    )


def _pull_in_thread(lane: Lane) -> None:
    try:
        pull(lane)
    except Exception:
        # The boundary of a worker's thread: what it had is tried again once its lease has expired.
        logger.exception("The work on %s broke off", lane)
    finally:
        connection.close()


def _judge_runs() -> None:
    """One run after the other has its turn. One whose judge cannot be asked rests, longer each time, and is then tried
    with one document set; the others go on meanwhile.
    """
    pauses: dict[int, float] = {}
    rests_until: dict[int, float] = {}
    while not stopping.is_set():
        for finished in runs_to_decide():
            decide_after(run=finished)
        resting = [run for run, until in rests_until.items() if until > time.monotonic()]
        run = jobs.run_to_work_on(besides=resting)
        if run is None:
            if not resting or not jobs.is_something_due(Lane.RUNS):
                return
            stopping.wait(LOOK_SECONDS)
            continue
        pause = pauses.pop(run.pk, 0.0)
        if not judge_run(run, most=1 if pause else None, is_stopping=stopping.is_set):
            pauses[run.pk] = min(2 * pause or FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS)
            rests_until[run.pk] = time.monotonic() + pauses[run.pk]


def _write_exports() -> None:
    while not stopping.is_set() and (taken := jobs.take()):
        _export(taken[0])


def _bring_in() -> None:
    rescore_overdue()
    background.drop_stale_uploads()
    while not stopping.is_set() and (taken := jobs.take(lane=Lane.IMPORTS)):
        _import(taken[0])


_WORK: Mapping[Lane, Callable[[], None]] = {
    Lane.RUNS: _judge_runs,
    Lane.EXPORTS: _write_exports,
    Lane.IMPORTS: _bring_in,
}


def _export(claimed: jobs.Claimed) -> None:
    _carry_out(claimed, lambda: exports.perform_claimed(claimed))


def _import(claimed: jobs.Claimed) -> None:
    _carry_out(claimed, lambda: background.perform(claimed))


def _carry_out(claimed: jobs.Claimed, act: Callable[[], None]) -> None:
    with bound_contextvars(**jobs.told_of(claimed.job)), jobs.Lease(claimed.token):
        logger.info("A job begins")
        try:
            act()
        except jobs.StoppedJob:
            jobs.finish(claimed, state=Job.State.CANCELLED)
        except (jobs.HopelessJob, Refusal) as failure:
            if isinstance(failure, Conflict) and failure.code == "busy":
                jobs.try_later(claimed, error=failure.message)
            else:
                jobs.finish(claimed, state=Job.State.FAILED, error=str(failure))
        except Exception as failure:
            # The boundary of a job: one that breaks must not take the worker with it.
            logger.exception("Job %s failed at attempt %s", claimed.job.public_id, claimed.job.attempt)
            jobs.try_later(claimed, error=f"{type(failure).__name__}: {failure}")
        else:
            jobs.finish(claimed, state=Job.State.DONE)
            logger.info("A job is done")
