"""`manage.py migrate`: Django's, made fit to run while others work."""

import time
from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands.migrate import Command as DjangosCommand
from django.db import OperationalError, connections

LOCK_TIMEOUT = "1s"
"""While a change of a table waits for its lock, everybody who comes later waits behind it."""
PAUSE_SECONDS = 5.0
ATTEMPTS = 120
LOCK_NOT_AVAILABLE = "55P03"


class Command(DjangosCommand):
    """Migrates, and where somebody holds a table (a backup, say) lets them finish and tries again."""

    def handle(self, *args: Any, **options: Any) -> str | None:
        connection = connections[options["database"]]
        if connection.vendor != "postgresql":
            return super().handle(*args, **options)
        for _ in range(ATTEMPTS):
            with connection.cursor() as cursor:
                cursor.execute("SELECT set_config('lock_timeout', %s, false)", [LOCK_TIMEOUT])
            try:
                return super().handle(*args, **options)
            except OperationalError as error:
                if getattr(error.__cause__, "sqlstate", None) != LOCK_NOT_AVAILABLE:
                    raise
                self.stderr.write("\nA table is in use (by a backup?); trying again.")
                time.sleep(PAUSE_SECONDS)
            finally:
                with connection.cursor() as cursor:
                    cursor.execute("RESET lock_timeout")
        raise CommandError(
            "Tables stayed in use. End what holds them, and migrate again: it goes on where it was."
        )
