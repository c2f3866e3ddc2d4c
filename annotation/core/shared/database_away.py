"""What doors answer while the database is away; apart from refusals, which the gate raises without Django."""

from __future__ import annotations

from django.db import InterfaceError, OperationalError

from annotation.core.refusals import NotReady

AWAY_SECONDS = 5.0
"""After which to ask again where the database is away."""


def away(error: BaseException | None) -> NotReady | None:
    """What doors say where the database is away, busy or out of room; None for other errors.

    Whether a transaction that was just being committed has been written is not known.
    """
    if not isinstance(error, OperationalError | InterfaceError):
        return None
    return NotReady(
        "The database is not responding. Try again in a few seconds. Your input is still in your browser.",
        seconds=AWAY_SECONDS,
        code="database_away",
    )
