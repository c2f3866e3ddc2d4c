"""Leases of queue rows, by the database's clock.

While a row is leased, the queue gives it to nobody else, but everybody can still open its page.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from django.db import connection, transaction
from django.db.models import Model, Q
from django.db.models.functions import Now

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from annotation.models import Check, Dispute

LEASE = timedelta(minutes=5)
SPARE = timedelta(minutes=1)
"""Extra time on a lease, so that renewals within this time need no write."""

Row = TypeVar("Row", bound=Model)


def is_over() -> Q:
    return Q(lease_until__lte=Now())


def is_free(by: User) -> Q:
    """Build the condition for rows that nobody but `by` holds."""
    return Q(lease_until=None) | Q(leased_to=by) | is_over()


def unlocked(rows: QuerySet[Row]) -> QuerySet[Row]:
    """Lock rows while reading them, and skip rows that another transaction has locked.

    SQLite cannot skip rows, but it has only one writer at a time.
    """
    can_skip = connection.features.has_select_for_update_skip_locked
    return rows.select_for_update(of=("self",), no_key=True, skip_locked=can_skip)


def take(parts: Iterable[QuerySet[Any]], *, by: User, most: int = 1) -> int | None:
    """Lease the first free row of a queue, given in consecutive parts, to `by` and return its key.

    Returns None if no row is free. `by` keeps the newest `most` leases in the project; older leases end.
    """
    with transaction.atomic():
        for rows in parts:
            key: int | None = unlocked(rows.filter(is_free(by))).values_list("pk", flat=True).first()
            if key is not None and _run(_TAKE, rows.model, by, key):
                _run(_END_OLDER, rows.model, by, key, most)
                return key
    return None


def renew(row: Check | Dispute, *, by: User, most: int = 1) -> None:
    """Extend the lease of a row, or take the lease if nobody holds the row; leave the lease of another person.

    `most` has the same meaning as in `take`.
    """
    if _run(_RENEW, type(row), by, row.pk):
        with transaction.atomic():
            _run(_END_OLDER, type(row), by, row.pk, most)


def give_back(rows: QuerySet[Any], *, by: User) -> None:
    """End the leases of these rows that `by` holds."""
    rows.filter(leased_to=by).update(leased_to=None, lease_until=None)


# Written by hand, because every request for the next claim runs these statements; tests/bench/next_claim.py measures
# it.
_TAKE = "UPDATE {table} SET leased_to_id = %(by)s, lease_until = {end} WHERE id = %(key)s"
_RENEW = f"""{_TAKE}
AND (lease_until IS NULL OR lease_until <= {{now}} OR (leased_to_id = %(by)s AND lease_until < {{fresh}}))
"""
# The inner query must not skip locked rows: they count among the newest.
_END_OLDER = """
UPDATE {table} SET leased_to_id = NULL, lease_until = NULL WHERE leased_to_id = %(by)s AND id IN (
    SELECT id FROM {table} WHERE id IN (
        SELECT id FROM {table}
        WHERE leased_to_id = %(by)s AND project_id = (SELECT project_id FROM {table} WHERE id = %(key)s)
        ORDER BY lease_until DESC, id DESC LIMIT 1000 OFFSET %(most)s
    ) {unlocked}
)
"""


def _run(statement: str, kind: type[Model], by: User, key: int, most: int = 1) -> int:
    """Return the number of rows that the statement changed."""
    is_postgres = connection.vendor == "postgresql"
    moment = (
        "STATEMENT_TIMESTAMP() + INTERVAL '{:.0f} seconds'"
        if is_postgres
        else "STRFTIME('%%Y-%%m-%%d %%H:%%M:%%f', 'NOW', '+{:.0f} seconds')"
    )
    names = {
        "table": kind._meta.db_table,
        "now": moment.format(0),
        "fresh": moment.format(LEASE.total_seconds()),
        "end": moment.format((LEASE + SPARE).total_seconds()),
        "unlocked": "FOR NO KEY UPDATE SKIP LOCKED" if is_postgres else "",
    }
    with connection.cursor() as cursor:
        cursor.execute(statement.format_map(names), {"by": by.pk, "key": key, "most": most})
        return int(cursor.rowcount)
