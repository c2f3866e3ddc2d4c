"""NIST's result tables of DUC 2001 to 2004: columns between white space, told apart by how many there are.

Columns are counted from 0, as in the public parsers that the layouts were read from. What a column means is
known for the ones below; the others stay with the line as it stood. Nothing says what the header lines of
2002 and 2004 hold, so they are counted and passed over.
"""

from __future__ import annotations

import io
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from annotation.imports.dataset import Dataset, PublishedRow, Target
from annotation.imports.fields import printable
from annotation.imports.packages import Member, as_text
from annotation.imports.problems import Problems, Remarks
from annotation.models import PublishedScore
from evaluation import CoverageStatistics, brevity, length_adjusted

Table = PublishedScore.Table

MAX_LINE_CHARACTERS = 20_000
MAX_NAME_CHARACTERS = 100
MAX_LETTERS = 20
_ROUNDING = 0.0011
"""Two figures of three decimals each may differ by this much without contradicting each other."""

_WHOLE = re.compile(r"\d{1,9}")
_DECIMAL = re.compile(r"\d{1,4}(\.\d{1,6})?")
_SCORE = re.compile(r"-?\d{1,4}(\.\d{1,6})?")
_NUMBER = re.compile(r"-+|-?\d{1,9}(\.\d{1,6})?")
_DASHES = re.compile(r"-+")
_SUMMARISER = re.compile(r"[A-Za-z]{1,20}|0|[1-9]\d{0,8}")
_SET = re.compile(r"[A-Za-z]{0,10}\d[\w-]{0,40}")
_MARKS = re.compile(r"-|\d{1,6}(,\d{1,6})*")
_RESPONSES = re.compile(r"(?:^|[._-])table\.([RU])(?:\.|$)")


@dataclass(frozen=True, slots=True)
class Layout:
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
    Layout(
        Table.DUC_2002, 33, 37, 5, 8, range(10, 22), 22, range(23, 27), range(27, 30), range(30, 33), 4, (9,)
    ),
    Layout(
        Table.DUC_2003,
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
    Layout(Table.DUC_2004, 23, 34, 4, 7, range(8, 15), 15, range(16, 20), range(20, 23)),
)

FIRST_UNIT_2001 = 17

HIGHEST_RESPONSE = 5
"""Scales of responsiveness began at 0 until 2004 and ended at 5 from 2005."""


def looks_like_table(head: str, base_name: str) -> bool:
    """Whether the beginning of a file is that of a table; its header lines may be any text."""
    if _RESPONSES.search(base_name):
        return True
    return any(_is_almost(cells) or _is_tabular(cells) for cells in map(str.split, head.split("\n")[:200]))


def _is_almost(cells: Sequence[str]) -> bool:
    """Whether a line begins as the lines of all these tables do, however many columns it has."""
    return len(cells) >= 10 and cells[1] in {"M", "P"} and _WHOLE.fullmatch(cells[3]) is not None


def _is_tabular(cells: Sequence[str]) -> bool:
    """Whether a line is cells between white space, begun by a set and most of them numbers: no row of a CSV."""
    return (
        len(cells) >= 10
        and _SET.fullmatch(cells[0]) is not None
        and 2 * sum(_NUMBER.fullmatch(cell) is not None for cell in cells) > len(cells)
    )


def _shape(cells: Sequence[str]) -> Table | None:
    if len(cells) < FIRST_UNIT_2001 or not _is_almost(cells):
        return None
    # A line of 2001 with two model units is as wide as one of 2004, which has decimals where 2001 has none.
    is_2001 = _WHOLE.fullmatch(cells[14]) and len(cells) == FIRST_UNIT_2001 + 3 * int(cells[14])
    if is_2001 and not any("." in cell for cell in cells[15:]):
        return Table.DUC_2001
    return next((layout.table for layout in LAYOUTS if layout.width == len(cells)), None)


def take_table(member: Member, dataset: Dataset, problems: Problems, remarks: Remarks) -> None:
    """Add a table's lines to the data set, each checked; lines that are not of its layout are problems."""
    content, is_utf8 = as_text(member.data)
    if not is_utf8:
        remarks.add(member.name, "is not UTF-8: read as Windows-1252")
    responses = _RESPONSES.search(member.base)
    reader: _Reader
    if responses:
        reader = _ResponseReader(member.name, problems, letter=responses[1])
    else:
        reader = _UnitReader(member.name, problems)
    found = list(_told_once(reader, content, problems, remarks))
    if not found and not reader.bad_lines:
        _tell_no_line(reader, member.name, problems)
    for remark in reader.remarks(found):
        remarks.add(member.name, remark.removesuffix("."))
    dataset.published.extend(_counted_from_one(found))


