"""Refusing databases of an earlier version of Coverdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.management.base import CommandError
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper

APP = "annotation"


def refuse_earlier_database(connection: BaseDatabaseWrapper) -> None:
    """Raise CommandError if the database has migrations that this version lacks. The database is not changed."""
    applied = {name for app, name in MigrationRecorder(connection).applied_migrations() if app == APP}
    known = {name for app, name in MigrationLoader(None).disk_migrations if app == APP}
    if applied <= known:
        return
    named = str(connection.settings_dict["NAME"])
    raise CommandError(
        f"The database {named} was made by another version of Coverdict, which this one cannot read. It was not "
        "changed. Export your data with that version and import them into a new database, or start afresh: move "
        "the file away (SQLite), or name an empty database in DATABASE_URL (PostgreSQL)."
    )
