"""Archiving, reopening, deleting and restoring a project."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict, Invalid
from annotation.core.shared.clock import shared_now
from annotation.models import Project, Run

if TYPE_CHECKING:
    from django.contrib.auth.models import User

RESTORABLE = timedelta(days=30)


@transaction.atomic
def archive_project(*, project: Project, by: User | None) -> Project:
    """Archive a project. A second call changes nothing. Raises Conflict (code `busy`) during a run."""
    return _mark(project, by, verb="archive project", archived_at=timezone.now())


@transaction.atomic
def unarchive_project(*, project: Project, by: User | None) -> Project:
    """Reopen an archived project. A second call changes nothing."""
    return _mark(project, by, verb="open project again", archived_at=None)


@transaction.atomic
def delete_project(*, project: Project, name: str, by: User | None) -> Project:
    """Delete a project, which can be restored for 30 days.

    Raises Invalid if `name` is not the project's name, and Conflict (code `busy`) during a run.
    """
    require(by, project, Verb.CLOSE_PROJECT)
    if name.strip() != project.name:
        raise Invalid(f"Type the project's name, {project.name}, to delete it.", field="name")
    return _mark(project, by, verb="delete project", deleted_at=shared_now())


@transaction.atomic
def restore_project(*, project: Project, by: User | None) -> Project:
    """Restore a project within 30 days of its deletion. A second call changes nothing.

    Raises Conflict (code `too_late`) after these 30 days.
    """
    if project.deleted_at is not None and removed_at(project.deleted_at) <= shared_now():
        raise Conflict(f"{project.name} is being removed: its 30 days are over.", code="too_late")
    return _mark(project, by, verb="restore project", deleted_at=None)


def removed_at(deleted_at: datetime) -> datetime:
    """Return the time until which a deleted project can be restored."""
    return deleted_at + RESTORABLE


def _mark(project: Project, by: User | None, *, verb: str, **moment: datetime | None) -> Project:
    require(by, project, Verb.CLOSE_PROJECT)
    held = Project.all_projects.select_for_update(of=("self",)).get(pk=project.pk)
    ((name, at),) = moment.items()
    if (getattr(held, name) is None) == (at is None):
        return held
    if at is not None and Run.objects.filter(project=held, state=Run.State.ACTIVE).exists():
        raise Conflict(
            "A run is in progress. Cancel it or wait until it finishes, then try again.", code="busy"
        )
    setattr(held, name, at)
    held.save(update_fields=[name])
    log(project=held, actor=by, verb=verb, target=held)
    return held