def _told_once(reader: _Reader, content: str, problems: Problems, remarks: Remarks) -> Iterator[PublishedRow]:
    """The rows without those that repeat an earlier one; one that contradicts an earlier one is a problem."""
    earlier: dict[tuple[object, ...], PublishedRow] = {}
    for row in reader.rows(content):
        first = earlier.setdefault(reader.about(row), row)
        if first is row:
            yield row
        elif (first.figures, first.percents) == (row.figures, row.percents):
            remarks.add(row.file, f"line {row.line} repeats line {first.line}, so it is counted once")
        else:
            problems.add(
                row.line,
                "",
                f"line {row.line} says otherwise than line {first.line}, of the same summary, model author and "
                "assessor. Leave one of them.",
                file=row.file,
            )


def _tell_no_line(reader: _Reader, file: str, problems: Problems) -> None:
    nearest = reader.nearest
    if nearest is None:
        problems.add(None, "", "holds no line of a NIST result table.", file=file)
        return
    line, bad = nearest
    reason = f"{bad.reason} The file holds no line of a NIST result table."
    problems.add(line, f"column {bad.column}", reason, file=file)


class _BadCell(ValueError):
    def __init__(self, column: int, reason: str) -> None:
        super().__init__(reason)
        self.column = column
        self.reason = reason


@dataclass(slots=True)
class _Cells:
    """The cells of one line, read as what they must be."""

    cells: Sequence[str]

    def name(self, column: int, *, longest: int = MAX_NAME_CHARACTERS) -> str:
        value = self.cells[column]
        if len(value) > longest:
            raise _BadCell(column, f"has {len(value)} characters; a name may have {longest}.")
        return value

    def letters(self, column: int) -> str:
        value = self.name(column, longest=MAX_LETTERS)
        return "" if _DASHES.fullmatch(value) else value

    def document(self, column: int) -> str:
        value = self.name(column)
        return "" if _DASHES.fullmatch(value) else value

    def whole(self, column: int) -> int:
        if not _WHOLE.fullmatch(self.cells[column]):
            raise _BadCell(column, f"is {printable(self.cells[column])!r}, not a whole number.")
        return int(self.cells[column])

    def target(self, column: int) -> Target:
        return self.whole(column) or None

    def score(self, column: int) -> float | int:
        value = self.cells[column]
        if not _SCORE.fullmatch(value):
            raise _BadCell(column, f"is {printable(value)!r}, not a score.")
        return float(value) if "." in value else int(value)

    def summariser(self, column: int) -> str:
        """The number or the letters of who wrote a summary; a target length such as 050 is none."""
        value = self.name(column)
        if not _SUMMARISER.fullmatch(value):
            raise _BadCell(
                column,
                f"is {printable(value)!r}, not a summariser: a letter, or a number that does not begin with 0.",
            )
        return value

    def response(self, column: int) -> int:
        value = self.cells[column]
        if not _WHOLE.fullmatch(value) or int(value) > HIGHEST_RESPONSE:
            raise _BadCell(
                column, f"is {printable(value)!r}, not a whole number from 0 to {HIGHEST_RESPONSE}."
            )
        return int(value)

    def answer(self, column: int) -> float | int | None:
        """A score, or None where a dash says that it was not asked for."""
        return None if self.cells[column] == "-" else self.score(column)

    def share(self, column: int) -> float | None:
        value = self.cells[column]
        if value == "-":
            return None
        if not _DECIMAL.fullmatch(value) or float(value) > 1:
            raise _BadCell(column, f"is {printable(value)!r}, not a share from 0 to 1.")
        return float(value)

    def deviation(self, column: int) -> float | None:
        """A standard deviation; of two shares it is .707 at most, so 1 is ample."""
        return self.share(column)


