"""Raw records of a file, one after the other, each with the place where it stands."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from annotation.imports.formats import BYTE_ORDER_MARK, MAX_LINE_BYTES
from annotation.imports.problems import ImportRefused, Problems, unreadable

if TYPE_CHECKING:
    import pyarrow
    from pyarrow import parquet

PARQUET_ROWS_AT_ONCE = 256
MOST_PARQUET_ROWS = 1_000_000
MOST_PARQUET_BYTES = 2 * 1024**3
MOST_COLUMNS = 2_000
"""No file of summaries comes near it; a million would keep a web process from answering."""

_DELIMITERS = (",", ";", "\t")


@dataclass(frozen=True, slots=True)
class Record:
    """The values of one row under the file's own names."""

    line: int
    values: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class FileTable:
    """A file with a header: its columns, and its records as they are read."""

    columns: tuple[str, ...]
    records: Iterator[Record]
    remark: str = ""


@dataclass(slots=True)
class _Lines:
    """The lines of a file as text, counted; lines that are not UTF-8 are noted until asked for.

    Lines end at a line feed alone: JSON strings may hold every other separator.
    """

    stream: BinaryIO
    number: int = 0
    broken: list[tuple[int, str]] = field(default_factory=list)

    def __iter__(self) -> Iterator[str]:
        while data := self.stream.readline(MAX_LINE_BYTES + 1):
            self.number += 1
            if self.number == 1:
                data = data.removeprefix(BYTE_ORDER_MARK)
            if len(data) > MAX_LINE_BYTES:
                self._pass_over()
                self._note(f"is longer than {MAX_LINE_BYTES // 1024**2} MB; no line may be.")
                yield "\n"
                continue
            try:
                yield data.decode("utf-8")
            except UnicodeDecodeError as error:
                self._note(_not_utf8(data[error.start], error.start + 1))
                yield data.decode("utf-8", "replace")

    def _pass_over(self) -> None:
        while (rest := self.stream.readline(MAX_LINE_BYTES)) and not rest.endswith(b"\n"):
            pass

    def _note(self, reason: str) -> None:
        self.broken.append((self.number, reason))

    def complaints(self) -> list[tuple[int, str]]:
        """The lines that were wrong among those read since the last time of asking, and why."""
        found, self.broken = self.broken, []
        return found


def _not_utf8(byte: int, position: int) -> str:
    return (
        f"is not UTF-8: byte {position} of the line is 0x{byte:02X}. The file may be Latin-1 or "
        "Windows-1252; save it as “CSV UTF-8” in Excel, or convert it: iconv -f WINDOWS-1252 -t UTF-8"
    )


def json_records(path: Path, problems: Problems) -> Iterator[Record]:
    """The objects of a JSONL file. Blank lines are passed over; a line that is no object is a problem."""
    with path.open("rb") as stream:
        lines = _Lines(stream)
        for text in lines:
            complaints = lines.complaints()
            for number, complaint in complaints:
                problems.add(number, "", complaint)
            if complaints or not text.strip():
                continue
            values = _json_object(text, lines.number, problems)
            if values is not None:
                yield Record(line=lines.number, values=values)


def listed_records(path: Path, problems: Problems, *, name: str) -> Iterator[Record]:
    """The objects of a file that is one JSON list, or one object around it, counted from 1; an item that is no
    object is a problem.

    Raises ImportRefused where the file cannot be read to its end.
    """
    if path.stat().st_size > MAX_LINE_BYTES:
        raise unreadable(
            f"{name} is one JSON value of more than {MAX_LINE_BYTES // 1024**2} MB. Write one object a line instead "
            "(JSONL), as jq -c '.[]' does."
        )
    try:
        items = load_json(path.read_bytes().removeprefix(BYTE_ORDER_MARK).decode("utf-8"))
    except UnicodeDecodeError as error:
        raise unreadable(f"{name} {_not_utf8(error.object[error.start], error.start + 1)}") from error
    except NotJson as error:
        several = (
            " Several objects stand one a line (JSONL), as jq -c . writes them."
            if "Extra" in str(error)
            else ""
        )
        raise unreadable(f"{name} {error}{several}") from error
    for number, item in enumerate(_items(items), start=1):
        values = _object(item, number, problems, "Each item")
        if values is not None:
            yield Record(line=number, values=values)


_LISTS = ("rows", "data", "records", "examples", "items", "results", "samples")


def _items(value: object) -> list[object]:
    """The rows of a JSON value: its items; of an object the list in it, or what pandas has put by column."""
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        return []
    lists = {name: rows for name in _LISTS if (rows := _objects_in(value.get(name)))}
    if len(lists) > 1:
        names = " and ".join(f"`{name}`" for name in lists)
        raise unreadable(
            f"holds several lists of rows, {names}. Write the one that is meant to a file of its own."
        )
    if lists:
        return next(iter(lists.values()))
    columns = list(value.values())
    if columns and all(isinstance(column, dict) and "0" in column for column in columns):
        return [{name: column.get(row) for name, column in value.items()} for row in columns[0]]
    return [value]


