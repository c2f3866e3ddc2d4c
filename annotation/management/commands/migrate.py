"""Django's `migrate`, which also refuses a database of an earlier version."""

from typing import Any

from django.core.management.commands.migrate import Command as DjangosCommand
from django.db import connections

from annotation.management.earlier_database import refuse_earlier_database


class Command(DjangosCommand):
    def handle(self, *args: Any, **options: Any) -> str | None:
        refuse_earlier_database(connections[options["database"]])
        return super().handle(*args, **options)
