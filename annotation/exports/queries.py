"""A project's exports, and the list that shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from annotation.core.jobs import OPEN
from annotation.core.lists import Choices, Column, Filter, Kind, List
from annotation.core.permissions import Verb
from annotation.core.tables.formats import FORMAT_NAMES
from annotation.exports.levels import LEVEL_NAMES
from annotation.models import Job

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.models import Export, Project


def exports_of(project: Project) -> QuerySet[Export]:
    """Return the exports of a project with their jobs, newest first."""
    return project.exports.select_related("project", "requested_by", "job").order_by("-pk")


LEVELS = Choices("ExportLevel", [(name, name) for name in LEVEL_NAMES])
FORMATS = Choices("ExportFormat", [(name, name) for name in FORMAT_NAMES])
STATES = Choices("JobState", Job.State.choices)

EXPORTS = List(
    name="exports",
    verbs=(Verb.EXPORT,),
    rows=lambda viewer: exports_of(viewer.project),
    order=("-pk",),
    title="Past exports",
    polls=lambda rows: 2 if any(export.job.state in OPEN for export in rows) else 0,
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
        Column("state", "job.state", choices=STATES, head="State", cell="exports/_state.html"),
        Column("rows_written", "job.done", kind=Kind.COUNT, head="Rows"),
        Column("error", "job.error", help="Reason for failure; empty otherwise."),
        Column(
            "finished_at",
            "job.finished_at",
            kind=Kind.MOMENT,
            nullable=True,
            head="File",
            cell="exports/_file.html",
        ),
    ),
)
