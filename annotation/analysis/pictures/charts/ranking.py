"""Systems in their order, each with its interval, and a line down the side for each group that cannot be told apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.analysis.intervals import why_no_interval
from annotation.analysis.pictures.charts.kit import Drawing, Shape, circle, line, words
from annotation.analysis.pictures.charts.layout import (
    Scale,
    across,
    clipped_within,
    counted,
    fitted,
    text_width,
)
from annotation.analysis.pictures.charts.picture import Picture

ROW = 24
TOP = 14
PLOT = 380
LONGEST_NAME = 270
GROUP_STEP = 12


@dataclass(frozen=True, slots=True)
class RankedSystem:
    """A system's mean with its interval, None twice where there is none, and the document sets behind it.

    `groups` says of each group of systems that are not significantly different whether this one stands in it.
    """

    rank: int
    system: str
    mean: float
    low: float | None
    high: float | None
    n: int
    groups: tuple[bool, ...] = ()
    letters: str = ""


def ranking(systems: Sequence[RankedSystem], *, score: str, caption: str, is_made: bool = True) -> Picture:
    """The systems from the best down; `score` names what their means are of.

    `is_made` is false while a worker makes the intervals.
    """
    left = min(LONGEST_NAME, max((text_width(of.system, 12) for of in systems), default=0.0)) + 46
    bottom = TOP + ROW * len(systems)
    scale = fitted(
        [value for of in systems for value in (of.low, of.mean, of.high) if value is not None],
        left,
        left + PLOT,
        floor=0.0,
        ceiling=1.0,
    )
    shapes = across(scale, TOP, bottom, score)
    for place, of in enumerate(systems):
        shapes += _row(of, TOP + ROW * (place + 0.5), scale)
    beside = left + PLOT + 62
    count = max((len(of.groups) for of in systems), default=0)
    for group in range(count):
        shapes += _group([of.groups[group] for of in systems], beside + GROUP_STEP * group)
    width = round(beside + GROUP_STEP * count + (6 if count else 0))
    if count:
        shapes.append(words("alike", beside - 4, bottom + 16, paint="soft", size=11))
        width = max(width, round(beside + 34))
    best = systems[0] if systems else None
    has_intervals = any(of.low is not None for of in systems)
    return Picture(
        name="ranking",
        title=(
            f"{score} of {counted(len(systems), 'system')}, "
            f"{'with 95 % intervals' if has_intervals else 'without intervals'}"
        ),
        description=(
            "One line per system, best first: a dot at its mean"
            + (
                " and a bar over its interval. "
                if has_intervals
                else f"; {why_no_interval(best.n, is_made=is_made)}. "
            )
            + _first_in_words(systems)
            + (" Lines on the right join systems that are not significantly different." if count else "")
            if best
            else "No system has a mean."
        ),
        caption=caption,
        drawing=Drawing(width, bottom + 48, tuple(shapes)),
        columns=("rank", "system", "mean", "low", "high", "document_sets", "alike"),
        rows=tuple((of.rank, of.system, of.mean, of.low, of.high, of.n, of.letters) for of in systems),
    )


def _first_in_words(systems: Sequence[RankedSystem]) -> str:
    """Who is first; all of them where several are level."""
    best = systems[0]
    level = [of.system for of in systems if of.rank == best.rank]
    if len(level) == 1:
        return f"{best.system} is first with {best.mean:.3f}."
    return f"{len(level):,} systems are tied for first with {best.mean:.3f}: {', '.join(level)}."


def _row(of: RankedSystem, y: float, scale: Scale) -> list[Shape]:
    name = clipped_within(of.system, LONGEST_NAME, 12)
    shapes = [
        words(str(of.rank), 24, y + 4, paint="soft", size=11, anchor="end"),
        words(name, scale.start - 12, y + 4, anchor="end", hint=of.system if name != of.system else ""),
    ]
    if of.low is not None and of.high is not None:
        shapes.append(line("span", scale.at(of.low), y, scale.at(of.high), y))
    shapes.append(circle("mark", scale.at(of.mean), y, 5))
    shapes.append(words(f"{of.mean:.3f}", scale.end + 12, y + 4, size=11))
    return shapes


def _group(stands_in_it: Sequence[bool], x: float) -> list[Shape]:
    """A line from the first to the last of its systems, with a dot at each, since one between may not belong."""
    places = [TOP + ROW * (place + 0.5) for place, stands in enumerate(stands_in_it) if stands]
    if not places:
        return []
    dots = [circle("ink", x, y, 2.5) for y in places]
    return [line("group", x, places[0] - 4, x, places[-1] + 4), *dots]
