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


def rows_of(export: Export) -> int:
    """Rows written so far."""
    if export.finished_at is not None:
        return int(export.manifest["rows"])
    job = job_of(export)
    return job.done if job else 0


def state_of(export: Export) -> str:
    """The state of the job; done where the row says so, failed where nothing is left that could write it."""
    if export.finished_at is not None:
        return Job.State.DONE
    job = job_of(export)
    return job.state if job else Job.State.FAILED
