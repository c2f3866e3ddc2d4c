"""The composite of each system as the weight of coverage goes from nothing to all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from annotation.analysis.pictures.charts.kit import (
    Drawing,
    Shape,
    circle,
    diamond,
    line,
    path,
    polygon,
    rectangle,
    words,
)
from annotation.analysis.pictures.charts.layout import (
    Scale,
    across,
    apart,
    clipped_within,
    counted,
    fitted,
    text_width,
    upright,
)
from annotation.analysis.pictures.charts.picture import Picture

TOP, LOWEST = 14, 474
AXIS = 64
PLOT = 440
LONGEST_NAME = 176
NAME_SIZE = 11
NAME_STEP = 14
BESIDE = 34
"""From the end of a line to its name: a line to where the name stands, and the system's sign."""
FIFTHS = tuple(place / 5 for place in range(6))
NAMED_FROM, NAMED = 9, 5
"""Of so many systems only the first few at the weight in force are named; the lines of the others are grey."""
LINES = ("line-thin", "line-dashed", "line-dotted", "line-mixed")


def _square(x: float, y: float) -> Shape:
    return rectangle("mark", x - 3.5, y - 3.5, 7, 7)


def _triangle(x: float, y: float) -> Shape:
    return polygon("mark", (x, y - 4.5), (x + 4.5, y + 3.5), (x - 4.5, y + 3.5))


def _hanging_triangle(x: float, y: float) -> Shape:
    return polygon("mark", (x, y + 4.5), (x + 4.5, y - 3.5), (x - 4.5, y - 3.5))


SIGNS: tuple[Callable[[float, float], Shape], ...] = (
    lambda x, y: circle("mark", x, y, 4),
    _square,
    _triangle,
    lambda x, y: circle("hollow", x, y, 3.5),
    _hanging_triangle,
)
"""With four kinds of lines, twenty systems before a sign and a line come together again. Diamonds are crossings."""
SIGNS_ON_A_LINE = 3


@dataclass(frozen=True, slots=True)
class CompositeLine:
    """A system's mean brevity and mean coverage, over the same summaries: its composite at a = 0 and at a = 1."""

    system: str
    brevity: float
    coverage: float

    def at(self, a: float) -> float:
        return a * self.coverage + (1 - a) * self.brevity


def composite_lines(
    systems: Sequence[CompositeLine],
    *,
    chosen: float,
    crossings: Sequence[float] = (),
    title: str = "Composite by the weight of coverage",
    caption: str = "",
) -> Picture:
    """X = a·coverage + (1 − a)·brevity: straight lines, since X is linear in a.

    Each system has its own dashes and sign, and its name at both ends: no colour is needed to tell them apart. A dashed
    upright stands at `chosen`, the project's own a; diamonds on the axis at each of `crossings`, where two systems
    change places. Of many systems, those that are `named` alone; the lines of the others lie grey behind them.
    """
    shown = named(systems, chosen)
    others = [of for of in systems if of not in shown]
    room = min(LONGEST_NAME, max((text_width(of.system, NAME_SIZE) for of in shown), default=0.0))
    left = AXIS + 8 + room + BESIDE
    right = left + PLOT
    bottom = max(LOWEST, TOP + NAME_STEP * len(shown))
    sideways = Scale(0.0, 1.0, left, right, FIFTHS)
    values = [value for of in systems for value in (of.brevity, of.coverage)]
    up = fitted(values, bottom, TOP, floor=0.0, ceiling=1.0)
    shapes = across(sideways, TOP, bottom, "a, the weight of coverage")
    # The names at a = 0 stand between the axis and its lines.
    shapes += upright(up, AXIS, right, "Composite X")
    shapes += _chosen(chosen, sideways, bottom)
    ends = (sideways.start, sideways.end)
    for of in others:
        points = [(ends[0], up.at(of.brevity)), (ends[1], up.at(of.coverage))]
        shapes.append(path("line-rest", points, hint=of.system))
    for place, of in enumerate(shown):
        shapes.append(
            path(
                LINES[place % len(LINES)],
                [(sideways.start, up.at(of.brevity)), (sideways.end, up.at(of.coverage))],
                hint=of.system,
            )
        )
    for place, of in enumerate(shown):
        shapes += _signs(of, place, len(shown), sideways, up)
    weights = sorted(set(crossings))
    shapes += [diamond("mark-2", sideways.at(a), bottom, 3.5) for a in weights]
    shapes += _names(shown, [up.at(of.brevity) for of in shown], left, bottom, is_left=True)
    shapes += _names(shown, [up.at(of.coverage) for of in shown], right, bottom, is_left=False)
    crossed = (
        f" Diamonds: weights at which these systems change places, {len(weights):,} in all."
        if weights
        else ""
    )
    greyed = (
        f" Grey: the other {len(others):,} systems, named in the numbers; in front are the {len(shown)} highest at "
        f"a = {chosen:.2f}."
        if others
        else ""
    )
    return Picture(
        name="composite-by-weight",
        title=title,
        description=(
            f"{counted(len(systems), 'straight line')} from mean brevity at a = 0 to mean coverage at a = 1, each with "
            f"its own dashes and sign, named at both ends.{greyed}{_told_of_best(systems, chosen)}{crossed}"
        ),
        caption=f"{caption}{greyed}{crossed}".strip(),
        drawing=Drawing(round(right + BESIDE + room + 6), bottom + 48, tuple(shapes)),
        columns=("system", "brevity", "coverage", "composite_at_own_a"),
        rows=tuple((of.system, of.brevity, of.coverage, of.at(chosen)) for of in systems),
    )


