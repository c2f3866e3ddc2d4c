"""A migration of one kind over a million checks: a process that the benchmark starts on the database of its world.

Told the kind, it has `manage.py migrate` apply one migration of it; told nothing, it takes that back.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.core.management import call_command
from django.db import connection, models
from django.db.migrations import AddConstraint, AddField, AddIndex, Migration, RunPython
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation

NAME = "9999_measured"
SAFE = (
    "a column that may be empty",
    "a column with db_default",
    "a column with a check",
    "an empty foreign key",
    "AddIndexWhileServing",
    "AddConstraintWhileServing",
    "FillInBatches",
)
REFUSED = ("AddIndex", "AddConstraint", "RunPython over all rows")


def migration(kind: str, leaf: str) -> type[Migration]:
    """What stands in the file of the measured migration."""
    from annotation.migrations._while_serving import (
        AddConstraintWhileServing,
        AddIndexWhileServing,
        FillInBatches,
    )

    def fill(rows: Any) -> None:
        rows.update(effect=models.F("effect"))

    def fill_all(apps: Any, _editor: Any) -> None:
        fill(apps.get_model("annotation", "check").objects.all())

    def column(field: models.Field[Any, Any]) -> Operation:
        return AddField("check", "measured", field)

    judge = models.ForeignKey("annotation.judge", models.CASCADE, null=True, db_index=False, related_name="+")
    index = models.Index(fields=["final_label", "queue_key"], name="measured_index")
    constraint = models.CheckConstraint(condition=models.Q(doubt__lte=1), name="measured_constraint")
    kinds: dict[str, Operation] = {
        "a column that may be empty": column(models.TextField(null=True)),
        "a column with db_default": column(models.BooleanField(default=False, db_default=False)),
        "a column with a check": column(models.PositiveIntegerField(null=True)),
        "an empty foreign key": column(judge),
        "AddIndexWhileServing": AddIndexWhileServing("check", index),
        "AddConstraintWhileServing": AddConstraintWhileServing("check", constraint),
        "FillInBatches": FillInBatches("check", fill),
        "AddIndex": AddIndex("check", index),
        "AddConstraint": AddConstraint("check", constraint),
        "RunPython over all rows": RunPython(fill_all, RunPython.noop),
    }  # fmt: skip
    parts = {
        "dependencies": [("annotation", leaf)],
        "operations": [kinds[kind]],
        "atomic": kind not in SAFE[-3:],
    }
    return type("Migration", (Migration,), parts)


def main(kind: str) -> None:
    django.setup()
    ((app, leaf),) = MigrationLoader(connection).graph.leaf_nodes("annotation")
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "measured_migrations"
        package.mkdir()
        (package / "__init__.py").write_text(
            "from annotation import migrations\n\n__path__ += migrations.__path__\n"
        )
        made = (
            f"from tests.bench._upgrade_world import migration\n\nMigration = migration({kind!r}, {leaf!r})\n"
        )
        (package / f"{NAME}.py").write_text(made)
        sys.path.append(folder)
        settings.MIGRATION_MODULES = {app: package.name}
        call_command("migrate", app, NAME if os.environ["UPGRADE"] == "forward" else leaf, verbosity=0)


if __name__ == "__main__":
    main(sys.argv[1])
