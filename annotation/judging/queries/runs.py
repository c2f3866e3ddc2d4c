"""How far runs are, what failed in them, and whether anybody is there to work."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, Q, QuerySet, Sum

from annotation.core.jobs import workers_alive
from annotation.models import Job, JudgeCall, Project, Run, Verdict
from evaluation.judging import Usage

FAILURES_SHOWN = 50
REASONS_SHOWN = 3


class Failure(NamedTuple):
    """A job that failed, or that is to be tried again after a failure."""

    document_set: str
    error: str
    attempt: int


@dataclass(frozen=True, slots=True)
class RunProgress:
    """Where a run stands. Jobs count document sets; summaries are peer summaries.

    `unscored` counts the checks that got no usable answer. `failures` are the first of the jobs
    with an error, in the order of the document sets; `unscored_reasons` why answers were not usable, the
    commonest first, with how often. `calls` and tokens are what the run paid for, at the `cost` that it
    came to; what was known already costs nothing.
    """

    total_jobs: int
    waiting: int
    working: int
    done: int
    failed: int
    cancelled: int
    summaries_total: int
    summaries_done: int
    unscored: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float
    failures: list[Failure]
    unscored_reasons: list[tuple[str, int]]

    @property
    def is_over(self) -> bool:
        """Whether nothing waits or is being worked on."""
        return self.waiting + self.working == 0

    @property
    def share_done(self) -> float:
        """Share of the peer summaries that are judged, in [0, 1]; 1 where there is none."""
        return self.summaries_done / self.summaries_total if self.summaries_total else 1.0


def run_progress(run: Run) -> RunProgress:
    """Where the run stands at this moment, from its jobs."""

    def jobs_in(state: Job.State) -> Count:
        return Count("pk", filter=Q(state=state))

    counts = Job.objects.filter(run=run).aggregate(
        total_jobs=Count("pk"),
        waiting_jobs=jobs_in(Job.State.WAITING),
        working_jobs=jobs_in(Job.State.WORKING),
        done_jobs=jobs_in(Job.State.DONE),
        failed_jobs=jobs_in(Job.State.FAILED),
        cancelled_jobs=jobs_in(Job.State.CANCELLED),
        summaries_total=Sum("total", default=0),
        summaries_done=Sum("done", default=0),
        checks_unscored=Sum("unscored", default=0),
    )
    paid = usage_of(JudgeCall.objects.filter(run=run))
    return RunProgress(
        total_jobs=counts["total_jobs"],
        waiting=counts["waiting_jobs"],
        working=counts["working_jobs"],
        done=counts["done_jobs"],
        failed=counts["failed_jobs"],
        cancelled=counts["cancelled_jobs"],
        summaries_total=counts["summaries_total"],
        summaries_done=counts["summaries_done"],
        unscored=counts["checks_unscored"],
        calls=paid.calls,
        prompt_tokens=paid.prompt_tokens,
        completion_tokens=paid.completion_tokens,
        # A job may have paid since the run's row was read.
        cost=Run.objects.filter(pk=run.pk).values_list("cost", flat=True).get(),
        failures=_failures(run),
        unscored_reasons=_unscored_reasons(run) if counts["checks_unscored"] else [],
    )


def usage_of(calls: QuerySet[JudgeCall]) -> Usage:
    """What some kept calls took together; their cost is kept with the run that paid."""
    sums = calls.aggregate(
        made=Count("pk"),
        prompt=Sum("prompt_tokens", default=0),
        completion=Sum("completion_tokens", default=0),
        took=Sum("seconds", default=0.0),
    )
    return Usage(sums["made"], sums["prompt"], sums["completion"], sums["took"])


def latest_run(project: Project) -> Run | None:
    """The project's newest run."""
    return Run.objects.filter(project=project).select_related("judge", "started_by").order_by("-pk").first()


def is_worker_alive(now: datetime | None = None) -> bool:
    """Whether any worker has reported lately."""
    return workers_alive(now) > 0


def _failures(run: Run) -> list[Failure]:
    rows = (
        Job.objects.filter(run=run)
        .exclude(error="")
        .exclude(state=Job.State.DONE)
        .order_by("document_set__external_id")
        .values_list("document_set__external_id", "error", "attempt")[:FAILURES_SHOWN]
    )
    return [Failure(*row) for row in rows]


def _unscored_reasons(run: Run) -> list[tuple[str, int]]:
    unusable = Verdict.objects.filter(run=run, label__isnull=True).order_by().values_list("reason")
    counted = unusable.annotate(times=Count("pk")).order_by("-times", "reason")
    return list(counted[:REASONS_SHOWN])