def named(systems: Sequence[CompositeLine], chosen: float) -> list[CompositeLine]:
    """The systems that are named in a picture of all of these: of many the highest at the weight in force."""
    if len(systems) < NAMED_FROM:
        return list(systems)
    return sorted(systems, key=lambda of: -of.at(chosen))[:NAMED]


def _told_of_best(systems: Sequence[CompositeLine], chosen: float) -> str:
    """Who is highest where there is anybody to be higher than."""
    if len(systems) < 2:
        return ""
    best = max(systems, key=lambda of: of.at(chosen))
    return f" At a = {chosen:.2f} {best.system} is highest, with {best.at(chosen):.3f}."


def _chosen(a: float, sideways: Scale, bottom: float) -> list[Shape]:
    x, text = sideways.at(a), f"a = {a:.2f}"
    told = (
        words(text, x - 5, TOP + 12, paint="soft", size=11, anchor="end")
        if a > 0.8
        else words(text, x + 5, TOP + 12, paint="soft", size=11)
    )
    return [line("guide", x, TOP, x, bottom), told]


def _signs(of: CompositeLine, place: int, count: int, sideways: Scale, up: Scale) -> list[Shape]:
    """A system's sign along its line, at weights at which no other system has one, so that none hides another."""
    weights = [(number + (place + 0.5) / count) / SIGNS_ON_A_LINE for number in range(SIGNS_ON_A_LINE)]
    sign = SIGNS[place % len(SIGNS)]
    return [sign(sideways.at(a), up.at(of.at(a))) for a in weights]


def _names(
    systems: Sequence[CompositeLine], ends: Sequence[float], x: float, bottom: float, *, is_left: bool
) -> list[Shape]:
    """Each name with its sign beside the end of its line, apart from the others, and a line to it."""
    way, anchor = (-1, "end") if is_left else (1, "start")
    shapes: list[Shape] = []
    for place, (of, end, y) in enumerate(
        zip(systems, ends, apart(ends, NAME_STEP, TOP, bottom), strict=True)
    ):
        name = clipped_within(of.system, LONGEST_NAME, NAME_SIZE)
        hint = of.system if name != of.system else ""
        shapes.append(line("leader", x, end, x + way * 17, y))
        shapes.append(SIGNS[place % len(SIGNS)](x + way * 23, y))
        shapes.append(
            words(name, x + way * BESIDE, y + 4, paint="name", size=NAME_SIZE, anchor=anchor, hint=hint)
        )
    return shapes
