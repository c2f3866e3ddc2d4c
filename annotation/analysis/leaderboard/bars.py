"""Geometry of interval bars on an axis that fits the data."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotation.analysis.intervals import why_no_interval
from annotation.analysis.leaderboard.sorting import sorted_rows

if TYPE_CHECKING:
    from annotation.analysis.leaderboard.leaderboard import Average, SystemRow, TargetTable
    from annotation.models import Judge

WIDTH = 240
EDGE = 8
STEPS = (0.02, 0.05, 0.1, 0.2, 0.25)
MOST_TICKS = 6


@dataclass(frozen=True, slots=True)
class Tick:
    x: str
    text: str


@dataclass(frozen=True, slots=True)
class Axis:
    """A part of [0, 1] over the width of a chart."""

    low: float
    high: float
    ticks: tuple[Tick, ...]

    def x(self, value: float) -> str:
        return _x(value, self.low, self.high)


@dataclass(frozen=True, slots=True)
class Bar:
    """An interval with its mean in chart coordinates; None for missing bounds."""

    low: str | None
    high: str | None
    mean: str
    label: str


@dataclass(frozen=True, slots=True)
class LeagueRow:
    """A system with its rank by the shown score, None without a mean.

    `may_be_best` is False for all systems unless the tests exclude some.
    """

    rank: int | None
    row: SystemRow
    may_be_best: bool
    average: Average
    bar: Bar | None


@dataclass(frozen=True, slots=True)
class League:
    """The systems at one target length with one of their scores."""

    target_words: int | None
    column: str
    axis: Axis
    rows: tuple[LeagueRow, ...]
    sentence: str
    left_out: int


def league(
    table: TargetTable,
    *,
    column: str = "coverage",
    sort: str = "",
    most: int | None = None,
    is_made: bool = True,
    judge: Judge | None = None,
) -> League:
    """A table of the leaderboard for one score, best first or sorted by `sort`.

    `is_made` is False while a worker computes the intervals. The sentence names `judge`, the project's
    deciding judge.
    """
    rows = sorted_rows(table.rows, column=column, sort=sort)
    shown = rows[:most]
    axis = axis_over(row.scores[column] for row in shown)
    means = sorted((_mean(row.scores[column]) for row in rows), reverse=True)
    front = table.ranking.front if table.ranking else None
    best = front.may_be_best if front and len(front.may_be_best) <= front.others else ()
    return League(
        target_words=table.target_words,
        column=column,
        axis=axis,
        rows=tuple(
            LeagueRow(
                rank=None if row.scores[column].mean is None else means.index(_mean(row.scores[column])) + 1,
                row=row,
                may_be_best=row.system in best,
                average=row.scores[column],
                bar=bar(row.scores[column], axis, is_made=is_made),
            )
            for row in shown
        ),
        sentence=table.headline(judge, is_made=is_made),
        left_out=len(rows) - len(shown),
    )


def axis_over(averages: Iterable[Average]) -> Axis:
    """The shortest axis of round steps within [0, 1] that contains all means and intervals."""
    values = [
        value
        for average in averages
        for value in (average.low, average.mean, average.high)
        if value is not None
    ]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    step = next((step for step in STEPS if (high - low) / step <= MOST_TICKS - 1), STEPS[-1])
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    if first == last:
        # An axis with a single value is extended by one step on each side, within the scale.
        first, last = max(first - 1, 0), min(last + 1, round(1 / step))
    start, end = max(0.0, first * step), min(1.0, last * step)
    ticks = [
        number * step for number in range(first, last + 1) if start - 1e-9 <= number * step <= end + 1e-9
    ]
    return Axis(
        low=start,
        high=end,
        ticks=tuple(
            Tick(x=_x(value, start, end), text=f"{value:.2f}".rstrip("0").rstrip(".")) for value in ticks
        ),
    )


def bar(average: Average, axis: Axis, *, is_made: bool = True) -> Bar | None:
    """The bar of an average, None without a mean."""
    if average.mean is None:
        return None
    if average.low is None or average.high is None:
        return Bar(
            low=None,
            high=None,
            mean=axis.x(average.mean),
            label=f"{average.mean:.3f}, {why_no_interval(average.n, is_made=is_made)}",
        )
    return Bar(
        low=axis.x(average.low),
        high=axis.x(average.high),
        mean=axis.x(average.mean),
        label=f"{average.mean:.3f}, interval {average.low:.3f} to {average.high:.3f}",
    )


def _mean(average: Average) -> float:
    return average.mean if average.mean is not None else -1.0


def _x(value: float, low: float, high: float) -> str:
    return f"{EDGE + (value - low) / (high - low) * (WIDTH - 2 * EDGE):.1f}"
