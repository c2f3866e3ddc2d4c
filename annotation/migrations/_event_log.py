"""Triggers that keep the event log append-only.

When a project is removed, PostgreSQL lets its entries be deleted; when a person is erased, it lets entries be
rewritten. The statements set `coverdict.removed_project` and `coverdict.erased_person` for their transaction. SQLite
does not refuse deletions, because Django empties tables there by DELETE.

To alter a column, SQLite rebuilds the table, which drops its triggers. So a migration that alters a column of events
must call `guard` again.
"""

from typing import Any

WORDS = "The log is append-only: an event is never changed and never deleted."

ON_POSTGRESQL = (
    f"""
    CREATE FUNCTION annotation_event_stays() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP = 'DELETE' AND current_setting('coverdict.removed_project', true) = OLD.project_id::text THEN
            RETURN OLD;
        END IF;
        IF TG_OP = 'UPDATE' AND current_setting('coverdict.erased_person', true) = 'yes' THEN
            RETURN NEW;
        END IF;
        RAISE EXCEPTION '{WORDS}' USING ERRCODE = 'restrict_violation';
    END
    $$
    """,
    """
    CREATE TRIGGER annotation_event_stays BEFORE UPDATE OR DELETE ON annotation_event
    FOR EACH ROW EXECUTE FUNCTION annotation_event_stays()
    """,
)
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
