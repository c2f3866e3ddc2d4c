"""Keep `Check.is_current`: whether a check's claim is checked at present, as it is worded now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from annotation.queries.claims import IN_FORCE, not_as_their_claims

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.models import Check


def put_in_force(checks: QuerySet[Check]) -> None:
    """Let these checks say what their claims say. Nobody is handed one that is no longer in force.

    The caller owns the transaction. Two queries, and rows that are right already are not written.
    """
    wrong = not_as_their_claims(checks).order_by()
    wrong.filter(is_current=True).update(is_current=False, leased_to=None, lease_until=None)
    wrong.filter(IN_FORCE, is_current=False).update(is_current=True)
