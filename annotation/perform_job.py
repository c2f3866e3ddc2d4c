"""The work of a worker. Each kind of job has its own threads."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from django.db import connection

from annotation.core import jobs
from annotation.judging.queries.runs import is_worker_alive, run_to_work_on, runs_to_settle
from annotation.judging.services.end_run import settle
from annotation.judging.services.running.turn import judge_run
from annotation.models import Analysis, Job, Run
from annotation.scoring.rescore import overdue, rescore_overdue

FIRST_PAUSE_SECONDS = 2.0
LONGEST_PAUSE_SECONDS = 30.0
LOOK_SECONDS = 0.5

logger = logging.getLogger(__name__)

stopping = threading.Event()
"""An event that is set when the process is asked to end; then it takes no more jobs."""
# Exports have two threads, so that a large export does not delay small ones.
AT_ONCE = {kind: 2 if kind is Job.Kind.EXPORT else 1 for kind in Job.Kind}
_guard = threading.Lock()
_at_work = dict.fromkeys(Job.Kind, 0)


def work_on(kind: Job.Kind) -> None:
    """Work on jobs of a kind until none is due or the process is asked to end. Returns at once if `AT_ONCE` threads of
    this process already do so.
    """
    with at_work_on(kind) as may_work:
        if may_work:
            _WORK[kind]()


@contextmanager
def at_work_on(kind: Job.Kind) -> Iterator[bool]:
    """Count the with block as work on the kind.

    Yields False if `AT_ONCE` threads of this process already work on the kind.
    """
    with _guard:
        may_work = _at_work[kind] < AT_ONCE[kind]
        _at_work[kind] += may_work
    try:
        yield may_work
    finally:
        with _guard:
            _at_work[kind] -= may_work


def start_missing_threads() -> None:
    """Start a thread for each kind that has due work but fewer threads of this process than `AT_ONCE`."""
    for kind in Job.Kind:
        if _at_work[kind] < AT_ONCE[kind] and not stopping.is_set() and _is_something_due(kind):
            threading.Thread(target=work_on_in_thread, args=(kind,), name=f"jobs-{kind}").start()


def _is_something_due(kind: Job.Kind) -> bool:
    return (
        jobs.due(kind).exists()
        or (kind is Job.Kind.IMPORT and overdue().exists())
        or (kind is Job.Kind.RUN and runs_to_settle().exists())
    )


def work_on_in_thread(kind: Job.Kind) -> None:
    """Call `work_on` in a thread. Errors are logged and not raised."""
    try:
        work_on(kind)
    except Exception:
        # A failing thread must not end the worker, so catch all errors.
        logger.exception("The work on %s broke off", kind.label)
    finally:
        connection.close()


def _judge_runs() -> None:
    """Work on each run in turn.

    If the judge of a run is unavailable, the run pauses, longer each time, and then continues with one document set.
    """
    pauses: dict[int, float] = {}
    rests_until: dict[int, float] = {}
    while not stopping.is_set():
        for ended in runs_to_settle():
            settle(ended)
        resting = [run for run, until in rests_until.items() if until > time.monotonic()]
        run = run_to_work_on(besides=resting)
        if run is None:
            if not resting or not jobs.due(Job.Kind.RUN).exists():
                return
            stopping.wait(LOOK_SECONDS)
            continue
        pause = pauses.pop(run.pk, 0.0)
        if not judge_run(run, most=1 if pause else None, is_stopping=stopping.is_set):
            pauses[run.pk] = min(2 * pause or FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS)
            rests_until[run.pk] = time.monotonic() + pauses[run.pk]
        _ask_for_leaderboard(run)


def _ask_for_leaderboard(run: Run) -> None:
    """Ask a worker to compute the leaderboard after a finished run that is no trial."""
    # The imports would slow a command down that works on a run.
    ended = Run.objects.filter(pk=run.pk, state=Run.State.FINISHED, is_trial=False)
    if is_worker_alive() and ended.exists():
        from annotation.analysis.leaderboard.leaderboard import RANKED  # noqa: PLC0415
        from annotation.analysis.make_analysis import ask_worker  # noqa: PLC0415

        ask_worker(project=run.project, kind=Analysis.Kind.LEADERBOARD, key=RANKED)


def _one_by_one(kind: Job.Kind, act: Callable[[jobs.Claimed, jobs.Lease], None]) -> None:
    """Work on due jobs: first those with the smallest `total`, among these the oldest."""
    while not stopping.is_set() and (smallest := jobs.due(kind).order_by("total", "pk").first()):
        # If another worker has taken the job, the list is empty.
        for claimed in jobs.take(jobs.due(kind).filter(pk=smallest.pk)):
            jobs.carry_out(claimed, act)


# The modules of a kind are imported on first use.


def _bring_in() -> None:
    from annotation.imports import work  # noqa: PLC0415

    rescore_overdue()
    work.drop_stale_uploads()
    _one_by_one(Job.Kind.IMPORT, work.perform)


def _export() -> None:
    from annotation.exports.services import perform  # noqa: PLC0415

    _one_by_one(Job.Kind.EXPORT, perform)


def _analyse() -> None:
    from annotation.analysis.make_analysis import perform  # noqa: PLC0415

    _one_by_one(Job.Kind.ANALYSIS, perform)


def _watch() -> None:
    from annotation.watches.work import perform  # noqa: PLC0415

    _one_by_one(Job.Kind.WATCH, perform)


_WORK: Mapping[Job.Kind, Callable[[], None]] = {
    Job.Kind.RUN: _judge_runs,
    Job.Kind.EXPORT: _export,
    Job.Kind.IMPORT: _bring_in,
    Job.Kind.ANALYSIS: _analyse,
    Job.Kind.WATCH: _watch,
}
