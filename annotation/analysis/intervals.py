"""Rules for showing intervals."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from evaluation.statistics import FEWEST_FOR_INTERVAL, Estimate

Found = TypeVar("Found")

NO_SPREAD = 1e-9
"""An interval up to this width is not shown."""


def has_interval(clusters: float, low: float | None = 0.0, high: float | None = 1.0) -> bool:
    """Return True if a figure from this number of clusters, with these bounds, is shown with an interval."""
    return clusters >= FEWEST_FOR_INTERVAL and low is not None and high is not None and high - low > NO_SPREAD


def shown(found: Found) -> Found:
    """Remove the bounds that must not be shown from all estimates in nested dataclasses and plain tuples.

    Example: `shown(Estimate(0.5, 0.1, 0.9, clusters=3, draws=2000, seed=0)).low` is None.
    """
    if isinstance(found, Estimate):
        if has_interval(found.clusters, found.low, found.high):
            return found
        return cast("Found", replace(found, low=None, high=None))
    if isinstance(found, tuple) and not hasattr(found, "_fields"):
        return cast("Found", tuple(shown(each) for each in found))
    if is_dataclass(found) and not isinstance(found, type):
        parts: dict[str, Any] = {field.name: shown(getattr(found, field.name)) for field in fields(found)}
        return cast("Found", replace(found, **parts))
    return found


def no_interval_in_words(clusters: int) -> str:
    """Write the reason for a missing interval; "" if there are enough document sets.

    >>> no_interval_in_words(3)
    'no interval: 3 document sets, 5 needed'
    """
    if has_interval(clusters):
        return ""
    return f"no interval: {clusters} document set{'' if clusters == 1 else 's'}, {FEWEST_FOR_INTERVAL} needed"


def why_no_interval(clusters: int) -> str:
    """Write the reason for a missing interval, from the number of document sets alone.

    >>> why_no_interval(12)
    'no interval: all document sets give the same value, or there are too few groups'
    """
    return no_interval_in_words(clusters) or (
        "no interval: all document sets give the same value, or there are too few groups"
    )
