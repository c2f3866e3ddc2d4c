"""The random sample that the plan proposes where nobody has asked for another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from annotation.analysis.estimates.forecasts import DESIGNS, DRAWABLE, ForecastBasis
from annotation.analysis.estimates.plan import WIDTHS
from annotation.analysis.figures import Figures, figures
from annotation.models import Analysis

if TYPE_CHECKING:
    from annotation.models import Project

SEVERAL = 2
"""Document sets with answers below which nothing at all could be learnt of a system."""


def proposed_size(project: Project) -> int | None:
    """How many answers the plan proposes at the target length of most checks; None where it is not made or has none."""
    found = figures(project, Analysis.Kind.PLAN).payload
    tables = [table for table in found["targets"] if table["outlooks"]] if found else []
    if not found or not tables:
        return None
    table = max(tables, key=lambda each: each["checks"])
    width = reachable(found, table) or WIDTHS[0]
    return suited(found, table, width, useful_sizes(found, table))


def suited(found: Figures, table: Mapping[str, Any], width: float, sizes: Sequence[int]) -> int | None:
    """The size that the width takes; None where no draw would add anything.

    One that stands by itself is larger than the answered ones.
    """
    larger = [size for size in sizes if size > found["pilot_answered"]]
    if found["complete"] or not larger:
        return None
    if wanted_of(table, width)["is_reached"]:
        return larger[0]
    return max(larger[0], _enough(found, table, width) or sizes[len(sizes) // 2])


def reachable(found: Figures, table: Mapping[str, Any]) -> float | None:
    """The narrowest width that half of all checks reach; None where they reach none."""
    within = [
        wanted["width"]
        for wanted in table["wanted"]
        if any(size is not None and 2 * size <= found["checks"] for size in wanted["sizes"].values())
    ]
    return min(within, default=None)


def useful_sizes(found: Figures, table: Mapping[str, Any]) -> list[int]:
    """The sizes that would bring answers in several document sets of every system; the largest always."""
    sizes = [each["size"] for each in found["sizes"]]
    return [size for size in sizes if _is_useful(table["outlooks"][str(size)])] or sizes[-1:]


def wanted_of(table: Mapping[str, Any], width: float) -> dict[str, Any]:
    """What the plan says of one width."""
    return next(wanted for wanted in table["wanted"] if wanted["width"] == width)


def has_pilot(found: Figures) -> bool:
    """Whether forecasts go by answers, and not by the judge's word."""
    return bool(found["basis"] == ForecastBasis.PILOT)


def _enough(found: Figures, table: Mapping[str, Any], width: float) -> int | None:
    """The smallest size that reaches the width: by any design, or without a pilot by lot."""
    by_design = wanted_of(table, width)["sizes"]
    designs = DESIGNS if has_pilot(found) else ("people", DRAWABLE[0])
    return min((size for name in designs if (size := by_design[name]) is not None), default=None)


def _is_useful(outlooks: Mapping[str, Any]) -> bool:
    return any(outlook["documents"] >= SEVERAL for outlook in outlooks.values())