def _objects_in(value: object) -> list[object]:
    return value if isinstance(value, list) and all(isinstance(row, dict) for row in value) else []


def _json_object(text: str, line: int, problems: Problems) -> dict[str, object] | None:
    try:
        values = load_json(text)
    except NotJson as error:
        problems.add(line, "", str(error))
        return None
    return _object(values, line, problems, "Each line")


def _object(values: object, line: int, problems: Problems, each: str) -> dict[str, object] | None:
    if not isinstance(values, dict):
        problems.add(line, "", f'is not a JSON object. {each} must be one, such as {{"document_id": …}}.')
        return None
    _require_few(len(values), line=line)
    return values


class NotJson(ValueError):
    """A text is not JSON, or says a thing twice."""


def load_json(text: str) -> object:
    """The value of a JSON text, read strictly: NaN is null, no name twice in one object.

    Raises NotJson with a sentence that says where.
    """
    try:
        return json.loads(text, parse_constant=_constant, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        raise NotJson(f"is not JSON: {error.msg} at character {error.pos + 1}.") from error
    except RecursionError as error:
        raise NotJson("is nested too deeply to be read.") from error
    except NotJson:
        raise
    except ValueError as error:
        raise NotJson(f"is not JSON that can be read: {error}.") from error


def _constant(constant: str) -> None:
    # pandas writes NaN for an empty cell.
    if constant == "NaN":
        return
    raise NotJson(f"is not JSON: {constant} is no number there. Write null for a missing value.")


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name, times in Counter(names).items() if times > 1)
        raise NotJson(f"holds the name {twice!r} twice in one object.")
    return values


def csv_table(path: Path, problems: Problems, *, wanted: Collection[str]) -> FileTable:
    """A CSV file in UTF-8, with or without a byte order mark, with any line ends inside of quotes.

    Separated by commas, or by semicolons or tabs where only those give the wanted columns, or more columns. Where every
    cell of the first row is JSON, as Langfuse writes it, all are read as such.
    Raises ImportRefused where the header cannot be read.
    """
    # The module's own limit of 131,072 characters would end long documents with a riddle.
    csv.field_size_limit(MAX_LINE_BYTES)
    delimiter = _delimiter(path, wanted)
    records = _csv_records(path, problems, delimiter, wanted)
    header = next(records, None)
    columns = tuple(header.values) if header else ()
    remark = (
        "" if delimiter == "," else f"Cells were separated by {_DELIMITER_NAMES[delimiter]}, not by commas."
    )
    return FileTable(columns=columns, records=records, remark=remark)


_DELIMITER_NAMES = {";": "semicolons", "\t": "tabs"}


def _delimiter(path: Path, wanted: Collection[str]) -> str:
    with path.open("rb") as stream:
        first = next(iter(_Lines(stream)), "")
    columns: dict[str, int] = {}
    for delimiter in _DELIMITERS:
        try:
            header = next(csv.reader([first], delimiter=delimiter), [])
        except csv.Error:
            continue
        _require_few(len(header), line=1)
        cells = {cell.strip() for cell in header}
        if cells.issuperset(wanted) and wanted:
            return delimiter
        columns[delimiter] = len(cells)
    return max(columns, key=lambda delimiter: columns[delimiter], default=",")


def _csv_records(path: Path, problems: Problems, delimiter: str, wanted: Collection[str]) -> Iterator[Record]:
    """The header as a record of its own, then the rows.

    A quote that is never closed makes everything after it doubtful, so it ends the reading.
    """
    with path.open("rb") as stream:
        lines = _Lines(stream)
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        columns: tuple[str, ...] = ()
        is_json: bool | None = None
        while True:
            line = lines.number + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise unreadable(_broken_csv(error), line=line) from error
            complaints = lines.complaints()
            if not columns:
                if complaints:
                    raise unreadable(complaints[0][1], line=complaints[0][0])
                if cells:
                    columns = _header(cells, line, wanted)
                    yield Record(line=line, values=dict.fromkeys(columns))
                continue
            for number, complaint in complaints:
                problems.add(number, "", complaint)
            if complaints or not cells:
                continue
            if len(cells) != len(columns):
                problems.add(line, "", _uneven(len(cells), len(columns)))
                continue
            if is_json is None:
                is_json = all(map(_is_json, cells)) and any(cell.startswith('"') for cell in cells)
            texts = [_unquoted(cell) for cell in cells] if is_json else cells
            yield Record(line=line, values=dict(zip(columns, texts, strict=True)))


def _is_json(cell: str) -> bool:
    try:
        load_json(cell)
    except NotJson:
        return False
    return True


def _unquoted(cell: str) -> str:
    """The text of a cell that holds a JSON string or null; any other as it is."""
    if cell.startswith('"'):
        with suppress(ValueError):
            return str(json.loads(cell))
    return "" if cell == "null" else cell


