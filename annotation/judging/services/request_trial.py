"""Trying a judge as work for a worker: nobody's request waits for a server that hangs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import connection, transaction
from django.utils import timezone
from structlog.contextvars import bound_contextvars

from annotation.core import jobs
from annotation.core.jobs import Claimed, Lane
from annotation.core.refusals import Refusal
from annotation.judging.services.judges import require_usable
from annotation.judging.services.save_judge import as_changed
from annotation.judging.services.try_judge import require_may_try, try_judge
from annotation.models import Job, Judge, JudgeTrial, Project

if TYPE_CHECKING:
    from django.contrib.auth.models import User

KEPT = timedelta(days=1)
ASKED_AT_ONCE = 8


@transaction.atomic
def request_trial(
    *,
    judge: Judge | None,
    by: User | None,
    project: Project | None = None,
    profile: Mapping[str, object] | None = None,
    members: Sequence[Judge] | None = None,
) -> JudgeTrial:
    """Have a worker ask a judge the sample claim: the row as it is, or with another profile and other members.

    Without a row the judge is a new one of the project. Raises as `require_may_try`, and Invalid (code
    `unusable_judge`) where no worker could ask it.
    """
    trial = JudgeTrial(
        project=project,
        judge=judge,
        profile=dict(profile or {}),
        members=None if members is None else [member.pk for member in members],
        requested_by=by,
    )
    asked = _judge_of(trial)
    require_may_try(asked, by)
    require_usable(asked, members)
    JudgeTrial.objects.filter(created_at__lt=timezone.now() - KEPT).delete()
    trial.save()
    jobs.enqueue([Job.objects.create(trial=trial)])
    return trial


def perform_due(*, is_stopping: Callable[[], bool]) -> None:
    """Ask what waits, many judges at once, until nothing does."""
    while not is_stopping() and (taken := jobs.take(lane=Lane.TRIALS, most=ASKED_AT_ONCE)):
        perform_trials(taken)


def perform_trials(taken: Sequence[Claimed]) -> None:
    """Ask these judges at once, and write down what each said."""
    with jobs.Lease(taken[0].token):
        first, *others = taken
        with ThreadPoolExecutor(max(1, len(others)), thread_name_prefix="trial") as threads:
            asked = [threads.submit(_perform_in_thread, each) for each in others]
            _perform(first)
        for each in asked:
            each.result()


def _perform_in_thread(claimed: Claimed) -> None:
    try:
        _perform(claimed)
    finally:
        connection.close()


def _perform(claimed: Claimed) -> None:
    trial = claimed.job.trial
    assert trial is not None, "a job of this lane"
    row = JudgeTrial.objects.filter(pk=trial.pk)
    members = (
        None if trial.members is None else list(Judge.objects.filter(pk__in=trial.members).order_by("pk"))
    )
    with bound_contextvars(**jobs.told_of(claimed.job)):
        try:
            said = try_judge(judge=_judge_of(trial), by=trial.requested_by, members=members)
        except Refusal as refusal:
            row.update(fault=refusal.message[:2000])
        except Exception:
            jobs.finish(
                claimed, state=Job.State.FAILED, error="The trial failed. See the log for the reason."
            )
            row.update(fault="The trial failed. See the worker's log for the reason.")
            raise
        else:
            row.update(outcome=asdict(said))
        jobs.finish(claimed, state=Job.State.DONE)


def _judge_of(trial: JudgeTrial) -> Judge:
    judge = trial.judge or Judge(project=trial.project)
    return as_changed(judge, trial.profile)
