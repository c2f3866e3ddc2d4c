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
            row = rows.model.objects.filter(pk=key)
            if key is not None and row.update(leased_to=by, lease_until=Now() + LEASE + SPARE):
                _keep_newest(row, by, most)
                return key
    return None


def renew(row: Check | Dispute, *, by: User, most: int = 1) -> None:
    """Extend the lease of a row, or take the lease if nobody holds the row; leave the lease of another person.

    `most` has the same meaning as in `take`.
    """
    this = type(row).objects.filter(pk=row.pk)
    is_fresh = Q(leased_to=by, lease_until__gte=Now() + LEASE)
    if this.filter(is_free(by)).exclude(is_fresh).update(leased_to=by, lease_until=Now() + LEASE + SPARE):
        with transaction.atomic():
            _keep_newest(this, by, most)


def give_back(rows: QuerySet[Any], *, by: User) -> None:
    """End the leases of these rows that `by` holds."""
    rows.filter(leased_to=by).update(leased_to=None, lease_until=None)


def _keep_newest(taken: QuerySet[Any], by: User, most: int) -> None:
    rows = taken.model.objects
    held = rows.filter(project__in=taken.values("project"), leased_to=by).order_by("-lease_until", "-pk")
    give_back(rows.filter(pk__in=unlocked(rows.filter(pk__in=held.values("pk")[most:])).values("pk")), by=by)
