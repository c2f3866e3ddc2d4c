"""The geometry of interval bars, on an axis that fits the data."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotation.analysis.intervals import has_interval, why_no_interval

if TYPE_CHECKING:
    from annotation.analysis.leaderboard.leaderboard import Average, SystemRow, TargetTable
    from annotation.analysis.leaderboard.ranking import Front

WIDTH = 240
EDGE = 8
STEPS = (0.02, 0.05, 0.1, 0.2, 0.25)
MOST_TICKS = 6
LINES = "Thin line: people's answers about this system alone. Thick line: with the judge's averages, as in the ranking."


@dataclass(frozen=True, slots=True)
class Tick:
    x: str
    text: str


@dataclass(frozen=True, slots=True)
class Axis:
    """The part of the scale that a chart shows over its width."""

    low: float
    high: float
    ticks: tuple[Tick, ...]

    def x(self, value: float) -> str:
        return _x(value, self.low, self.high)


@dataclass(frozen=True, slots=True)
class Bar:
    """An interval and its mean as positions in the chart; missing bounds are None. `label` describes both in words."""

    low: str | None
    high: str | None
    mean: str
    label: str


@dataclass(frozen=True, slots=True)
class LeagueRow:
    """A system with its value of the ranked score.

    `mark` is "ruled out", "may be best", "too few sets" or "". `direct` is the bar of the direct estimate beside a
    pooled one; otherwise None.
    """

    row: SystemRow
    mark: str
    average: Average
    bar: Bar | None
    direct: Bar | None


@dataclass(frozen=True, slots=True)
class League:
    """The chart of a table. `left_out` counts the systems without a row."""

    table: TargetTable
    axis: Axis
    rows: tuple[LeagueRow, ...]
    left_out: int

    @property
    def legend(self) -> str:
        """Explain thick and thin lines; "" if there are no thin lines."""
        return LINES if any(row.direct for row in self.rows) else ""


def league(table: TargetTable, *, most: int | None = None) -> League:
    """Build the chart of a table, with at most `most` rows; None means all rows."""
    score, front = table.ranking.score, table.ranking.front
    shown = table.rows[:most]
    direct = table.bases[score].direct
    axis = axis_over(row.scores[name] for row in shown for name in (score, direct) if name)
    marks = _marks(front) if front else {}
    return League(
        table=table,
        axis=axis,
        rows=tuple(
            LeagueRow(
                row=row,
                mark=marks.get(row.system, "" if row.rank or has_interval(row.n) else "too few sets"),
                average=row.scores[score],
                bar=bar(row.scores[score], axis),
                direct=bar(row.scores[direct], axis) if direct else None,
            )
            for row in shown
        ),
        left_out=len(table.rows) - len(shown),
    )


def _marks(front: Front) -> dict[str, str]:
    best = front.may_be_best
    if len(best) < 2 or not front.ruled_out:
        return {}
    if len(front.ruled_out) < len(best):
        return dict.fromkeys(front.ruled_out, "ruled out")
    return dict.fromkeys(best, "may be best")


def axis_over(averages: Iterable[Average]) -> Axis:
    """Return an axis with round steps that contains all means and intervals.

    The axis lies within [0, 1], or from 0 to the next power of ten if a scaled score exceeds 1.
    """
    values = [
        value
        for average in averages
        for value in (average.low, average.mean, average.high)
        if value is not None
    ]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    whole = 10.0 ** math.ceil(math.log10(max(high, 1.0)))
    steps = [step * whole for step in STEPS]
    step = next((step for step in steps if (high - low) / step <= MOST_TICKS - 1), steps[-1])
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    if first == last:
        # Extend an axis without width by one step on each side, within the scale.
        first, last = max(first - 1, 0), min(last + 1, round(whole / step))
    start, end = max(0.0, first * step), min(whole, last * step)
    ticks = [
        number * step for number in range(first, last + 1) if start - 1e-9 <= number * step <= end + 1e-9
    ]
    return Axis(
        low=start,
        high=end,
        ticks=tuple(Tick(x=_x(value, start, end), text=f"{round(100 * value)}") for value in ticks),
    )


def bar(average: Average, axis: Axis) -> Bar | None:
    """Place an average on the axis; None if it has no mean."""
    if average.mean is None:
        return None
    low, high, mean = average.low, average.high, average.mean
    if low is None or high is None:
        return Bar(None, None, axis.x(mean), f"{mean:.0%}, {why_no_interval(average.n)}")
    return Bar(axis.x(low), axis.x(high), axis.x(mean), f"{mean:.0%}, interval {low:.0%} to {high:.0%}")


def _x(value: float, low: float, high: float) -> str:
    return f"{EDGE + (value - low) / (high - low) * (WIDTH - 2 * EDGE):.1f}"
