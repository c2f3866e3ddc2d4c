"""PostgreSQL lets entries of the log be changed where somebody's personal data are erased (`core/events.rewritten`)."""

from importlib import import_module
from typing import Any

from django.db import migrations

REMOVED = import_module("annotation.migrations.0023_cancelled_samples")
UNLESS = """
        IF TG_OP = 'UPDATE' AND current_setting('coverdict.erased_person', true) = 'yes' THEN
            RETURN NEW;
        END IF;
"""


def let_rewrite(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(REMOVED.LET_GO.format(unless=REMOVED.UNLESS + UNLESS, words=REMOVED.WORDS))


def keep_words(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(REMOVED.LET_GO.format(unless=REMOVED.UNLESS, words=REMOVED.WORDS))


class Migration(migrations.Migration):
    dependencies = [("annotation", "0067_keep_and_close")]

    operations = [migrations.RunPython(let_rewrite, keep_words)]
