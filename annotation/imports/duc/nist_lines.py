"""Lines of NIST's result tables: which layouts there are, and a line's cells read as what they must be.

Columns are counted from 0, as in the public parsers that the layouts were read from. What a column means is
known for the ones below; the others stay with the line as it stood. Nothing says what the header lines of
2002 and 2004 hold, so they are counted and passed over.
"""

from __future__ import annotations

import io
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from annotation.core.text_faults import printable
from annotation.imports.dataset import PublishedLine, TargetWords
from annotation.imports.problems import Problems
from annotation.models import PublishedScore

NistTable = PublishedScore.Table

MAX_LINE_CHARACTERS = 20_000
MAX_CELL_CHARACTERS = 100
MAX_LETTERS = 20

_WHOLE = re.compile(r"\d{1,9}")
_DECIMAL = re.compile(r"\d{1,4}(\.\d{1,6})?")
SCORE = re.compile(r"-?\d{1,4}(\.\d{1,6})?")
_NUMBER = re.compile(r"-+|-?\d{1,9}(\.\d{1,6})?")
_DASHES = re.compile(r"-+")
_SUMMARISER = re.compile(r"[A-Za-z]{1,20}|0|[1-9]\d{0,8}")
SET_NAME = re.compile(r"[A-Za-z]{0,10}\d[\w-]{0,40}")


@dataclass(frozen=True, slots=True)
class LineLayout:
    """Where a table of one unit of work a line keeps what; `width` is its number of columns."""

    table: PublishedScore.Table
    width: int
    header_lines: int
    selector: int
    system: int
    quality: range
    unmarked: int
    counts: range
    coverage: range
    adjusted: range | None = None
    words: int | None = None
    unread: tuple[int, ...] = ()


LAYOUTS = (
    LineLayout(
        NistTable.DUC_2002,
        33,
        37,
        5,
        8,
        range(10, 22),
        22,
        range(23, 27),
        range(27, 30),
        range(30, 33),
        4,
        (9,),
    ),
    LineLayout(
        NistTable.DUC_2003,
        34,
        0,
        5,
        8,
        range(11, 23),
        23,
        range(24, 28),
        range(28, 31),
        range(31, 34),
        4,
        (9, 10),
    ),
    LineLayout(NistTable.DUC_2004, 23, 34, 4, 7, range(8, 15), 15, range(16, 20), range(20, 23)),
)

FIRST_UNIT_2001 = 17

HIGHEST_RESPONSE = 5
"""Scales of responsiveness began at 0 until 2004 and ended at 5 from 2005."""

_RESPONSE = re.compile(rf"0{{0,8}}[0-{HIGHEST_RESPONSE}]")


def is_almost(cells: Sequence[str]) -> bool:
    """Whether a line begins as the lines of all these tables do, however many columns it has."""
    return len(cells) >= 10 and cells[1] in {"M", "P"} and _WHOLE.fullmatch(cells[3]) is not None


def is_tabular(cells: Sequence[str]) -> bool:
    """Whether a line is cells between white space, begun by a set and most of them numbers: no row of a CSV."""
    return (
        len(cells) >= 10
        and SET_NAME.fullmatch(cells[0]) is not None
        and 2 * sum(_NUMBER.fullmatch(cell) is not None for cell in cells) > len(cells)
    )


def shape_of(cells: Sequence[str]) -> NistTable | None:
    if len(cells) < FIRST_UNIT_2001 or not is_almost(cells):
        return None
    # A line of 2001 with two model units is as wide as one of 2004, which has decimals where 2001 has none.
    is_2001 = _WHOLE.fullmatch(cells[14]) and len(cells) == FIRST_UNIT_2001 + 3 * int(cells[14])
    if is_2001 and not any("." in cell for cell in cells[15:]):
        return NistTable.DUC_2001
    return next((layout.table for layout in LAYOUTS if layout.width == len(cells)), None)


class BadCell(ValueError):
    def __init__(self, column: int, reason: str) -> None:
        super().__init__(reason)
        self.column = column
        self.reason = reason


