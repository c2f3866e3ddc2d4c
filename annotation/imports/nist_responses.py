"""NIST's tables of responsiveness and usefulness: scores of whole summaries, as of 2003 and 2004."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from annotation.imports.dataset import PublishedRow
from annotation.imports.fields import printable
from annotation.imports.nist_lines import SCORE, SET_NAME, BadCell, Cells, Reader, Table, passed_over
from annotation.models import PublishedScore


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
class ResponseReader(Reader):
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

    def read(self, number: int, cells: Cells) -> PublishedRow:
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
