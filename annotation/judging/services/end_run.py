"""End runs: after the last job, or when they cannot continue."""

from __future__ import annotations

from django.db import transaction

from annotation.core import jobs
from annotation.core.events import log
from annotation.core.shared.clock import shared_now
from annotation.judging.queries.runs import is_useless, most_common_reason
from annotation.models import Job, Run


def locked_run(run: Run) -> Run:
    """Lock the run's row until the caller's transaction ends. Lock it before the rows of its jobs."""
    # no_key lets other transactions write verdicts that refer to the run.
    held = Run.objects.select_for_update(of=("self",), no_key=True)
    return held.select_related("project", "judge").get(pk=run.pk)


@transaction.atomic
def settle(run: Run) -> None:
    """End the run if it has no open jobs. It failed if every job failed or no answer was usable."""
    run = locked_run(run)
    of_run = Job.objects.filter(run=run)
    if run.state != Run.State.ACTIVE or of_run.filter(state__in=jobs.OPEN).exists():
        return
    failed, total = of_run.filter(state=Job.State.FAILED).count(), of_run.count()
    useless = is_useless(run)
    told = [f"{failed} of {total} document sets failed."] if failed else []
    told += [f"No answer was usable.{most_common_reason(run)}"] if useless else []
    is_failed = useless or failed == total
    end(run, Run.State.FAILED if is_failed else Run.State.FINISHED, reason=" ".join(told))
    log(project=run.project, actor=None, verb="finish run", target=run, data={"failed": failed})


@transaction.atomic
def stop_run(
    run: Run, *, reason: str, met_by: jobs.Claimed | None = None, state: Job.State = Job.State.FAILED
) -> None:
    """Stop the whole run.

    The job `met_by` had the failure and ends in `state`. If this worker no longer owns the job, nothing happens.
    """
    run = locked_run(run)
    jobs.locked(Job.objects.filter(run=run, state__in=jobs.OPEN))
    error = reason if state == Job.State.FAILED else ""
    if met_by is not None and not jobs.finish(met_by, state=state, error=error):
        return
    if run.state == Run.State.ACTIVE:
        end(run, Run.State.STOPPED, reason=reason)
        log(project=run.project, actor=None, verb="stop run", target=run, data={"reason": run.stop_reason})


def end(run: Run, state: Run.State, *, reason: str) -> int:
    """End a run that the caller has locked, cancel its open jobs, and return their number."""
    run.state, run.stop_reason, run.finished_at = state, reason[:500], shared_now()
    run.save(update_fields=["state", "stop_reason", "finished_at"])
    return jobs.cancel(Job.objects.filter(run=run))
