"""The exports of a project as people see them: what was asked for, and how far it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Prefetch, QuerySet

from annotation.core.jobs import OPEN
from annotation.core.lists import Choices, Column, Filter, Kind, List
from annotation.core.permissions import Verb
from annotation.core.tables.formats import FORMAT_NAMES
from annotation.exports.levels import LEVEL_NAMES
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


def _error(export: Export) -> str:
    job = job_of(export)
    return job.error if job else ""


LEVELS = Choices("ExportLevel", [(name, name) for name in LEVEL_NAMES])
FORMATS = Choices("ExportFormat", [(name, name) for name in FORMAT_NAMES])

EXPORTS = List(
    name="exports",
    verbs=(Verb.EXPORT,),
    rows=lambda viewer: exports_of(viewer.project),
    order=("-pk",),
    title="Past exports",
    polls=lambda rows: 2 if any(state_of(export) in OPEN for export in rows) else 0,
    filters=(
        Filter("level", choices=LEVELS, title="Content"),
        Filter("format", choices=FORMATS, title="Format"),
    ),
    columns=(
        Column("created_at", kind=Kind.MOMENT, head="Requested", order="pk"),
        Column("id", "public_id"),
        Column("level", choices=LEVELS, head="Content", order=True),
        Column("format", choices=FORMATS, head="Format", order=True),
        Column("named_people", kind=Kind.FLAG, help="Whether it contains people's names; owners only."),
        Column("requested_by", "requested_by.username", nullable=True, head="By", missing="the operator"),
        Column(
            "state",
            state_of,
            choices=Choices("JobState", Job.State.choices),
            head="State",
            cell="exports/_state.html",
            help="State of the job that writes it.",
        ),
        Column("rows_written", rows_of, kind=Kind.COUNT, head="Rows"),
        Column("error", _error, help="Reason for failure; empty otherwise."),
        Column("finished_at", kind=Kind.MOMENT, nullable=True, head="File", cell="exports/_file.html"),
    ),
)
