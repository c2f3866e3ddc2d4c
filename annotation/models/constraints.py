"""Constraints that several tables use."""

from __future__ import annotations

from django.db.models import CheckConstraint, Q


def bounded(name: str, column: str, most: int = 1, *, may_be_empty: bool = False) -> CheckConstraint:
    """Build a constraint: the column is between 0 and `most`, inclusive. With `may_be_empty`, it may also be null."""
    rule = Q(**{f"{column}__gte": 0, f"{column}__lte": most})
    return CheckConstraint(
        name=name, condition=Q(**{f"{column}__isnull": True}) | rule if may_be_empty else rule
    )


def either(name: str, one: str, other: str) -> CheckConstraint:
    """Build a constraint: one of the two columns is filled, and the other is empty."""
    return CheckConstraint(
        name=name,
        condition=Q(**{f"{one}__isnull": False, f"{other}__isnull": True})
        | Q(**{f"{one}__isnull": True, f"{other}__isnull": False}),
    )


def together(name: str, one: str, other: str) -> CheckConstraint:
    """Build a constraint: both columns are filled, or both are empty."""
    return CheckConstraint(
        name=name,
        condition=Q(**{f"{one}__isnull": True, f"{other}__isnull": True})
        | Q(**{f"{one}__isnull": False, f"{other}__isnull": False}),
    )


def has_text(name: str) -> CheckConstraint:
    """Build a constraint: the column `text` is not empty."""
    return CheckConstraint(name=name, condition=~Q(text=""))
