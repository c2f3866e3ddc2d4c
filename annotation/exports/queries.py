"""The exports of a project as people see them: what was asked for, and how far it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.models import Export, Project


def exports_of(project: Project) -> QuerySet[Export]:
    """Newest first, each with its job."""
    return project.exports.select_related("project", "requested_by", "job").order_by("-pk")
