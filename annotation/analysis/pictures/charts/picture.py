"""A finished picture: on a page, as a file, and as the table behind it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING

from django.utils.safestring import SafeString, mark_safe

from annotation.analysis.pictures.charts.kit import FONTS, Drawing, Shape, line, plain, words
from annotation.analysis.pictures.charts.layout import wrapped

if TYPE_CHECKING:
    from annotation.core.tables.columns import Cell

FONT = Path(__file__).resolve().parent / "fonts" / "DejaVuSans.ttf"
FONT_NAME = "DejaVu Sans"
ZOOM = 3
"""Points of a PNG for each pixel of the drawing: some 300 dots an inch at the width of a page."""
MARGIN = 14
TITLE_SIZE, CAPTION_SIZE = 12.5, 11
LEADING = 1.45
"""From one line of the words below a drawing to the next, in parts of their size."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing with its words and its numbers.

    `name` is that of its files, `title` what it shows and `description` how, for whoever cannot see it; `caption` says
    what its intervals cover and what is left out. `columns` and `rows` hold every number that is drawn, and `links`
    where a cell, named by its row and column, leads. The columns from `names_from` on are named by people. One that
    `keeps_size` is not fitted into a page but scrolled.
    """

    name: str
    title: str
    description: str
    caption: str
    drawing: Drawing
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    links: Mapping[tuple[int, int], str] = field(default_factory=dict)
    names_from: int | None = None
    keeps_size: bool = False

    @property
    def is_empty(self) -> bool:
        return not self.rows

    @property
    def svg(self) -> SafeString:
        """For a page that has `css/pictures.css`. A picture with links is a group of them, any other one image."""
        role = "group" if self.drawing.has_links else "img"
        inside = self.drawing.on_page()
        named = self._named("page", self.drawing)
        # Every text in it has been escaped by `plain`, and every number comes from `number`.
        kept = " at-size" if self.keeps_size else ""
        whole = f'<svg class="picture{kept}" role="{role}" {named}>{self._told("page")}{inside}</svg>'
        return mark_safe(whole)  # noqa: S308

    @property
    def standalone(self) -> str:
        """A file by itself: colours resolved, fonts by their common names, title and caption below the drawing."""
        whole = self._with_words()
        named = self._named("file", whole)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" font-family="{FONTS}" role="img" {named}>'
            f"{self._told('file')}{whole.in_file()}</svg>"
        )

    @property
    def png(self) -> bytes:
        """The same as pixels. The fonts of this machine serve for what the one that comes with it does not hold."""
        import resvg_py  # noqa: PLC0415 - pages show the drawing, files alone need pixels

        return resvg_py.svg_to_bytes(
            svg_string=self.standalone,
            zoom=ZOOM,
            font_files=[str(FONT)],
            font_family=FONT_NAME,
            sans_serif_family=FONT_NAME,
        )

    @property
    def fields(self) -> tuple[str, ...]:
        """The columns as a file names them: a name that people gave makes way where a column before has it."""
        taken: list[str] = []
        for name in self.columns:
            taken.append(_free(name, taken))
        return tuple(taken)

    @property
    def table(self) -> list[dict[str, Cell]]:
        """The rows by the names of their columns in a file."""
        names = self.fields
        return [dict(zip(names, row, strict=True)) for row in self.rows]

    @property
    def heads(self) -> list[tuple[str, bool]]:
        """The columns in words, and whether they hold numbers."""
        ours = self.columns[: self.names_from]
        words = [name.replace("_", " ") for name in ours]
        return [
            (name, all(_is_number(row[place]) for row in self.rows))
            for place, name in enumerate([*words, *self.columns[len(ours) :]])
        ]

    @property
    def lines(self) -> list[list[tuple[str, str, bool]]]:
        """The rows as a page writes them: each cell's text, where it leads, and whether it is a number."""
        return [
            [
                (_written(cell), self.links.get((number, place), ""), _is_number(cell))
                for place, cell in enumerate(row)
            ]
            for number, row in enumerate(self.rows)
        ]

    def _with_words(self) -> Drawing:
        """The drawing on a higher sheet that has its title and caption, which a page writes beside it."""
        room = self.drawing.width - 2 * MARGIN
        told = [
            (text, paint, size)
            for whole, paint, size in (
                (self.title, "ink", TITLE_SIZE),
                (self.caption, "soft", CAPTION_SIZE),
            )
            for text in wrapped(whole, room, size)
        ]
        foot = float(self.drawing.height + MARGIN)
        shapes: list[Shape] = [line("grid", MARGIN, foot, MARGIN + room, foot)]
        foot += MARGIN / 2
        for text, paint, size in told:
            foot += size * LEADING
            shapes.append(words(text, MARGIN, foot, paint=paint, size=size))
        return Drawing(self.drawing.width, math.ceil(foot + MARGIN), self.drawing.shapes + tuple(shapes))

    def _named(self, where: str, drawing: Drawing) -> str:
        width, height = drawing.width, drawing.height
        named = f"{self.name}-{where}"
        return (
            f'width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            f'aria-labelledby="{named}-title" aria-describedby="{named}-desc"'
        )

    def _told(self, where: str) -> str:
        named = f"{self.name}-{where}"
        return (
            f'<title id="{named}-title">{plain(self.title)}</title>'
            f'<desc id="{named}-desc">{plain(self.description)}</desc>'
        )


def _free(name: str, taken: Sequence[str]) -> str:
    """The name, or the first of "name (2)", "name (3)", … that is not taken."""
    names = chain([name], (f"{name} ({number})" for number in count(2)))
    return next(each for each in names if each not in taken)


def _is_number(cell: Cell) -> bool:
    return cell is None or isinstance(cell, int | float)


def _written(cell: Cell) -> str:
    """Three decimals of a number with any; a dash where there is none, never 0."""
    if cell is None:
        return "–"
    return f"{cell:.3f}" if isinstance(cell, float) else str(cell)
