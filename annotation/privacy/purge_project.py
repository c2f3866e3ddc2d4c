"""Remove a deleted project for good: rows, calls, files. Nothing that belonged to it alone is left."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from django.db.models import Q

from annotation.core.project_rows import in_steps, remove_in_steps
from annotation.core.shared.clock import shared_now
from annotation.imports.work import forget_files_of
from annotation.models import JudgeCall, Project
from annotation.projects.services.close_project import RESTORABLE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.db.models import QuerySet

logger = logging.getLogger(__name__)


def overdue() -> QuerySet[Project]:
    """The deleted projects that can be restored no more."""
    return Project.all_projects.filter(deleted_at__lte=shared_now() - RESTORABLE).order_by("pk")


def purge(project: Project) -> Mapping[str, int]:
    """Remove an overdue project with all that is its own; how many rows went, by table. Cut short, it is called again.

    In transactions of a tenth of a second or so. Shared judges stay; calls that its runs paid for go, also where
    another project was answered from them: it would pay again. Empty, and nothing is done, where the project was
    restored in the meantime.
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
