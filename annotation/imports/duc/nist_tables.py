"""NIST's result tables of DUC 2001 to 2004: columns between white space, told apart by how many there are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from annotation.core.text_faults import printable
from annotation.imports.dataset import Dataset, PublishedLine
from annotation.imports.duc.nist_lines import (
    SCORE,
    SET_NAME,
    BadCell,
    Cells,
    NistTable,
    TableReader,
    is_almost,
    is_tabular,
    passed_over,
)
from annotation.imports.duc.nist_units import UnitReader, counted_from_one
from annotation.imports.packages import PackedFile, as_text
from annotation.imports.problems import Problems, Remarks
from annotation.models import PublishedScore

_RESPONSES = re.compile(r"(?:^|[._-])table\.([RU])(?:\.|$)")


def looks_like_table(head: str, base_name: str) -> bool:
    """Whether the beginning of a file is that of a table; its header lines may be any text."""
    if _RESPONSES.search(base_name):
        return True
    return any(is_almost(cells) or is_tabular(cells) for cells in map(str.split, head.split("\n")[:200]))


def take_table(member: PackedFile, dataset: Dataset, problems: Problems, remarks: Remarks) -> None:
    """Add a table's lines to the data set, each checked; lines that are not of its layout are problems."""
    content, is_utf8 = as_text(member.data)
    if not is_utf8:
        remarks.add(member.name, "is not UTF-8: read as Windows-1252")
    responses = _RESPONSES.search(member.base)
    reader: TableReader
    if responses:
        reader = ResponseReader(member.name, problems, letter=responses[1])
    else:
        reader = UnitReader(member.name, problems)
    found = list(_told_once(reader, content, problems, remarks))
    if not found and not reader.bad_lines:
        _tell_no_line(reader, member.name, problems)
    for remark in reader.remarks(found):
        remarks.add(member.name, remark.removesuffix("."))
    dataset.published.extend(counted_from_one(found))


def _told_once(
    reader: TableReader, content: str, problems: Problems, remarks: Remarks
) -> Iterator[PublishedLine]:
    """The rows without those that repeat an earlier one; one that contradicts an earlier one is a problem."""
    earlier: dict[tuple[object, ...], PublishedLine] = {}
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


def _tell_no_line(reader: TableReader, file: str, problems: Problems) -> None:
    nearest = reader.nearest
    if nearest is None:
        problems.add(None, "", "holds no line of a NIST result table.", file=file)
        return
    line, bad = nearest
    reason = f"{bad.reason} The file holds no line of a NIST result table."
    problems.add(line, f"column {bad.column}", reason, file=file)


@dataclass(frozen=True, slots=True)
class _Responses:
    """Where a table of responsiveness or usefulness keeps what."""

    table: PublishedScore.Table
    widths: Callable[[int], bool]
    system: int
    scores: tuple[int, ...]
    document: int | None
    says: str


_PAIRED_R = _Responses(NistTable.RESPONSIVENESS, lambda n: n == 7, 2, (4, 6), None, "7 columns, as in 2003")
_PAIRED_U = _Responses(NistTable.USEFULNESS, lambda n: n == 8, 3, (5, 7), 1, "8 columns, as in 2003")
_SINGLE_R = _Responses(
    NistTable.RESPONSIVENESS, lambda n: n >= 5, 3, (4,), None, "5 columns or more after a header, as in 2004"
)


@dataclass(slots=True)
class ResponseReader(TableReader):
    """Tables with scores of whole summaries; their names tell them, since their columns hardly do."""

    letter: str = "R"
    responses: _Responses | None = field(default=None)

    def begins(self, cells: Sequence[str]) -> bool:
        of_r = _SINGLE_R if self.header_lines else _PAIRED_R
        kind = _PAIRED_U if self.letter == "U" else of_r
        self.responses = kind if _is_response(cells, kind) else None
        if self.responses is None and self.nearest is None and _is_wide_enough(cells, kind):
            column = next(column for column in kind.scores if not SCORE.fullmatch(cells[column]))
            bad = BadCell(column, f"is {printable(cells[column])!r}, not a score.")
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

    def read(self, number: int, cells: Cells) -> PublishedLine:
        kind = self.responses
        assert kind is not None, "a table has begun"
        return PublishedLine(
            file=self.file,
            line=number,
            table=str(kind.table),
            cells=tuple(cells.cells),
            set_name=cells.name(0),
            document="" if kind.document is None else cells.document(kind.document),
            system=cells.summariser(kind.system),
            figures={"scores": [cells.response(column) for column in kind.scores]},
        )

    def about(self, row: PublishedLine) -> tuple[object, ...]:
        """Everything but the scores, since nothing says which of the other columns is the assessor's."""
        assert self.responses is not None, "a table has begun"
        scores = self.responses.scores
        return tuple(cell for column, cell in enumerate(row.cells) if column not in scores)

    def remarks(self, found: Sequence[PublishedLine]) -> Iterator[str]:
        if self.responses is None:
            return
        if self.responses is _SINGLE_R and self.header_lines != 7:
            yield f"{passed_over(self.header_lines)}; the table of 2004 has 7."
        columns = " and ".join(map(str, self.responses.scores))
        yield (
            f"the scores (column {columns}) are of whole summaries and stand beside the project's scores; its other "
            "columns are kept with the line."
        )


def _is_response(cells: Sequence[str], kind: _Responses) -> bool:
    return _is_wide_enough(cells, kind) and all(SCORE.fullmatch(cells[column]) for column in kind.scores)


def _is_wide_enough(cells: Sequence[str], kind: _Responses) -> bool:
    return kind.widths(len(cells)) and SET_NAME.fullmatch(cells[0]) is not None
