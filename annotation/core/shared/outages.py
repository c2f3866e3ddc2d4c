"""Refusals for a database that is away and a disk that is full."""

from __future__ import annotations

import errno

from django.db import InterfaceError, OperationalError

from annotation.core.refusals import NoSpace, NotReady, Refusal

AWAY_SECONDS = 5.0
"""After which to ask again where the database is away."""
FULL = ("disk is full", "No space left")
"""Words of SQLite and of PostgreSQL."""


def outage(error: BaseException | None) -> Refusal | None:
    """The refusal for an error of the machine; None for other errors.

    Whether a transaction that was just being committed has been written is not known.
    """
    is_full = isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}
    is_database = isinstance(error, OperationalError | InterfaceError)
    if is_full or (is_database and any(word in str(error) for word in FULL)):
        return NoSpace("The server's disk is full. Nothing was saved. Ask the operator to free some space.")
    if is_database:
        return NotReady(
            "The database is not responding. Try again in a few seconds. Your input is still in your browser.",
            seconds=AWAY_SECONDS,
            code="database_away",
        )
    return None
