"""Where things stand on a sheet: scales, round numbers along them, and labels that keep out of each other's way."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from annotation.analysis.pictures.charts.kit import Shape, line, words

BARS_AT_MOST = 15
"""Among more points bars would hide which name belongs to which; their ends then stand in the table alone."""
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
USUAL, CAPITAL, FULL = 0.64, 0.76, 1.05
SPECIAL = {
    **dict.fromkeys("ijlI.,:;'| ", 0.34),
    **dict.fromkeys("ftrJ()[]-!/", 0.42),
    **dict.fromkeys("=+<>~^#−×±≤≥→", 0.85),
    **dict.fromkeys("mwMW@%…—", 1.0),
}
"""Widths of characters in parts of the size, those of DejaVu Sans rounded up: no common font of screens is wider."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Values from `low` to `high` laid from `start` to `end`, in pixels, with round numbers along them."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]

    def at(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def text(self, value: float) -> str:
        """A tick as it is written: no more decimals than its step needs."""
        step = self.ticks[1] - self.ticks[0] if len(self.ticks) > 1 else 1.0
        decimals = max(0, -math.floor(math.log10(step) + 1e-9))
        if round(step, decimals) != round(step, 9):
            decimals += 1
        return f"{value:,.{decimals}f}"


@dataclass(frozen=True, slots=True)
class Box:
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def lies_in(self, other: Box) -> bool:
        return (
            self.left >= other.left
            and self.right <= other.right
            and self.top >= other.top
            and self.bottom <= other.bottom
        )


def fitted(
    values: Iterable[float],
    start: float,
    end: float,
    *,
    most: int = 7,
    floor: float = -math.inf,
    ceiling: float = math.inf,
) -> Scale:
    """The shortest scale of round steps that holds all values, within floor and ceiling."""
    held = list(values)
    low, high = (min(held), max(held)) if held else (0.0, 1.0)
    if high - low < 1e-9:
        room = abs(low) * 0.1 or 0.1
        low, high = low - room, high + room
    step = _step((high - low) / (most - 1))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(
        number * step for number in range(first, last + 1) if floor - 1e-9 <= number * step <= ceiling + 1e-9
    )
    return Scale(ticks[0], ticks[-1], start, end, ticks)


def _step(least: float) -> float:
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in STEPS if step * power >= least - 1e-12)


def text_width(text: str, size: float) -> float:
    """About how wide a text is drawn, rather too wide than too narrow."""
    return size * sum(_character_width(each) for each in text)


def _character_width(each: str) -> float:
    if each in SPECIAL:
        return SPECIAL[each]
    if unicodedata.combining(each):
        return 0.0
    if unicodedata.east_asian_width(each) in "WF":
        return FULL
    return CAPITAL if each.isupper() else USUAL


def clipped(text: str, width: float, size: float) -> str:
    """The text, cut with an ellipsis where it is wider than that."""
    if text_width(text, size) <= width:
        return text
    kept = text
    while kept and text_width(kept + "…", size) > width:
        kept = kept[:-1]
    return kept.rstrip() + "…"


