"""The database's clock: the one that all processes have in common, whatever the clocks of their hosts say."""

from __future__ import annotations

import time
from datetime import datetime

from django.db import connection
from django.utils import timezone


def shared_now() -> datetime:
    """What leases are given, renewed and compared by. SQLite, which is on one machine, has that machine's clock."""
    if connection.vendor == "sqlite":
        return timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        moment: datetime = cursor.fetchone()[0]
    return moment


class LeapWatch:
    """Whether the shared clock has leapt ahead, seen from a process that looks at it now and then."""

    def __init__(self) -> None:
        self._last: tuple[datetime, float] | None = None
        self._until = 0.0

    def has_leapt(self, now: datetime, *, by: float) -> bool:
        """Whether it leapt by more than so many seconds, at this look or less than so many seconds ago."""
        here = time.monotonic()
        if self._last is not None:
            moment, then = self._last
            if (now - moment).total_seconds() - (here - then) > by:
                self._until = here + by
        self._last = now, here
        return here < self._until
