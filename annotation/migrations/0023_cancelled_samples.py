"""Random samples can be cancelled, and a sample project's log goes with it where it is removed (`sample/remove`)."""

from typing import Any

from django.db import migrations, models

WORDS = "The log is append-only: an event is never changed and never deleted."
LET_GO = """
    CREATE OR REPLACE FUNCTION annotation_event_stays() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        {unless}
        RAISE EXCEPTION '{words}' USING ERRCODE = 'restrict_violation';
    END
    $$
"""
UNLESS = """
        IF TG_OP = 'DELETE' AND current_setting('coverdict.removed_project', true) = OLD.project_id::text THEN
            RETURN OLD;
        END IF;
"""


def let_go_of_removed(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(LET_GO.format(unless=UNLESS, words=WORDS))


def keep_all(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(LET_GO.format(unless="", words=WORDS))


class Migration(migrations.Migration):
    dependencies = [("annotation", "0022_import_volume")]

    operations = [
        migrations.AddField(
            model_name="draw",
            name="cancelled_at",
            field=models.DateTimeField(
                blank=True,
                help_text="Nobody is asked for its answers since, and no estimate uses them.",
                null=True,
            ),
        ),
        migrations.RunPython(let_go_of_removed, keep_all),
    ]
