"""Whether of what the judge calls 80 % likely 80 % are yes, and how many answers each point rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.analysis.pictures.charts.kit import (
    Drawing,
    Shape,
    circle,
    diamond,
    line,
    path,
    rectangle,
    words,
)
from annotation.analysis.pictures.charts.layout import Box, Scale, across, upright
from annotation.analysis.pictures.charts.picture import Picture

FEWEST_FOR_CURVE = 30
"""Of fewer answers chance alone bends a curve, so that none is shown."""
FEW_ANSWERS = 10
"""A point on fewer answers is drawn hollow, and said to rest on few."""
WIDTH, HEIGHT = 520, 590
FRAME = Box(64, 14, 506, 420)
COUNTS = Box(64, 446, 506, 540)
TENTHS = tuple(place / 5 for place in range(6))


@dataclass(frozen=True, slots=True)
class CalibrationPoint:
    """The answers whose probability of yes lies from `low` to `high`: how many, their mean, people's share of yes.

    `observed_low` and `observed_high` bound that share, None where nothing does.
    """

    low: float
    high: float
    count: int
    predicted: float
    observed: float
    observed_low: float | None
    observed_high: float | None

    @property
    def is_on_few(self) -> bool:
        return self.count < FEW_ANSWERS


def calibration(points: Sequence[CalibrationPoint], *, judge: str) -> Picture:
    """The calibration curve, with the number of answers of each group below it."""
    sideways = Scale(0.0, 1.0, FRAME.left, FRAME.right, TENTHS)
    up = Scale(0.0, 1.0, FRAME.bottom, FRAME.top, TENTHS)
    shapes = upright(up, FRAME.left, FRAME.right, "People's share of yes")
    shapes += across(sideways, FRAME.top, COUNTS.bottom, "Judge's probability of yes")
    shapes.append(line("guide", sideways.start, up.start, sideways.end, up.end))
    shapes += _counts(points, sideways)
    if not any(of.is_on_few for of in points):
        shapes.append(path("line-thin", [(sideways.at(of.predicted), up.at(of.observed)) for of in points]))
    for of in points:
        shapes += _point(of, sideways, up)
    told = _told_of_few(sum(of.is_on_few for of in points), len(points))
    return Picture(
        name="calibration",
        title=f"Calibration of {judge}",
        description=(
            f"{len(points)} groups of answers; across, the mean of the judge's probabilities, up, the share that "
            "people answered yes, with bars for its interval. On the dashed line both are equal; below it the judge "
            f"is too sure of yes. The blocks below count the answers.{told}"
        ),
        caption=f"Bars: 95 % interval, resampling document sets.{_told_of_alike(points)}{told}",
        drawing=Drawing(WIDTH, HEIGHT, tuple(shapes)),
        columns=("from", "to", "answers", "predicted", "observed", "observed_low", "observed_high"),
        rows=tuple(
            (of.low, of.high, of.count, of.predicted, of.observed, of.observed_low, of.observed_high)
            for of in points
        ),
    )


def _told_of_few(few: int, groups: int) -> str:
    if not few:
        return ""
    if few == groups:
        return f" Every group rests on fewer than {FEW_ANSWERS} answers (hollow): too few for a curve."
    return f" Hollow groups rest on fewer than {FEW_ANSWERS} answers: {few} of {groups}; they have no line."


def _told_of_alike(points: Sequence[CalibrationPoint]) -> str:
    """Where every answer of a group is the same no draw differs, and its interval is made in another way."""
    alike = sum(of.observed in (0, 1) and of.observed_low is not None for of in points)
    if not alike:
        return ""
    return (
        f" Where all answers of a group are the same ({alike} of {len(points)}), resampling shows no spread. "
        "The interval is then the exact binomial one (Clopper and Pearson), each document set one trial."
    )


def _point(of: CalibrationPoint, sideways: Scale, up: Scale) -> list[Shape]:
    x, y = sideways.at(of.predicted), up.at(of.observed)
    hint = f"{of.count} answers: said {of.predicted:.0%}, were {of.observed:.0%}"
    mark = diamond("hollow", x, y, 6) if of.is_on_few else circle("mark", x, y, 5.5, hint=hint)
    if of.observed_low is None or of.observed_high is None:
        return [mark]
    return [line("span", x, up.at(of.observed_low), x, up.at(of.observed_high)), mark]


def _counts(points: Sequence[CalibrationPoint], sideways: Scale) -> list[Shape]:
    most = max((of.count for of in points), default=1)
    shapes = [
        words("Answers", COUNTS.left - 44, (COUNTS.top + COUNTS.bottom) / 2, anchor="middle", turned=-90)
    ]
    # Written above its block; a block narrower than its number has it under the pointer and in the table alone.
    written_to = COUNTS.left
    for of in points:
        left, right = sideways.at(of.low), sideways.at(of.high)
        height = (COUNTS.bottom - COUNTS.top - 14) * of.count / most
        shapes.append(
            rectangle(
                "block",
                left,
                COUNTS.bottom - height,
                max(right - left - 1, 1.5),
                height,
                hint=f"{of.count} answers",
            )
        )
        text, middle = f"{of.count:,}", (left + right) / 2
        half = len(text) * 3.4
        if middle - half >= written_to and middle + half <= COUNTS.right + 8:
            shapes.append(
                words(text, middle, COUNTS.bottom - height - 4, paint="soft", size=10.5, anchor="middle")
            )
            written_to = middle + half + 2
    return shapes
