"""The log can be filtered quickly and no longer changed.

The triggers come last: SQLite makes a table anew to alter a column, which drops them. A migration that alters a
column of events has to call `guard` again.
"""

from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

WORDS = "The log is append-only: an event is never changed and never deleted."

ON_POSTGRESQL = (
    f"""
    CREATE FUNCTION annotation_event_stays() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION '{WORDS}' USING ERRCODE = 'restrict_violation';
    END
    $$
    """,
    """
    CREATE TRIGGER annotation_event_stays BEFORE UPDATE OR DELETE ON annotation_event
    FOR EACH ROW EXECUTE FUNCTION annotation_event_stays()
    """,
)
# Django empties the tables of SQLite by DELETE where others truncate them (`flush`), so there the rows' own
# methods alone stand in the way of deleting.
ON_SQLITE = (
    f"""
    CREATE TRIGGER annotation_event_stays BEFORE UPDATE ON annotation_event
    BEGIN
        SELECT RAISE(ABORT, '{WORDS}');
    END
    """,
)
OFF_POSTGRESQL = (
    "DROP TRIGGER annotation_event_stays ON annotation_event",
    "DROP FUNCTION annotation_event_stays()",
)
OFF_SQLITE = ("DROP TRIGGER annotation_event_stays",)


def guard(apps: Any, schema_editor: Any) -> None:
    is_postgresql = schema_editor.connection.vendor == "postgresql"
    for statement in ON_POSTGRESQL if is_postgresql else ON_SQLITE:
        schema_editor.execute(statement)


def release(apps: Any, schema_editor: Any) -> None:
    is_postgresql = schema_editor.connection.vendor == "postgresql"
    for statement in OFF_POSTGRESQL if is_postgresql else OFF_SQLITE:
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0010_review_queues"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name="event",
            name="project",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="events",
                to="annotation.project",
            ),
        ),
        migrations.AlterField(
            model_name="event",
            name="actor",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="events",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AlterField(
            model_name="notice",
            name="kind",
            field=models.CharField(
                choices=[
                    ("mention", "Mentioned"),
                    ("assigned", "Work assigned"),
                    ("reopened", "Work opened again"),
                    ("recalled", "Work taken away"),
                    ("drawn", "Checks drawn"),
                    ("export", "Export ready"),
                ],
                max_length=8,
            ),
        ),
        migrations.AddIndex(
            model_name="event",
            index=models.Index(fields=["project", "-created_at", "-id"], name="event_by_time"),
        ),
        migrations.AddIndex(
            model_name="event",
            index=models.Index(fields=["project", "actor", "-created_at", "-id"], name="event_by_actor"),
        ),
        migrations.AddIndex(
            model_name="event",
            index=models.Index(fields=["project", "verb", "-created_at", "-id"], name="event_by_verb"),
        ),
        migrations.AddIndex(
            model_name="event",
            index=models.Index(fields=["project", "target_kind", "-created_at", "-id"], name="event_by_kind"),
        ),
        migrations.AddIndex(
            model_name="event", index=models.Index(fields=["target_id"], name="event_of_row")
        ),
        migrations.RunPython(guard, release),
    ]
