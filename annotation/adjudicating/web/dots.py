"""Geometry of percents as dots on one axis, one dot a voice; equal ones stand on each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from annotation.adjudicating.queries.voices import NamelessVoice

AXIS_WIDTH = 480
AXIS_EDGE = 18
RADIUS = 10
STEP = 23
TICKS = (0, 20, 40, 60, 80, 100)


@dataclass(frozen=True, slots=True)
class Dot:
    x: str
    y: str
    text: str


@dataclass(frozen=True, slots=True)
class DotAxis:
    """A drawing in its own coordinates. `low` and `high` are the ends of the spread, on the axis at height `y`."""

    width: int
    height: int
    y: str
    start: str
    end: str
    low: str
    high: str
    dots: tuple[Dot, ...]
    ticks: tuple[Dot, ...]
    words: str


def dot_axis(voices: Iterable[NamelessVoice]) -> DotAxis | None:
    """The percents of some voices from 0 to 100; None where none of them gave a percent."""
    given = [(voice.percent, voice.letter) for voice in voices if voice.percent is not None]
    if not given:
        return None
    percents = [percent for percent, _ in given]
    highest = max(Counter(percents).values())
    line = RADIUS + 2 + (highest - 1) * STEP + RADIUS + 6
    placed: Counter[int] = Counter()
    dots = []
    for percent, letter in given:
        dots.append(Dot(_x(percent), f"{line - RADIUS - 6 - placed[percent] * STEP}", letter))
        placed[percent] += 1
    return DotAxis(
        width=AXIS_WIDTH,
        height=line + 22,
        y=str(line),
        start=_x(0),
        end=_x(100),
        low=_x(min(percents)),
        high=_x(max(percents)),
        dots=tuple(dots),
        ticks=tuple(Dot(_x(tick), f"{line + 17}", str(tick)) for tick in TICKS),
        words=", ".join(f"{letter} {percent} %" for percent, letter in given),
    )


def _x(percent: float) -> str:
    return f"{AXIS_EDGE + percent / 100 * (AXIS_WIDTH - 2 * AXIS_EDGE):.1f}"
