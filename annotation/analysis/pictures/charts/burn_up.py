"""Work done by the end of each day, against all there is to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from annotation.analysis.pictures.charts.kit import Drawing, Shape, circle, diamond, line, path, words
from annotation.analysis.pictures.charts.layout import Scale, fitted, upright
from annotation.analysis.pictures.charts.picture import Picture

WIDTH = 720
PANEL = 210
GAP = 58
LEFT, RIGHT = 70, 640
DATES_AT_MOST = 8
DAYS_WITH_DOTS = 40


@dataclass(frozen=True, slots=True)
class Work:
    """One kind of work: what is counted, how much of it there is, and how much was done on each day with any."""

    name: str
    key: str
    scope: int
    by_day: Mapping[date, int]

    @property
    def done(self) -> int:
        return sum(self.by_day.values())


def burn_up(kinds: Sequence[Work], *, caption: str) -> Picture:
    """One panel for each kind of work, over the same days; a dashed line stands at all there is to do."""
    days = _days(kinds)
    shapes: list[Shape] = []
    top = 26.0
    for place, work in enumerate(kinds):
        shapes += _panel(work, days, top, is_second=place % 2 == 1)
        top += PANEL + GAP
    told = "; ".join(f"{work.done:,} of {work.scope:,} {work.name}" for work in kinds)
    return Picture(
        name="progress-by-day",
        title="Work done by the end of each day",
        description=f"Steps that rise with each day's work towards a dashed line at the total: {told}.",
        caption=caption,
        drawing=Drawing(WIDTH, round(top - GAP + 44), tuple(shapes)),
        columns=("day", *(name for work in kinds for name in (work.key, f"{work.key}_so_far"))),
        rows=tuple(_rows(kinds, days)),
    )


def _days(kinds: Sequence[Work]) -> list[date]:
    """Every day from the first with any work to the last."""
    with_work = [day for work in kinds for day in work.by_day]
    if not with_work:
        return []
    first, last = min(with_work), max(with_work)
    return [first + timedelta(days=number) for number in range((last - first).days + 1)]


def _rows(kinds: Sequence[Work], days: Sequence[date]) -> list[tuple[str | int, ...]]:
    so_far = [0] * len(kinds)
    rows = []
    for day in days:
        cells: list[str | int] = [day.isoformat()]
        for place, work in enumerate(kinds):
            done = work.by_day.get(day, 0)
            so_far[place] += done
            cells += [done, so_far[place]]
        rows.append(tuple(cells))
    return rows


def _panel(work: Work, days: Sequence[date], top: float, *, is_second: bool) -> list[Shape]:
    bottom = top + PANEL
    up = fitted([0, max(work.scope, work.done, 1)], bottom, top, most=5, floor=0)
    shapes = [words(work.name.capitalize(), LEFT, top - 10, size=12.5)]
    shapes += upright(up, LEFT, RIGHT, "")
    shapes.append(line("axis", LEFT, bottom, RIGHT, bottom))
    shapes.append(line("guide", LEFT, up.at(work.scope), RIGHT, up.at(work.scope)))
    shapes.append(words(f"{work.scope:,} in all", RIGHT + 6, up.at(work.scope) + 4, paint="soft", size=11))
    # A day's work stands at its end: the first day begins at nothing.
    sideways = Scale(0.0, float(max(len(days), 1)), LEFT, RIGHT, ())
    shapes += _dates(days, sideways, bottom)
    points, so_far = [(sideways.at(0), up.at(0))], 0
    for number, day in enumerate(days, start=1):
        so_far += work.by_day.get(day, 0)
        points.append((sideways.at(number), up.at(so_far)))
    shapes.append(path("line-2" if is_second else "line", points))
    if len(days) <= DAYS_WITH_DOTS:
        shapes += [
            diamond("mark-2", x, y, 4.5) if is_second else circle("mark", x, y, 4) for x, y in points[1:]
        ]
    x, y = points[-1]
    if work.done != work.scope:
        # Kept off the line that says how much there is.
        y = max(y, up.at(work.scope) + 15) if work.done < work.scope else y
        shapes.append(words(f"{work.done:,}", x + 7, y + 4, size=11))
    return shapes


def _dates(days: Sequence[date], sideways: Scale, bottom: float) -> list[Shape]:
    shapes = []
    each = max(1, -(-len(days) // DATES_AT_MOST))
    for number in range(0, len(days), each):
        text = f"{days[number].day} {days[number]:%b}"
        x = sideways.at(number + 0.5)
        shapes.append(words(text, x, bottom + 17, paint="soft", size=11, anchor="middle"))
    return shapes
