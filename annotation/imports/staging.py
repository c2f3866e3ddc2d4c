"""Where the rows of a large import stand until all of them are there.

PostgreSQL hides them in one transaction, for which nobody waits: it touches rows of its own until its very end. SQLite
has one writer at a time, so there they are written in short transactions into a hidden project of their own, and moved.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from annotation.core.refusals import Conflict
from annotation.models import Check, DocumentSet, Project, Score, System
from annotation.models.base import new_public_id

if TYPE_CHECKING:
    from django.db.models import QuerySet

ABANDONED_AFTER = timedelta(seconds=60)
SETS_DROPPED_AT_ONCE = 10
CHANGED = "The project was removed or its rules changed during the import. Import again."


def is_needed() -> bool:
    """Whether what one connection writes keeps all others from writing."""
    return connection.vendor == "sqlite"


@contextmanager
def hidden(project: Project) -> Iterator[Project]:
    """The project that an import may write to by and by: what is in it is seen once `show` is committed, or never."""
    if not is_needed():
        with transaction.atomic():
            yield project
        return
    drop_abandoned()
    staged = Project.all_projects.create(
        slug=f"import-{new_public_id()}", name=project.name, staged_until=timezone.now() + ABANDONED_AFTER
    )
    try:
        yield staged
    finally:
        drop(staged)


def keep(staged: Project) -> None:
    """Say, inside a write, that the import goes on. Raises Conflict (code `busy`) where it was given up."""
    if staged.staged_until is None:
        return
    now = timezone.now()
    alive = Project.all_projects.filter(pk=staged.pk, staged_until__gte=now)
    if not alive.update(staged_until=now + ABANDONED_AFTER):
        raise Conflict("The import stalled and was cancelled. Import again.", code="busy")


def settle() -> None:
    """Have PostgreSQL check now what the written rows point to: at the commit others wait for it, seconds long.

    Raises Conflict (code `busy`).
    """
    if is_needed():
        return
    try:
        connection.check_constraints()
    except IntegrityError as error:
        raise Conflict(CHANGED, code="busy") from error


def show(staged: Project, project: Project) -> None:
    """Move everything into the project, inside the caller's transaction."""
    if staged.staged_until is None:
        return
    keep(staged)
    try:
        for kind in (System, DocumentSet, Check, Score):
            kind._default_manager.filter(project=staged).update(project=project)
    except IntegrityError as error:
        raise Conflict(
            "Someone else imported the same sets or systems at the same time. Import again.", code="busy"
        ) from error


def is_abandoned() -> bool:
    """Whether rows of an import are left that a crash cut short."""
    return _abandoned().exists()


def drop_abandoned() -> None:
    """Take away what imports left that a crash cut short."""
    for staged in _abandoned():
        drop(staged)


def _abandoned() -> QuerySet[Project]:
    return Project.all_projects.filter(staged_until__lt=timezone.now())


def drop(staged: Project) -> None:
    """Take a hidden project away with all that is in it, a few sets at a time; twice does no harm."""
    sets = DocumentSet.objects.filter(project=staged).order_by("pk").values_list("pk", flat=True)
    while keys := list(sets[:SETS_DROPPED_AT_ONCE]):
        DocumentSet.objects.filter(pk__in=keys).delete()
    Project.all_projects.filter(pk=staged.pk, staged_until__isnull=False).delete()
