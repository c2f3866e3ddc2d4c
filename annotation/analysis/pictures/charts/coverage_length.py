"""How much each system covers, in how many words, with lines along which the composite is the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from annotation.analysis.pictures.charts.kit import Drawing, Shape, circle, path, words
from annotation.analysis.pictures.charts.layout import (
    BARS_AT_MOST,
    Box,
    Scale,
    across,
    bars,
    counted,
    fitted,
    labelled,
    text_width,
    told_of_bars,
    upright,
)
from annotation.analysis.pictures.charts.picture import Picture

WIDTH, HEIGHT = 840, 600
FRAME = Box(64, 14, 780, 548)
LINES_AT_MOST = 9
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


@dataclass(frozen=True, slots=True)
class LengthPoint:
    """One system: its mean coverage with its interval, and its mean length.

    Where there is a target, lengths count up to the target alone, as brevity counts them.
    """

    system: str
    length: float
    coverage: float
    low: float | None
    high: float | None
    composite: float | None


def coverage_against_length(
    points: Sequence[LengthPoint], *, target: int | None, a: float, unit: str, covers: str
) -> Picture:
    """Coverage against length; with a target, lines of equal composite a·coverage + (1 − a)·brevity.

    `covers` says what the intervals of coverage cover.
    """
    spans = [(of.length, of.low, of.high) for of in points if len(points) <= BARS_AT_MOST]
    sideways = fitted([of.length for of in points], FRAME.left, FRAME.right, floor=0.0)
    ends = [end for _, low, high in spans for end in (low, high) if end is not None]
    values = [*(of.coverage for of in points), *ends]
    up = fitted(values, FRAME.bottom, FRAME.top, floor=0.0, ceiling=1.0)
    up_to = f", capped at the target of {target}" if target else ""
    shapes = across(sideways, FRAME.top, FRAME.bottom, f"Mean length in {unit}{up_to}")
    shapes += upright(up, FRAME.left, FRAME.right, "Coverage")
    taken: list[Box] = []
    if target and 0 < a < 1:
        shapes += _composite_lines(sideways, up, target, a, taken)
    shapes += bars(spans, sideways, up)
    placed = [(sideways.at(of.length), up.at(of.coverage), of.system) for of in points]
    labels = labelled(placed, FRAME, taken=taken)
    dots = [circle("mark", x, y, 5, hint=name) for x, y, name in placed]
    told = (
        f" Along each dashed line the composite X = a·coverage + (1 − a)·brevity with a = {a:.2f} is the same; it "
        "rises upwards and to the left."
        if target and 0 < a < 1
        else ""
    )
    return Picture(
        name="coverage-and-length",
        title="Coverage against length" + (f", target {target} {unit}" if target else ""),
        description=f"{counted(len(points), 'system')}; across, their mean length, up, their mean coverage.{told}",
        caption=told_of_bars(
            len(points), f"coverage, {covers}", has_intervals=any(of.low is not None for of in points)
        )
        + told,
        drawing=Drawing(WIDTH, HEIGHT, (*shapes, *labels, *dots)),
        columns=("system", "mean_length", "coverage", "low", "high", "composite"),
        rows=tuple((of.system, of.length, of.coverage, of.low, of.high, of.composite) for of in points),
    )


def _composite_lines(sideways: Scale, up: Scale, target: int, a: float, taken: list[Box]) -> list[Shape]:
    """Lines of equal composite at round values, named where they leave the frame.

    X = a·c + (1 − a)·(1 − length/target), so that c rises along a line by (1 − a)/(a·target) a word.
    """
    slope = (1 - a) / (a * target)
    last = min(sideways.high, float(target))

    def composite(length: float, coverage: float) -> float:
        return a * coverage + (1 - a) * (1 - length / target)

    least, most = composite(last, up.low), composite(sideways.low, up.high)
    step = next(step for step in STEPS if (most - least) / step <= LINES_AT_MOST)
    shapes: list[Shape] = []
    for number in range(math.ceil(least / step), math.floor(most / step) + 1):
        without_words = (number * step - (1 - a)) / a
        start = max(sideways.low, (up.low - without_words) / slope)
        end = min(last, (up.high - without_words) / slope)
        if start >= end:
            continue
        ends = [(sideways.at(x), up.at(without_words + slope * x)) for x in (start, end)]
        shapes.append(path("guide", ends))
        x, y = ends[1]
        text = f"X {number * step:.2f}"
        if end == last:
            shapes.append(words(text, x + 5, y + 4, paint="soft", size=10.5))
        else:
            # Below the end of the line, where it runs no further.
            shapes.append(words(text, x + 2, y + 13, paint="soft", size=10.5))
            taken.append(Box(x, y, x + text_width(text, 10.5) + 4, y + 16))
    return shapes
