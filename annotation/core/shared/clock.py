"""The clock that processes share."""

from __future__ import annotations

import time
from datetime import datetime

from django.db import connection
from django.utils import timezone


def shared_now() -> datetime:
    """Read the time with which leases are set and compared. With SQLite it is the clock of the machine."""
    if connection.vendor == "sqlite":
        return timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        moment: datetime = cursor.fetchone()[0]
    return moment


class LeapWatch:
    """Detects leaps of the shared clock in a process that reads it repeatedly."""

    def __init__(self) -> None:
        self._last: tuple[datetime, float] | None = None
        self._until = 0.0

    def has_leapt(self, now: datetime, *, by: float) -> bool:
        """Return True if the clock leapt ahead by more than `by` seconds, now or less than `by` seconds ago."""
        here = time.monotonic()
        if self._last is not None:
            moment, then = self._last
            if (now - moment).total_seconds() - (here - then) > by:
                self._until = here + by
        self._last = now, here
        return here < self._until
