"""The one way into the log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from annotation.core.outbox import put_out
from annotation.models import Event

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import Project
    from annotation.models.base import PublicRow


def log(
    *,
    project: Project,
    actor: User | None,
    verb: str,
    target: PublicRow,
    data: Mapping[str, object] | None = None,
) -> Event:
    """Write one act to the project's log, inside the transaction of the act; webhooks are told of some kinds.

    `actor` is None where the program acted by itself. `data` is JSON: old and new values, and
    why; never a secret.
    """
    event = Event.objects.create(
        project=project,
        actor=actor,
        verb=verb,
        target_kind=str(target._meta.verbose_name),
        target_id=target.public_id,
        data=dict(data or {}),
    )
    put_out(event, target)
    return event
