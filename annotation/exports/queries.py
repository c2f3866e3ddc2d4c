"""The exports of a project as people see them: what was asked for, and how far it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Prefetch, QuerySet

from annotation.models import Job

if TYPE_CHECKING:
    from annotation.models import Export, Project


def exports_of(project: Project) -> QuerySet[Export]:
    """Newest first, each with its job."""
    jobs = Prefetch("jobs", Job.objects.order_by("pk"))
    return project.exports.select_related("project", "requested_by").prefetch_related(jobs).order_by("-pk")


def job_of(export: Export) -> Job | None:
    """The job that writes it."""
    return next(iter(export.jobs.all()), None)


def rows_of(export: Export) -> tuple[int, int | None]:
    """Rows written, and how many there will be: about, before it is done; None where nothing can be said of it."""
    if export.finished_at is not None:
        rows: int = export.manifest["rows"]
        return rows, rows
    job = job_of(export)
    return (job.done, job.total or None) if job else (0, None)


def state_of(export: Export) -> str:
    """The state of the job; done where the row says so, failed where nothing is left that could write it."""
    if export.finished_at is not None:
        return Job.State.DONE
    job = job_of(export)
    return job.state if job else Job.State.FAILED
