"""Maintaining `Check.is_current`.

`is_current` is True while the check's claim is not removed and its claim set is active.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q
from django.utils import timezone

from annotation.models import Check, Claim

if TYPE_CHECKING:
    from collections.abc import Collection

    from django.db.models import QuerySet

CHECKED_AT_PRESENT = Q(claim__removed_at__isnull=True, claim__claim_set__is_active=True)


def not_as_their_claims(checks: QuerySet[Check]) -> QuerySet[Check]:
    """Select checks whose `is_current` does not agree with the state of their claim."""
    return checks.filter(
        (~CHECKED_AT_PRESENT & Q(is_current=True)) | (CHECKED_AT_PRESENT & Q(is_current=False))
    )


def put_in_force(checks: QuerySet[Check]) -> None:
    """Set `is_current` of these checks from their claims, and end the leases of checks that are no longer current.

    The caller must be in a transaction.
    """
    wrong = not_as_their_claims(checks).order_by()
    wrong.filter(is_current=True).update(is_current=False, leased_to=None, lease_until=None)
    wrong.filter(CHECKED_AT_PRESENT, is_current=False).update(is_current=True)


def take_out(claims: Collection[int]) -> int:
    """Remove claims, or retire questions, by their keys, and return the number of those that were current.

    Rows and answers are kept. The caller must be in a transaction.
    """
    removed = Claim.objects.filter(pk__in=claims).update(removed_at=timezone.now())
    put_in_force(Check.objects.filter(claim__in=claims))
    return removed