@dataclass(slots=True)
class _Reader(ABC):
    """Reads a table line by line. Lines before the first one of a known layout are its header."""

    file: str
    problems: Problems
    header_lines: int = 0
    bad_lines: int = 0
    has_begun: bool = False
    nearest: tuple[int, _BadCell] | None = None
    """The first line that is wide enough for a row and is none, and why."""

    def rows(self, content: str) -> Iterator[PublishedRow]:
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

    def _row(self, number: int, cells: list[str]) -> PublishedRow | None:
        fault = self.fault(cells)
        if fault:
            self._complain(number, "", fault)
            return None
        try:
            return self.read(number, _Cells(cells))
        except _BadCell as error:
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
        return _is_almost(cells)

    @abstractmethod
    def fault(self, cells: Sequence[str]) -> str:
        """Why a line cannot be one of this table; "" where it can."""

    @abstractmethod
    def read(self, number: int, cells: _Cells) -> PublishedRow:
        """What a row says. Raises _BadCell."""

    def about(self, row: PublishedRow) -> tuple[object, ...]:
        """What a row is about and who says it: a table says such a thing once."""
        people = (row.selector, row.model_author, row.assessor)
        return (row.set_name, row.document, row.target, row.system, *people)

    @abstractmethod
    def remarks(self, found: Sequence[PublishedRow]) -> Iterator[str]:
        """What is to be reported of the table as a whole."""


def _unknown_table(number: int, cells: Sequence[str]) -> str:
    known = ", ".join(f"{layout.width} ({layout.table.label})" for layout in LAYOUTS)
    return (
        f"not a known table: line {number} has {len(cells)} columns, {_first_cells(cells)}. Known are lines that "
        f"begin with a set, M or P, a document or dashes and a target length, of {known} columns, and of "
        f"{FIRST_UNIT_2001} with 3 more for each of the model units that column 14 counts ({Table.DUC_2001.label})."
    )


def _passed_over(lines: int) -> str:
    if not lines:
        return "no lines stand before the first row"
    return f"{lines} {'line was' if lines == 1 else 'lines were'} passed over before the first row"


def _first_cells(cells: Sequence[str]) -> str:
    return f"the first of them {printable(' '.join(cells[:4]))!r}"


