"""Write to the log of a project."""

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
    """Allow log entries to be changed in the caller's transaction, for erasing personal data."""
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
    """Write one act to the project's log, in the transaction of the act.

    `actor` is None for acts of the program. `data` is JSON with old and new values and reasons; never a secret.
    """
    return Event.objects.create(
        project=project,
        actor=actor,
        verb=verb,
        target_kind=str(target._meta.verbose_name),
        target_id=target.public_id,
        data=dict(data or {}),
    )
