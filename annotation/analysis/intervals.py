"""Which intervals are shown: none that rests on too few document sets to hold what it says."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from evaluation.statistics import FEWEST_FOR_INTERVAL, Estimate

Found = TypeVar("Found")

NO_SPREAD = 1e-9
"""What is no wider than this is no interval: values are alike but for rounding."""


def has_interval(clusters: float, low: float | None = 0.0, high: float | None = 1.0) -> bool:
    """Whether figures of so many document sets, or groups of them, are shown with an interval, and with these bounds.

    Without any width it would say that the figure is known for sure, where all that is known is that the document sets
    at hand are alike.
    """
    return clusters >= FEWEST_FOR_INTERVAL and low is not None and high is not None and high - low > NO_SPREAD


def shown(found: Found) -> Found:
    """The figures as they are shown, wherever estimates lie in them: those without an interval without their bounds.

    So are estimates of too few document sets, and those that no resampling moves.

    Looks through dataclasses and tuples. Everything else comes back as it is.
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
    """Why there is no interval; empty where these are enough document sets for one.

    >>> no_interval_in_words(3)
    'no interval: 3 document sets, 5 needed'
    """
    if has_interval(clusters):
        return ""
    return f"no interval: {clusters} document set{'' if clusters == 1 else 's'}, {FEWEST_FOR_INTERVAL} needed"


def why_no_interval(clusters: int, *, is_made: bool = True) -> str:
    """Why a figure has none, where only the document sets behind it are known and not their groups.

    While a worker makes the intervals (`is_made` is false), one that lacks may still come.

    >>> why_no_interval(12)
    'no interval: all document sets give the same value, or there are too few groups'
    >>> why_no_interval(12, is_made=False)
    'interval is being calculated'
    """
    if not is_made and has_interval(clusters):
        return "interval is being calculated"
    return no_interval_in_words(clusters) or (
        "no interval: all document sets give the same value, or there are too few groups"
    )
