"""Writing to a project's event log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from django.db import connection

from annotation.models import Event

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import Project
    from annotation.models.base import PublicRow


@contextmanager
def rewritten() -> Iterator[None]:
    """Allow log entries to be changed inside the with block, so that personal data can be erased. The caller must be
    in a transaction.
    """
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT set_config('coverdict.erased_person', 'yes', true)")
            yield
            cursor.execute("SELECT set_config('coverdict.erased_person', '', true)")
            return
        cursor.execute("SELECT sql FROM sqlite_master WHERE name = 'annotation_event_stays'")
        (guard,) = cursor.fetchone()
        cursor.execute("DROP TRIGGER annotation_event_stays")
        yield
        cursor.execute(guard)


def log(
    *,
    project: Project,
    actor: User | None,
    verb: str,
    target: PublicRow,
    data: Mapping[str, object] | None = None,
) -> Event:
    """Write an event to the project's log. Call it in the transaction of the action that the event describes.

    `actor` is None if the program itself acted. `data` is JSON with old and new values and reasons; it must contain no
    secrets.
    """
    return Event.objects.create(
        project=project,
        actor=actor,
        verb=verb,
        target_kind=str(target._meta.verbose_name),
        target_id=target.public_id,
        data=dict(data or {}),
    )
