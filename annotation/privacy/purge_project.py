"""Removing a deleted project permanently, with its rows, calls and files."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from django.db.models import Q

from annotation.core.shared.clock import shared_now
from annotation.imports.work import forget_files_of
from annotation.models import JudgeCall, Project
from annotation.privacy.project_rows import in_steps, remove_in_steps
from annotation.projects.services.close_project import RESTORABLE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.db.models import QuerySet

logger = logging.getLogger(__name__)


def overdue() -> QuerySet[Project]:
    """Select the deleted projects that can no longer be restored."""
    return Project.all_projects.filter(deleted_at__lte=shared_now() - RESTORABLE).order_by("pk")


def purge(project: Project) -> Mapping[str, int]:
    """Remove an overdue project. Returns the number of rows by table; empty if the project is not overdue.

    Shared judges remain. Calls that the project's runs paid for are removed even if other projects used them; these
    projects would have to pay again.
    """
    if not overdue().filter(pk=project.pk).exists():
        return {}
    forget_files_of(project)
    calls = JudgeCall.all_calls.filter(Q(run__project=project) | Q(judge__project=project))
    keys = list(calls.order_by("-pk").values_list("pk", flat=True))
    for step in in_steps(keys):
        JudgeCall.all_calls.filter(pk__in=step)._raw_delete(using=calls.db)
    gone = {"annotation_judgecall": len(keys), **remove_in_steps(project)}
    logger.warning("The deleted project %s was removed: %d rows", project.public_id, sum(gone.values()))
    return gone