@dataclass(slots=True)
class _UnitReader(_Reader):
    """Tables with a line for each peer summary and assessor."""

    table: Table | None = None

    def begins(self, cells: Sequence[str]) -> bool:
        self.table = _shape(cells)
        return self.table is not None

    def is_foreign(self, cells: Sequence[str]) -> bool:
        return _is_almost(cells) or _is_tabular(cells)

    def fault(self, cells: Sequence[str]) -> str:
        shape = _shape(cells)
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
    def _layout(self) -> Layout | None:
        return next((layout for layout in LAYOUTS if layout.table is self.table), None)

    def read(self, number: int, cells: _Cells) -> PublishedRow:
        layout = self._layout
        figures, mean, percents = _of_2001(cells) if layout is None else _of_layout(cells, layout)
        selector, system = (4, 7) if layout is None else (layout.selector, layout.system)
        document = cells.document(2)
        if (cells.cells[1] == "P") is not bool(document):
            raise _BadCell(2, "names a document in a line of M, or none in a line of P.")
        return PublishedRow(
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

    def remarks(self, found: Sequence[PublishedRow]) -> Iterator[str]:
        if self.table is None:
            return
        layout = self._layout
        expected = layout.header_lines if layout else 0
        if self.header_lines != expected:
            yield (f"{_passed_over(self.header_lines)}; {self._name} has {expected}.")
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


Percents = tuple[tuple[int, int, tuple[int, ...]], ...]


def _of_layout(cells: _Cells, layout: Layout) -> tuple[dict[str, object], float | None, Percents]:
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


def _of_2001(cells: _Cells) -> tuple[dict[str, object], float | None, Percents]:
    """Scores of 0 to 4 per model unit, numbered from 0, each with a peer unit that was marked for it."""
    count = cells.whole(14)
    said: list[tuple[int, int, tuple[int, ...]]] = []
    for column in range(FIRST_UNIT_2001, FIRST_UNIT_2001 + 3 * count, 3):
        value = cells.whole(column + 1)
        if value > 4:
            raise _BadCell(column + 1, f"is {value}, not a score from 0 to 4.")
        if not _MARKS.fullmatch(cells.cells[column + 2]):
            raise _BadCell(
                column + 2,
                f"is {printable(cells.cells[column + 2])!r}, neither - nor the number of a peer unit.",
            )
        marks = cells.cells[column + 2].replace("-", "")
        said.append((cells.whole(column), 25 * value, tuple(int(mark) for mark in marks.split(",") if mark)))
    numbers = sorted(number for number, _, _ in said)
    if numbers not in (list(range(count)), list(range(1, count + 1))):
        raise _BadCell(
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


def _remarks_of_2001(found: Sequence[PublishedRow]) -> Iterator[str]:
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


def _first_mark(found: Sequence[PublishedRow]) -> int | None:
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


def _counted_from_one(found: Sequence[PublishedRow]) -> Iterator[PublishedRow]:
    """The rows of one table with marks that count peer units as we do, or with none where it does not tell."""
    first = _first_mark(found)
    for row in found:
        percents = tuple(
            (number, percent, () if first is None else tuple(sorted(mark - first + 1 for mark in marks)))
            for number, percent, marks in row.percents
        )
        yield replace(row, percents=percents)


def marks_beyond(row: PublishedRow, units: int) -> list[tuple[int, int]]:
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


def _adjusts(row: PublishedRow) -> bool:
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


@dataclass(frozen=True, slots=True)
class _Responses:
    """Where a table of responsiveness or usefulness keeps what."""

    table: PublishedScore.Table
    widths: Callable[[int], bool]
    system: int
    scores: tuple[int, ...]
    document: int | None
    says: str


_PAIRED_R = _Responses(Table.RESPONSIVENESS, lambda n: n == 7, 2, (4, 6), None, "7 columns, as in 2003")
_PAIRED_U = _Responses(Table.USEFULNESS, lambda n: n == 8, 3, (5, 7), 1, "8 columns, as in 2003")
_SINGLE_R = _Responses(
    Table.RESPONSIVENESS, lambda n: n >= 5, 3, (4,), None, "5 columns or more after a header, as in 2004"
)


@dataclass(slots=True)
class _ResponseReader(_Reader):
    """Tables with scores of whole summaries; their names tell them, since their columns hardly do."""

    letter: str = "R"
    responses: _Responses | None = field(default=None)

    def begins(self, cells: Sequence[str]) -> bool:
        of_r = _SINGLE_R if self.header_lines else _PAIRED_R
        kind = _PAIRED_U if self.letter == "U" else of_r
        self.responses = kind if _is_response(cells, kind) else None
        if self.responses is None and self.nearest is None and _is_wide_enough(cells, kind):
            column = next(column for column in kind.scores if not _SCORE.fullmatch(cells[column]))
            bad = _BadCell(column, f"is {printable(cells[column])!r}, not a score.")
            self.nearest = (self.header_lines + 1, bad)
        return self.responses is not None

    def fault(self, cells: Sequence[str]) -> str:
        assert self.responses is not None, "a table has begun"
        if _is_response(cells, self.responses):
            return ""
        return (
            f"has {len(cells)} columns and does not read like a line of {self.responses.table.label.lower()} "
            f"scores ({self.responses.says}): a set, a summariser, and whole numbers for scores."
        )

    def read(self, number: int, cells: _Cells) -> PublishedRow:
        kind = self.responses
        assert kind is not None, "a table has begun"
        return PublishedRow(
            file=self.file,
            line=number,
            table=str(kind.table),
            cells=tuple(cells.cells),
            set_name=cells.name(0),
            document="" if kind.document is None else cells.document(kind.document),
            system=cells.summariser(kind.system),
            figures={"scores": [cells.response(column) for column in kind.scores]},
        )

    def about(self, row: PublishedRow) -> tuple[object, ...]:
        """Everything but the scores, since nothing says which of the other columns is the assessor's."""
        assert self.responses is not None, "a table has begun"
        scores = self.responses.scores
        return tuple(cell for column, cell in enumerate(row.cells) if column not in scores)

    def remarks(self, found: Sequence[PublishedRow]) -> Iterator[str]:
        if self.responses is None:
            return
        if self.responses is _SINGLE_R and self.header_lines != 7:
            yield f"{_passed_over(self.header_lines)}; the table of 2004 has 7."
        columns = " and ".join(map(str, self.responses.scores))
        yield (
            f"the scores (column {columns}) are of whole summaries and stand beside the project's scores; its other "
            "columns are kept with the line."
        )


def _is_response(cells: Sequence[str], kind: _Responses) -> bool:
    return _is_wide_enough(cells, kind) and all(_SCORE.fullmatch(cells[column]) for column in kind.scores)


def _is_wide_enough(cells: Sequence[str], kind: _Responses) -> bool:
    return kind.widths(len(cells)) and _SET.fullmatch(cells[0]) is not None
