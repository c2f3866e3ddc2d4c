"""A row of a queue that a person has in hand: nobody else is handed it until the lease has run out.

Anyone who has a row's address may open it all the same. Leases go by the database's clock.
"""

from __future__ import annotations

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
"""A lease is written so much longer than is promised: anyone who goes on within it has nothing written again."""

Row = TypeVar("Row", bound=Model)


def is_over() -> Q:
    """The lease has run out."""
    return Q(lease_until__lte=Now())


def is_free(by: User) -> Q:
    """Nobody else has it."""
    return Q(lease_until=None) | Q(leased_to=by) | is_over()


def unlocked(rows: QuerySet[Row]) -> QuerySet[Row]:
    """These rows, locked as they are read, without those that somebody else is just writing to; SQLite lets one writer
    in at a time.
    """
    can_skip = connection.features.has_select_for_update_skip_locked
    return rows.select_for_update(of=("self",), no_key=True, skip_locked=can_skip)


def take(rows: QuerySet[Any], *, by: User, most: int = 1) -> int | None:
    """The key of the first free row of a queue, leased to `by`; None where none is left.

    Of what they have in hand in its project the newest `most` stay theirs.
    """
    with transaction.atomic():
        key: int | None = unlocked(rows.filter(is_free(by))).values_list("pk", flat=True).first()
        row = rows.model.objects.filter(pk=key)
        if key is None or not row.update(leased_to=by, lease_until=Now() + LEASE + SPARE):
            return None
        _keep_newest(row, by, most)
    return key


def renew(row: Check | Dispute, *, by: User, most: int = 1) -> None:
    """Go on holding a row, or take it up where nobody else has it; otherwise as `take`."""
    this = type(row).objects.filter(pk=row.pk)
    is_fresh = Q(leased_to=by, lease_until__gte=Now() + LEASE)
    with transaction.atomic():
        if this.filter(is_free(by)).exclude(is_fresh).update(leased_to=by, lease_until=Now() + LEASE + SPARE):
            _keep_newest(this, by, most)


def give_back(rows: QuerySet[Any], *, by: User) -> None:
    """Those of these rows that `by` has in hand are anybody's."""
    rows.filter(leased_to=by).update(leased_to=None, lease_until=None)


def _keep_newest(taken: QuerySet[Any], by: User, most: int) -> None:
    rows = taken.model.objects
    held = rows.filter(project__in=taken.values("project"), leased_to=by).order_by("-lease_until", "-pk")
    give_back(rows.filter(pk__in=unlocked(rows.filter(pk__in=held.values("pk")[most:])).values("pk")), by=by)