@dataclass(slots=True)
class Cells:
    """The cells of one line, read as what they must be."""

    cells: Sequence[str]

    def name(self, column: int, *, longest: int = MAX_CELL_CHARACTERS) -> str:
        value = self.cells[column]
        if len(value) > longest:
            raise BadCell(column, f"has {len(value)} characters; a name may have {longest}.")
        return value

    def letters(self, column: int) -> str:
        value = self.name(column, longest=MAX_LETTERS)
        return "" if _DASHES.fullmatch(value) else value

    def document(self, column: int) -> str:
        value = self.name(column)
        return "" if _DASHES.fullmatch(value) else value

    def _matching(self, column: int, pattern: re.Pattern[str], what: str) -> str:
        value = self.cells[column]
        if not pattern.fullmatch(value):
            raise BadCell(column, f"is {printable(value)!r}, not {what}.")
        return value

    def whole(self, column: int) -> int:
        return int(self._matching(column, _WHOLE, "a whole number"))

    def target(self, column: int) -> TargetWords:
        return self.whole(column) or None

    def score(self, column: int) -> float | int:
        value = self._matching(column, SCORE, "a score")
        return float(value) if "." in value else int(value)

    def summariser(self, column: int) -> str:
        """The number or the letters of who wrote a summary; a target length such as 050 is none."""
        self.name(column)
        return self._matching(
            column, _SUMMARISER, "a summariser: a letter, or a number that does not begin with 0"
        )

    def response(self, column: int) -> int:
        return int(self._matching(column, _RESPONSE, f"a whole number from 0 to {HIGHEST_RESPONSE}"))

    def answer(self, column: int) -> float | int | None:
        """A score, or None where a dash says that it was not asked for."""
        return None if self.cells[column] == "-" else self.score(column)

    def share(self, column: int) -> float | None:
        value = self.cells[column]
        if value == "-":
            return None
        if not _DECIMAL.fullmatch(value) or float(value) > 1:
            raise BadCell(column, f"is {printable(value)!r}, not a share from 0 to 1.")
        return float(value)


@dataclass(slots=True)
class TableReader(ABC):
    """Reads a table line by line. Lines before the first one of a known layout are its header."""

    file: str
    problems: Problems
    header_lines: int = 0
    bad_lines: int = 0
    has_begun: bool = False
    nearest: tuple[int, BadCell] | None = None
    """The first line that is wide enough for a row and is none, and why."""

    def rows(self, content: str) -> Iterator[PublishedLine]:
        for number, line in enumerate(io.StringIO(content, newline="\n"), start=1):
            if len(line) > MAX_LINE_CHARACTERS:
                self._complain(number, "", f"is longer than {MAX_LINE_CHARACTERS:,} characters.")
                continue
            cells = line.split()
            if not self.has_begun and not self.begins(cells):
                self.header_lines += 1
                if self.is_foreign(cells):
                    self._complain(number, "", _unknown_table(number, cells))
                continue
            self.has_begun = True
            if not cells:
                continue
            row = self._row(number, cells)
            if row is not None:
                yield row

    def _row(self, number: int, cells: list[str]) -> PublishedLine | None:
        fault = self.fault(cells)
        if fault:
            self._complain(number, "", fault)
            return None
        try:
            return self.read(number, Cells(cells))
        except BadCell as error:
            self._complain(number, f"column {error.column}", error.reason)
            return None

    def _complain(self, number: int, column: str, reason: str) -> None:
        self.bad_lines += 1
        self.problems.add(number, column, reason, file=self.file)

    @abstractmethod
    def begins(self, cells: Sequence[str]) -> bool:
        """Whether the header ends here: these are cells of a row."""

    def is_foreign(self, cells: Sequence[str]) -> bool:
        """Whether a line before the first row is no header but a row of a table that is not known."""
        return is_almost(cells)

    @abstractmethod
    def fault(self, cells: Sequence[str]) -> str:
        """Why a line cannot be one of this table; "" where it can."""

    @abstractmethod
    def read(self, number: int, cells: Cells) -> PublishedLine:
        """What a row says. Raises BadCell."""

    def about(self, row: PublishedLine) -> tuple[object, ...]:
        """What a row is about and who says it: a table says such a thing once."""
        people = (row.selector, row.model_author, row.assessor)
        return (row.set_name, row.document, row.target, row.system, *people)

    @abstractmethod
    def remarks(self, found: Sequence[PublishedLine]) -> Iterator[str]:
        """What is to be reported of the table as a whole."""


def _unknown_table(number: int, cells: Sequence[str]) -> str:
    known = ", ".join(f"{layout.width} ({layout.table.label})" for layout in LAYOUTS)
    return (
        f"not a known table: line {number} has {len(cells)} columns, {_first_cells(cells)}. Known are lines that "
        f"begin with a set, M or P, a document or dashes and a target length, of {known} columns, and of "
        f"{FIRST_UNIT_2001} with 3 more for each of the model units that column 14 counts ({NistTable.DUC_2001.label})."
    )


def passed_over(lines: int) -> str:
    if not lines:
        return "no lines stand before the first row"
    return f"{lines} {'line was' if lines == 1 else 'lines were'} passed over before the first row"


def _first_cells(cells: Sequence[str]) -> str:
    return f"the first of them {printable(' '.join(cells[:4]))!r}"
