"""What the judge says of each system against what people say of it, on the same checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.analysis.pictures.charts.kit import Drawing, circle, line, words
from annotation.analysis.pictures.charts.layout import (
    BARS_AT_MOST,
    Box,
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

WIDTH, HEIGHT = 760, 680
FRAME = Box(64, 14, 744, 628)


@dataclass(frozen=True, slots=True)
class JudgedSystem:
    """Shares of yes over the checks of one system that both the judge and people answered, each in [0, 1].

    `low` and `high` bound the judge's share less people's; None where nothing bounds it.
    """

    system: str
    checks: int
    people: float
    judge: float
    low: float | None
    high: float | None


def judge_against_people(systems: Sequence[JudgedSystem], *, judge: str) -> Picture:
    """One dot a system: on the dashed line the judge says yes as often as people, above it more often."""
    spans = [
        (of.people, of.people + of.low, of.people + of.high)
        for of in systems
        if of.low is not None and of.high is not None and len(systems) <= BARS_AT_MOST
    ]
    values = [value for of in systems for value in (of.people, of.judge)]
    values += [min(max(value, 0.0), 1.0) for _, low, high in spans for value in (low, high)]
    sideways = fitted(values, FRAME.left, FRAME.right, floor=0.0, ceiling=1.0)
    up = fitted(values, FRAME.bottom, FRAME.top, floor=0.0, ceiling=1.0)
    shapes = across(sideways, FRAME.top, FRAME.bottom, "People: share of yes")
    shapes += upright(up, FRAME.left, FRAME.right, "Judge: share of yes")
    shapes.append(line("guide", sideways.start, up.start, sideways.end, up.end))
    equal = "as often as people"
    shapes.append(words(equal, sideways.end - 24, up.end + 13, paint="soft", size=10.5, anchor="end"))
    taken = [
        Box(sideways.end - 24 - text_width(equal, 10.5), up.end + 2, sideways.end, up.end + 17),
    ]
    shapes += bars(spans, sideways, up)
    points = [(sideways.at(of.people), up.at(of.judge), of.system) for of in systems]
    labels = labelled(points, FRAME, taken=taken)
    dots = [circle("mark", x, y, 5, hint=name) for x, y, name in points]
    above = sum(of.judge > of.people for of in systems)
    return Picture(
        name="judge-and-people",
        title=f"{judge} against people, by system",
        description=(
            f"{counted(len(systems), 'system')}; across, people's share of yes, up, the judge's on the same checks. "
            f"Above the dashed line, where the judge says yes more often than people: {above}."
        ),
        caption=(
            "Shares of yes on the checks that both answered. "
            + told_of_bars(
                len(systems),
                "the judge's share less people's, resampling document sets",
                has_intervals=any(of.low is not None for of in systems),
            )
        ),
        drawing=Drawing(WIDTH, HEIGHT, (*shapes, *labels, *dots)),
        columns=("system", "checks", "people_yes", "judge_yes", "bias_low", "bias_high"),
        rows=tuple((of.system, of.checks, of.people, of.judge, of.low, of.high) for of in systems),
    )
