"""The shapes that pictures are put together from, and how they become SVG.

A shape says where it stands and what it is, never its colour: on a page its class is painted by `css/pictures.css`, in
a file by `PAPER`. The policy of the pages allows neither styles nor scripts within them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from html import escape

Number = float | int

INK, SOFT, LINE, GRID, SHEET = "#1c1e21", "#4d5157", "#8b8e94", "#e2dfd8", "#ffffff"
ACCENT, SECOND, YES, NO, UNSURE = "#0b5c8a", "#a53800", "#00694e", "#a53800", "#6b4b8a"

PAPER: Mapping[str, Mapping[str, str]] = {
    "ink": {"fill": INK},
    "soft": {"fill": SOFT},
    # A rim of the sheet's colour keeps a name readable over lines.
    "name": {
        "fill": INK,
        "stroke": SHEET,
        "stroke-width": "3",
        "stroke-linejoin": "round",
        "paint-order": "stroke",
    },
    "axis": {"stroke": LINE, "stroke-width": "1", "fill": "none"},
    "grid": {"stroke": GRID, "stroke-width": "1", "fill": "none"},
    "guide": {"stroke": LINE, "stroke-width": "1", "stroke-dasharray": "5 4", "fill": "none"},
    "leader": {"stroke": SOFT, "stroke-width": ".75", "fill": "none"},
    "span": {"stroke": ACCENT, "stroke-width": "2.5", "stroke-linecap": "round", "opacity": ".55"},
    "span-thin": {"stroke": ACCENT, "stroke-width": "1.5", "opacity": ".35"},
    "mark": {"fill": ACCENT, "stroke": SHEET, "stroke-width": "1"},
    "hollow": {"fill": SHEET, "stroke": ACCENT, "stroke-width": "1.75"},
    "line": {"stroke": ACCENT, "stroke-width": "1.75", "fill": "none"},
    "line-2": {"stroke": SECOND, "stroke-width": "1.75", "fill": "none"},
    "line-thin": {"stroke": ACCENT, "stroke-width": "1.25", "fill": "none", "opacity": ".8"},
    # Lines that are told apart by their dashes, so that no colour is needed.
    "line-dashed": {
        "stroke": ACCENT,
        "stroke-width": "1.25",
        "stroke-dasharray": "8 4",
        "fill": "none",
        "opacity": ".8",
    },
    "line-dotted": {
        "stroke": ACCENT,
        "stroke-width": "1.25",
        "stroke-dasharray": "2 3",
        "fill": "none",
        "opacity": ".8",
    },
    "line-mixed": {
        "stroke": ACCENT,
        "stroke-width": "1.25",
        "stroke-dasharray": "9 3 2 3",
        "fill": "none",
        "opacity": ".8",
    },
    "line-rest": {"stroke": LINE, "stroke-width": "1", "fill": "none", "opacity": ".5"},
    "mark-2": {"fill": SECOND, "stroke": SHEET, "stroke-width": "1"},
    "block": {"fill": ACCENT, "opacity": ".35"},
    "group": {"stroke": INK, "stroke-width": "1.5", "stroke-linecap": "round"},
    "yes": {"fill": YES},
    "no": {"stroke": NO, "stroke-width": "1.5", "fill": "none", "stroke-linecap": "round"},
    "unsure": {"fill": UNSURE},
    "unscored": {"fill": SOFT},
    "person": {"fill": INK, "stroke": SHEET, "stroke-width": ".75"},
    "touch": {"fill": "none"},
    "cell": {"fill": "none", "stroke": GRID, "stroke-width": "1"},
}
"""What each class looks like in a file, which is read on paper or on white."""

UNWRITABLE = re.compile("[^\\t\\n\\x20-\\x7e\\x85\\xa0-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
"""What XML does not allow, and control characters that it advises against."""
FONTS = "'DejaVu Sans', Verdana, Helvetica, Arial, sans-serif"


@dataclass(frozen=True, slots=True)
class Shape:
    """One element. `href` makes it a link on a page; files have no links. `hint` is told under the pointer."""

    tag: str
    paint: str
    at: Mapping[str, Number | str]
    text: str = ""
    hint: str = ""
    href: str = ""


@dataclass(frozen=True, slots=True)
class Drawing:
    """Shapes on a sheet of this size, in pixels, the later ones over the earlier ones."""

    width: int
    height: int
    shapes: tuple[Shape, ...]

    @property
    def has_links(self) -> bool:
        return any(shape.href for shape in self.shapes)

    def on_page(self) -> str:
        """The elements as a page holds them, painted by its stylesheet."""
        return "".join(_linked(shape, _element(shape, {"class": shape.paint})) for shape in self.shapes)

    def in_file(self) -> str:
        """The same with their colours resolved, on a white sheet."""
        sheet = f'<rect width="{self.width}" height="{self.height}" fill="{SHEET}"/>'
        return sheet + "".join(_element(shape, PAPER[shape.paint]) for shape in self.shapes)


def line(paint: str, x1: Number, y1: Number, x2: Number, y2: Number) -> Shape:
    return Shape("line", paint, {"x1": x1, "y1": y1, "x2": x2, "y2": y2})


def path(paint: str, points: Iterable[tuple[float, float]], *, hint: str = "") -> Shape:
    """A line through the points."""
    steps = " L".join(f"{number(x)} {number(y)}" for x, y in points)
    return Shape("path", paint, {"d": f"M{steps}"}, hint=hint)


def polygon(paint: str, *points: tuple[float, float]) -> Shape:
    return Shape("polygon", paint, {"points": " ".join(f"{number(x)},{number(y)}" for x, y in points)})


def circle(paint: str, x: Number, y: Number, radius: Number, *, hint: str = "") -> Shape:
    return Shape("circle", paint, {"cx": x, "cy": y, "r": radius}, hint=hint)


def diamond(paint: str, x: float, y: float, radius: float) -> Shape:
    return polygon(paint, (x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y))


def rectangle(
    paint: str, x: Number, y: Number, width: Number, height: Number, *, hint: str = "", href: str = ""
) -> Shape:
    return Shape("rect", paint, {"x": x, "y": y, "width": width, "height": height}, hint=hint, href=href)


def label_mark(label: str | None, x: float, y: float, cell: float) -> Iterator[Shape]:
    """The mark of a label in a square cell whose upper left corner is given: told by shape as well as by colour."""
    low, high = 2.0, cell - 2.0
    match label:
        case "yes":
            yield rectangle("yes", x + low, y + low, high - low, high - low)
        case "no":
            # A little off the middle, clear of the corner that tells of a person.
            yield line("no", x + 5.5, y + 7.5, x + 12.5, y + 14.5)
            yield line("no", x + 5.5, y + 14.5, x + 12.5, y + 7.5)
        case "unsure":
            yield polygon("unsure", (x + low, y + high), (x + high, y + high), (x + low, y + low))
        case _:
            yield circle("unscored", x + cell / 2, y + cell / 2, 2)


def words(
    text: str,
    x: float,
    y: float,
    *,
    paint: str = "ink",
    size: float = 12,
    anchor: str = "start",
    turned: float = 0,
    hint: str = "",
    href: str = "",
) -> Shape:
    """A line of text whose foot stands at `y`; `turned` in degrees about its anchor."""
    at: dict[str, Number | str] = {"x": x, "y": y, "font-size": size}
    if anchor != "start":
        at["text-anchor"] = anchor
    if turned:
        at["transform"] = f"rotate({number(turned)} {number(x)} {number(y)})"
    return Shape("text", paint, at, text=text, hint=hint, href=href)


# A grid has thousands of coordinates, most of them again and again.
@lru_cache(maxsize=4096)
def number(value: Number | str) -> str:
    """A coordinate to a tenth of a pixel."""
    if isinstance(value, str):
        return value
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")


def plain(text: str) -> str:
    """Text for XML: what it cannot hold, control characters above all, becomes a blank."""
    return escape(UNWRITABLE.sub(" ", text))


def _element(shape: Shape, paint: Mapping[str, str]) -> str:
    attributes = "".join(f' {name}="{number(value)}"' for name, value in _attributes(shape, paint))
    hint = f"<title>{plain(shape.hint)}</title>" if shape.hint else ""
    return f"<{shape.tag}{attributes}>{hint}{plain(shape.text)}</{shape.tag}>"


def _attributes(shape: Shape, paint: Mapping[str, str]) -> Iterator[tuple[str, Number | str]]:
    yield from paint.items()
    yield from shape.at.items()


def _linked(shape: Shape, element: str) -> str:
    # The table behind the picture has the same links for keyboards; hundreds of stops here would be in the way.
    return f'<a href="{escape(shape.href)}" tabindex="-1">{element}</a>' if shape.href else element
