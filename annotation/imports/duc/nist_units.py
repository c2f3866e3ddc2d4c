"""NIST's tables with a line for each peer summary and assessor, of DUC 2001 to 2004."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from annotation.core.text_faults import printable
from annotation.imports.dataset import PublishedLine
from annotation.imports.duc.nist_lines import (
    FIRST_UNIT_2001,
    LAYOUTS,
    BadCell,
    Cells,
    LineLayout,
    NistTable,
    TableReader,
    is_almost,
    is_tabular,
    passed_over,
    shape_of,
)
from evaluation.metrics import CoverageStatistics, brevity, length_adjusted

_ROUNDING = 0.0011
"""Two figures of three decimals each may differ by this much without contradicting each other."""

_MARKS = re.compile(r"-|\d{1,6}(,\d{1,6})*")

Percents = tuple[tuple[int, int, tuple[int, ...]], ...]
"""Of each model unit its number from 1, its percent, and the numbers of the marked peer units."""


@dataclass(slots=True)
class UnitReader(TableReader):
    """Tables with a line for each peer summary and assessor."""

    table: NistTable | None = None

    def begins(self, cells: Sequence[str]) -> bool:
        self.table = shape_of(cells)
        return self.table is not None

    def is_foreign(self, cells: Sequence[str]) -> bool:
        return is_almost(cells) or is_tabular(cells)

    def fault(self, cells: Sequence[str]) -> str:
        shape = shape_of(cells)
        if shape is self.table:
            return ""
        if shape is not None:
            return f"is a line of {shape.label}, and the table began as {self._name}. Split it."
        layout = self._layout
        wanted = (
            f"{layout.width} columns"
            if layout
            else f"{FIRST_UNIT_2001} columns and 3 for each of the model units that column 14 counts"
        )
        return (
            f"has {len(cells)} columns and does not read like a line of {self._name}: {wanted}, M or P in "
            "column 1, a target length in column 3."
        )

    @property
    def _name(self) -> str:
        assert self.table is not None, "a table has begun"
        return str(self.table.label)

    @property
    def _layout(self) -> LineLayout | None:
        return next((layout for layout in LAYOUTS if layout.table is self.table), None)

    def read(self, number: int, cells: Cells) -> PublishedLine:
        layout = self._layout
        figures, mean, percents = _of_2001(cells) if layout is None else _of_layout(cells, layout)
        selector, system = (4, 7) if layout is None else (layout.selector, layout.system)
        document = cells.document(2)
        if (cells.cells[1] == "P") is not bool(document):
            raise BadCell(2, "names a document in a line of M, or none in a line of P.")
        return PublishedLine(
            file=self.file,
            line=number,
            table=str(self.table),
            cells=tuple(cells.cells),
            set_name=cells.name(0),
            document=document,
            target=cells.target(3),
            selector=cells.letters(selector),
            model_author=cells.letters(system - 2),
            assessor=cells.letters(system - 1),
            system=cells.name(system),
            mean=mean,
            figures=figures,
            percents=percents,
        )

    def remarks(self, found: Sequence[PublishedLine]) -> Iterator[str]:
        if self.table is None:
            return
        layout = self._layout
        expected = layout.header_lines if layout else 0
        if self.header_lines != expected:
            yield (f"{passed_over(self.header_lines)}; {self._name} has {expected}.")
        if layout is None:
            yield from _remarks_of_2001(found)
            return
        yield (
            "its coverage figures are of whole summaries, so they stand beside the project's scores and are no "
            "part of them; the marks and percents of single units are not in such a table."
        )
        if layout.unread:
            columns = " and ".join(map(str, layout.unread))
            yield f"column {columns} was not read, only kept with the line: what it says is not documented."
        broken = sum(not _adjusts(row) for row in found)
        if broken:
            yield (
                f"{broken:,} of {len(found):,} length-adjusted means are not 2/3 of the coverage and 1/3 of the "
                "brevity that target and words give; in 2003 longer summaries were penalised otherwise."
            )


def _of_layout(cells: Cells, layout: LineLayout) -> tuple[dict[str, object], float | None, Percents]:
    mean, median, deviation = (cells.share(column) for column in layout.coverage)
    peer_units, marked, unmarked, model_units = (cells.whole(column) for column in layout.counts)
    figures: dict[str, object] = {
        "mean": mean,
        "median": median,
        "deviation": deviation,
        "quality": [cells.answer(column) for column in layout.quality],
        "unmarked": cells.share(layout.unmarked),
        "peer_units": peer_units,
        "marked_units": marked,
        "unmarked_units": unmarked,
        "model_units": model_units,
    }
    if layout.words is not None:
        figures["words"] = cells.whole(layout.words)
    if layout.adjusted is not None:
        names = ("adjusted_mean", "adjusted_median", "adjusted_deviation")
        figures |= {name: cells.share(column) for name, column in zip(names, layout.adjusted, strict=True)}
    return figures, mean, ()


def _of_2001(cells: Cells) -> tuple[dict[str, object], float | None, Percents]:
    """Scores of 0 to 4 per model unit, numbered from 0, each with a peer unit that was marked for it."""
    count = cells.whole(14)
    said: list[tuple[int, int, tuple[int, ...]]] = []
    for column in range(FIRST_UNIT_2001, FIRST_UNIT_2001 + 3 * count, 3):
        value = cells.whole(column + 1)
        if value > 4:
            raise BadCell(column + 1, f"is {value}, not a score from 0 to 4.")
        if not _MARKS.fullmatch(cells.cells[column + 2]):
            raise BadCell(
                column + 2,
                f"is {printable(cells.cells[column + 2])!r}, neither - nor the number of a peer unit.",
            )
        marks = cells.cells[column + 2].replace("-", "")
        said.append((cells.whole(column), 25 * value, tuple(int(mark) for mark in marks.split(",") if mark)))
    numbers = sorted(number for number, _, _ in said)
    if numbers not in (list(range(count)), list(range(1, count + 1))):
        raise BadCell(
            FIRST_UNIT_2001, f"and the triples after it do not name {count} model units, each once."
        )
    first = numbers[0] if numbers else 0
    percents = tuple((number - first + 1, percent, marks) for number, percent, marks in said)
    mean = sum(percent for _, percent, _ in percents) / count / 100 if count else None
    figures: dict[str, object] = {
        "mean": mean,
        "quality": [cells.answer(column) for column in range(8, 11)],
        "unmarked_questions": [cells.answer(column) for column in range(11, 14)],
        "model_units": count,
        "unit_counts": [cells.whole(15), cells.whole(16)],
    }
    return figures, mean, percents


def _remarks_of_2001(found: Sequence[PublishedLine]) -> Iterator[str]:
    yield (
        "scores of 0 to 4 became 0, 25, 50, 75 and 100 %; the three quality answers, the three answers about "
        "unmarked units and columns 15 and 16 (counts of peer units) stand with the line."
    )
    if any(marks for row in found for _, _, marks in row.percents):
        yield (
            "nothing says whether its peer units count from 0 or from 1, so the marked ones stand with the line "
            "and were not made marks."
            if _first_mark(found) is None
            else f"its peer units count from {_first_mark(found)}, so the marked ones became marks."
        )


def _first_mark(found: Sequence[PublishedLine]) -> int | None:
    """From which number a table of 2001 counts its peer units; None where its lines leave that open.

    A 0 among the marks tells one, a mark as high as the larger of the line's counts of peer units the other.
    A line that marks a peer unit beyond those counts tells nothing.
    """
    has_zero = has_last = False
    for row in (row for row in found if row.percents):
        marks = {mark for _, _, of_unit in row.percents for mark in of_unit}
        last = max(int(row.cells[15]), int(row.cells[16]))
        if not marks or max(marks) > last:
            continue
        has_zero |= 0 in marks
        has_last |= last > 0 and last in marks
    if has_zero is has_last:
        return None
    return 0 if has_zero else 1


def counted_from_one(found: Sequence[PublishedLine]) -> Iterator[PublishedLine]:
    """The rows of one table with marks that count peer units as we do, or with none where it does not tell."""
    first = _first_mark(found)
    for row in found:
        percents = tuple(
            (number, percent, () if first is None else tuple(sorted(mark - first + 1 for mark in marks)))
            for number, percent, marks in row.percents
        )
        yield replace(row, percents=percents)


def marks_beyond(row: PublishedLine, units: int) -> list[tuple[int, int]]:
    """(column, number as the line has it) of each marked peer unit that a summary of so many units lacks.

    Where the table does not tell from which number it counts, a number is beyond if it is so in either case.
    """
    found: list[tuple[int, int]] = []
    for column, (_, _, marks) in zip(
        range(FIRST_UNIT_2001 + 2, len(row.cells), 3), row.percents, strict=True
    ):
        written = sorted(int(mark) for mark in row.cells[column].split(",") if mark != "-")
        counted = marks or written
        lowest = 1 if marks else 0
        found += [
            (column, as_written)
            for as_written, mark in zip(written, counted, strict=True)
            if not lowest <= mark <= units
        ]
    return found


def _adjusts(row: PublishedLine) -> bool:
    """Whether a line's length-adjusted mean follows from its coverage, words and target."""
    words, adjusted = row.figures.get("words"), row.figures.get("adjusted_mean")
    if (
        not isinstance(words, int)
        or not isinstance(adjusted, float)
        or row.mean is None
        or row.target is None
    ):
        return True
    expected = length_adjusted(
        CoverageStatistics(mean=row.mean, median=None, deviation=None, units=1), brevity(words, row.target)
    ).mean
    return expected is not None and abs(expected - adjusted) <= _ROUNDING