def _broken_csv(error: csv.Error) -> str:
    if "new-line character" in str(error):
        return "holds a bare carriage return outside of quotes. Save the file with line feeds as line ends."
    return (
        f"is not CSV that can be read ({error}). Look for a quote that is not closed or not doubled in the "
        "row that begins here; cells stand between commas, semicolons or tabs."
    )


def _header(cells: list[str], line: int, wanted: Collection[str]) -> tuple[str, ...]:
    """The names of the columns. One that is not wanted may stand there again, as Promptfoo's scores do, numbered."""
    _require_few(len(cells), line=line)
    if cells and cells[0].strip().casefold().startswith("sep="):
        raise unreadable("names the separator to Excel and is no header. Remove this line.", line=line)
    if len(cells) == 1 and "|" in cells[0]:
        raise unreadable(
            "separates its names by “|”. Commas, semicolons and tabs are read: save the file as CSV with one of these.",
            line=line,
        )
    columns: list[str] = []
    for cell in cells:
        column = cell.strip()
        if column in columns and column in wanted:
            raise unreadable(
                f"the header names the column {column!r} twice. Rename one of the two.",
                line=line,
                column=column,
            )
        again = (f"{column} {number}" for number in count(2))
        columns.append(
            column if column not in columns else next(name for name in again if name not in columns)
        )
    return tuple(columns)


def _require_few(columns: int, *, line: int | None = None) -> None:
    if columns > MOST_COLUMNS:
        raise unreadable(
            f"there are {columns:,} columns; at most {MOST_COLUMNS:,} are read. Leave out what no import needs.",
            line=line,
        )


def _uneven(cells: int, columns: int) -> str:
    return (
        f"has {cells} cells where the header has {columns}. A text that holds the separator or a line break "
        "must stand in double quotes."
    )


def parquet_table(path: Path, problems: Problems, *, name: str, wanted: Collection[str]) -> FileTable:
    """A Parquet file, read in small batches; only the wanted columns are read, all where none is named.

    Raises ImportRefused where it is damaged.
    """
    from pyarrow import ArrowException, parquet  # noqa: PLC0415 - 15 MB where no Parquet is read

    try:
        source = parquet.ParquetFile(path)
        _require_bounded(name, source.metadata.num_rows, _declared_bytes(source.metadata))
        columns = tuple(str(column) for column in source.schema_arrow.names)
    except (ArrowException, OSError, UnicodeDecodeError) as error:
        raise _damaged(name, error) from error
    _require_few(len(columns))
    for column in columns:
        if columns.count(column) > 1:
            raise unreadable(f"the column {column!r} is there twice.", column=column)
    chosen = [column for column in columns if not wanted or column in wanted]
    return FileTable(columns=columns, records=_parquet_records(source, chosen, problems, name))


def parquet_bytes(path: Path) -> int:
    """Unpacked bytes that a Parquet file declares, at least 100 a row; 0 for any other file and a damaged one."""
    from pyarrow import ArrowException, parquet  # noqa: PLC0415

    try:
        stated = parquet.read_metadata(path)
    except (ArrowException, OSError):
        return 0
    return max(_declared_bytes(stated), 100 * int(stated.num_rows))


def _declared_bytes(stated: parquet.FileMetaData) -> int:
    sizes = (stated.row_group(number).total_byte_size for number in range(stated.num_row_groups))
    return sum(map(int, sizes))


def _require_bounded(name: str, rows: int, size: int) -> None:
    if rows > MOST_PARQUET_ROWS or size > MOST_PARQUET_BYTES:
        raise unreadable(
            f"{name} has more than {MOST_PARQUET_ROWS:,} rows or {MOST_PARQUET_BYTES // 1024**3} GB once it is "
            "unpacked. Split it."
        )


def _parquet_records(
    source: parquet.ParquetFile, columns: list[str], problems: Problems, name: str
) -> Iterator[Record]:
    from pyarrow import ArrowException  # noqa: PLC0415

    row = size = 0
    try:
        for batch in source.iter_batches(batch_size=PARQUET_ROWS_AT_ONCE, columns=columns):
            # What a file declares of itself may be wrong.
            size += batch.nbytes
            _require_bounded(name, row + batch.num_rows, size)
            for index in range(batch.num_rows):
                row += 1
                values = _parquet_row(batch, index, row, problems)
                if values is not None:
                    yield Record(line=row, values=values)
    except (ArrowException, OSError) as error:
        raise _damaged(name, error) from error
    finally:
        source.close()


def _parquet_row(
    batch: pyarrow.RecordBatch, index: int, row: int, problems: Problems
) -> dict[str, object] | None:
    values: dict[str, object] = {}
    for column, cells in zip(batch.schema.names, batch.columns, strict=True):
        try:
            values[column] = cells[index].as_py()
        except UnicodeDecodeError as error:
            problems.add(row, column, f"is not UTF-8: byte {error.start + 1} of the text.")
            return None
        except (ValueError, OverflowError) as error:
            problems.add(row, column, f"cannot be read: {error}.")
            return None
    return values


def _damaged(name: str, error: Exception) -> ImportRefused:
    return unreadable(f"{name} is a Parquet file that cannot be read: {error}.")