def clipped_within(text: str, width: float, size: float) -> str:
    """The text, cut in the middle where it is wider than that: of names that differ at their ends both ends stay."""
    if text_width(text, size) <= width:
        return text
    head, tail = text[: len(text) // 2], text[len(text) // 2 :]
    while (head or tail) and text_width(f"{head}…{tail}", size) > width:
        head, tail = (head[:-1], tail) if len(head) >= len(tail) else (head, tail[1:])
    return f"{head.rstrip()}…{tail.lstrip()}"


def counted(count: int, noun: str) -> str:
    """So many of something: "1 system", "2,400 systems"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def wrapped(text: str, width: float, size: float) -> list[str]:
    """The text in lines no wider than that, parted at blanks, within a word only where it alone is too wide.

    A character wider than the line still has one. No text, no lines.
    """
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size) <= width:
            lines[-1] = longer
            continue
        lines.append("")
        for each in word:
            if lines[-1] and text_width(lines[-1] + each, size) > width:
                lines.append("")
            lines[-1] += each
    return lines


def apart(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places as near as may be to those wanted, in the same order, at least a gap from each other, within low and high.

    Where so many do not fit they stand closer, evenly.
    """
    if not wanted:
        return []
    gap = min(gap, (high - low) / max(1, len(wanted) - 1))
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    # Runs of labels that touch: each lies as near to where its members want to be as it can.
    runs: list[list[int]] = []
    for place in order:
        runs.append([place])
        while len(runs) > 1 and _start(runs[-2], wanted, gap, low, high) + gap * len(runs[-2]) > _start(
            runs[-1], wanted, gap, low, high
        ):
            runs[-2:] = [runs[-2] + runs[-1]]
    found = [0.0] * len(wanted)
    for run in runs:
        start = _start(run, wanted, gap, low, high)
        for number, place in enumerate(run):
            found[place] = start + gap * number
    return found


def _start(run: Sequence[int], wanted: Sequence[float], gap: float, low: float, high: float) -> float:
    middle = sum(wanted[place] - gap * number for number, place in enumerate(run)) / len(run)
    return min(max(middle, low), high - gap * (len(run) - 1))


def bars(
    spans: Sequence[tuple[float, float | None, float | None]], sideways: Scale, up: Scale
) -> list[Shape]:
    """An upright bar for each (place, low, high) that has both ends, cut off at the frame."""
    shapes: list[Shape] = []
    for place, low, high in spans:
        if low is not None and high is not None:
            x = sideways.at(place)
            ends = [up.at(min(max(end, up.low), up.high)) for end in (low, high)]
            shapes.append(line("span-thin", x, ends[0], x, ends[1]))
    return shapes


def told_of_bars(count: int, what: str, *, has_intervals: bool = True) -> str:
    """Where the intervals of so many points are to be found, if any has one."""
    if not has_intervals:
        return "No intervals: too few document sets, or all give the same value."
    if count <= BARS_AT_MOST:
        return f"Bars: 95 % interval of {what}."
    return (
        f"Intervals of so many systems would hide the names: the numbers have them. They are 95 %, of {what}."
    )


def labelled(
    points: Sequence[tuple[float, float, str]],
    within: Box,
    *,
    size: float = 11,
    radius: float = 6,
    taken: Sequence[Box] = (),
) -> list[Shape]:
    """A label for each point that covers no point and no other label, with a line to it where it stands off.

    A label for which there is no room is left out: the table behind a picture has every name.
    """
    boxes = [*taken, *(Box(x - radius, y - radius, x + radius, y + radius) for x, y, _ in points)]
    shapes: list[Shape] = []
    # Points at the rim of the crowd have most room; the crowded ones take what is left.
    for x, y, text in sorted(points, key=lambda point: (point[1], point[0])):
        width = text_width(text, size)
        for distance, box in _places(x, y, width, size, radius):
            if box.lies_in(within) and not any(box.meets(other) for other in boxes):
                boxes.append(box)
                if distance > radius + 4:
                    shapes.insert(0, line("leader", x, y, *_end_of_leader(x, y, box)))
                shapes.append(words(text, box.left, box.bottom - size * 0.25, paint="name", size=size))
                break
    return shapes


def _end_of_leader(x: float, y: float, box: Box) -> tuple[float, float]:
    """Where a line to a label ends: at its side, or in the middle of its top or foot, off any upright bar."""
    if box.left <= x <= box.right:
        return (box.left + box.right) / 2, box.top if y < box.top else box.bottom
    return (box.left if x < box.left else box.right), (box.top + box.bottom) / 2


def _places(x: float, y: float, width: float, size: float, radius: float) -> Iterable[tuple[float, Box]]:
    """Boxes for a label about a point, the nearest first: right, left, above, below, then all around and further."""
    height = size * 1.2
    for distance in (radius + 2, radius + 10, *range(24, 200, 12)):
        turns = 4 if distance == radius + 2 else 16
        order = sorted(range(turns), key=lambda turn: (turn % (turns // 4) != 0, turn))
        for turn in order:
            angle = 2 * math.pi * turn / turns
            middle_x = x + math.cos(angle) * (distance + width / 2)
            middle_y = y + math.sin(angle) * (distance + height / 2)
            box = Box(
                middle_x - width / 2, middle_y - height / 2, middle_x + width / 2, middle_y + height / 2
            )
            yield distance, box


def across(scale: Scale, top: float, bottom: float, title: str, *, texts: Sequence[str] = ()) -> list[Shape]:
    """The axis along the foot, with upright lines of the grid, its numbers and its title."""
    shapes: list[Shape] = []
    for place, tick in enumerate(scale.ticks):
        x = scale.at(tick)
        shapes.append(line("grid", x, top, x, bottom))
        text = texts[place] if texts else scale.text(tick)
        shapes.append(words(text, x, bottom + 16, paint="soft", size=11, anchor="middle"))
    shapes.append(line("axis", scale.start, bottom, scale.end, bottom))
    shapes.append(words(title, (scale.start + scale.end) / 2, bottom + 36, size=12, anchor="middle"))
    return shapes


def upright(scale: Scale, left: float, right: float, title: str) -> list[Shape]:
    """The axis along the left, with level lines of the grid, its numbers and its title."""
    shapes: list[Shape] = []
    for tick in scale.ticks:
        y = scale.at(tick)
        shapes.append(line("grid", left, y, right, y))
        shapes.append(words(scale.text(tick), left - 7, y + 4, paint="soft", size=11, anchor="end"))
    middle = (scale.start + scale.end) / 2
    shapes.append(line("axis", left, scale.start, left, scale.end))
    if title:
        shapes.append(words(title, left - 44, middle, size=12, anchor="middle", turned=-90))
    return shapes
