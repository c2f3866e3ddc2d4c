"""The database's clock: the one that all processes have in common, whatever the clocks of their hosts say."""

from __future__ import annotations

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
