"""Sort the systems of a table by any of its columns."""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from annotation.analysis.leaderboard.leaderboard import RANKABLE
from annotation.core.refusals import Invalid

if TYPE_CHECKING:
    from annotation.analysis.leaderboard.leaderboard import SystemRow

RANK, SYSTEM, SETS, UNSCORED = "rank", "system", "sets", "unscored"
SORTABLE = (RANK, SYSTEM, *RANKABLE, SETS, UNSCORED)
"""The sortable columns; a leading minus reverses the order."""
UPWARDS = (RANK, SYSTEM)
"""Columns that start ascending; all others start descending."""


def checked_sort(asked: str) -> str:
    """Return the sort parameter: a column, "-column", or "" for ranks. Raises Invalid."""
    if asked and asked.removeprefix("-") not in SORTABLE:
        raise Invalid(f"The leaderboard cannot be sorted by {asked!r}.", field="sort")
    return "" if asked == RANK else asked


def sorted_rows(rows: Iterable[SystemRow], *, column: str, sort: str = "") -> list[SystemRow]:
    """The rows by the mean of `column`, best first, or by `sort`; rows without a value are last."""
    by = sort.removeprefix("-") or RANK
    ranked = sorted(rows, key=lambda row: row.scores[column].mean or 0.0, reverse=True)
    held = [(value, row) for row in ranked if (value := _value(row, by, column)) is not None]
    held.sort(key=itemgetter(0), reverse=sort.startswith("-"))
    return [row for _, row in held] + [row for row in ranked if _value(row, by, column) is None]


def _value(row: SystemRow, by: str, column: str) -> Any:
    mean = row.scores[column].mean
    match by:
        case "rank":
            return None if mean is None else -mean
        case "system":
            return row.system.casefold()
        case "sets":
            return row.scores[column].n
        case "unscored":
            return row.claims_unscored
        case _:
            return row.scores[by].mean
