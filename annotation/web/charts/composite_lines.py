"""The composite of each system as the weight of coverage goes from nothing to all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.web.charts.kit import Drawing, Shape, circle, diamond, line, path, words
from annotation.web.charts.layout import Box, Scale, across, apart, clipped, fitted, upright
from annotation.web.charts.picture import Picture

WIDTH = 760
FRAME = Box(64, 14, 560, 474)
LONGEST_NAME = 176
NAME_STEP = 14
FIFTHS = tuple(place / 5 for place in range(6))


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

    A dashed upright stands at `chosen`, the project's own a; diamonds on the axis at each of `crossings`, where two
    systems change places.
    """
    sideways = Scale(0.0, 1.0, FRAME.left, FRAME.right, FIFTHS)
    values = [value for of in systems for value in (of.brevity, of.coverage)]
    up = fitted(values, FRAME.bottom, FRAME.top, floor=0.0, ceiling=1.0)
    shapes = across(sideways, FRAME.top, FRAME.bottom, "a, the weight of coverage")
    shapes += upright(up, FRAME.left, FRAME.right, "Composite X")
    shapes.append(line("guide", sideways.at(chosen), FRAME.top, sideways.at(chosen), FRAME.bottom))
    text = f"a = {chosen:.2f}"
    if chosen > 0.8:
        shapes.append(
            words(text, sideways.at(chosen) - 5, FRAME.top + 12, paint="soft", size=11, anchor="end")
        )
    else:
        shapes.append(words(text, sideways.at(chosen) + 5, FRAME.top + 12, paint="soft", size=11))
    shapes += [
        path(
            "line-thin",
            [(sideways.start, up.at(of.brevity)), (sideways.end, up.at(of.coverage))],
            hint=of.system,
        )
        for of in systems
    ]
    shapes += [diamond("mark-2", sideways.at(a), FRAME.bottom, 3.5) for a in crossings]
    shapes += _names(systems, up)
    best = max(systems, key=lambda of: of.at(chosen), default=None)
    leads = f" At a = {chosen:.2f} {best.system} is highest, with {best.at(chosen):.3f}." if best else ""
    crossed = (
        f" Diamonds: the {len(crossings)} weights at which two systems change places." if crossings else ""
    )
    return Picture(
        name="composite-by-weight",
        title=title,
        description=(
            f"{len(systems)} straight lines from mean brevity at a = 0 to mean coverage at a = 1.{leads}{crossed}"
        ),
        caption=f"{caption}{crossed}".strip(),
        drawing=Drawing(WIDTH, 522, tuple(shapes)),
        columns=("system", "brevity", "coverage", "composite_at_own_a"),
        rows=tuple((of.system, of.brevity, of.coverage, of.at(chosen)) for of in systems),
    )


def _names(systems: Sequence[CompositeLine], up: Scale) -> list[Shape]:
    """Each name beside the end of its line, apart from the others, with a line to it where it had to move."""
    ends = [up.at(of.coverage) for of in systems]
    shapes: list[Shape] = []
    for of, end, y in zip(systems, ends, apart(ends, NAME_STEP, FRAME.top, FRAME.bottom), strict=True):
        shapes.append(circle("mark", FRAME.right, end, 3))
        shapes.append(line("leader", FRAME.right + 3, end, FRAME.right + 18, y))
        shapes.append(words(clipped(of.system, LONGEST_NAME, 11), FRAME.right + 21, y + 4, size=11))
    return shapes
