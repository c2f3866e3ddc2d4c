"""Exports that a test requests and writes itself."""

from __future__ import annotations

from typing import Any

from annotation.core import jobs
from annotation.exports import services
from annotation.models import Export, Job, Project


def claim_export(export: Export) -> jobs.Claimed:
    [claimed] = jobs.take(Job.objects.filter(export=export))
    return claimed


def perform_claimed(claimed: jobs.Claimed) -> None:
    services.perform(claimed, jobs.Lease(claimed.token))


def perform(export: Export) -> None:
    perform_claimed(claim_export(export))
    export.refresh_from_db()


def export_with_job(project: Project, **columns: Any) -> Export:
    job = Job.objects.create(kind=Job.Kind.EXPORT, project=project)
    Job.objects.filter(pk=job.pk).update(**columns)
    return Export.objects.create(project=project, level="scores", format="csv", job=job)
