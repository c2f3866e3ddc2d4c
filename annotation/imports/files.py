"""Files of rows in each container: CSV, JSON, JSONL and Parquet become records under the file's own names."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from annotation.imports.layout import is_field
from annotation.imports.problems import ImportRefused, Problems, unreadable

if TYPE_CHECKING:
    from pyarrow import parquet

HEAD_BYTES = 65_536
MAX_LINE_BYTES = 64 * 1024 * 1024
"""The longest line that is read at all, so that no file can fill the memory."""
PARQUET_ROWS_AT_ONCE = 256
MOST_PARQUET_ROWS = 1_000_000
MOST_PARQUET_BYTES = 2 * 1024**3
MOST_COLUMNS = 2_000
"""No file of summaries comes near it; a million would keep a web process from answering."""

_MARK = b"\xef\xbb\xbf"
_UTF_16 = "is UTF-16, not UTF-8. Save it as UTF-8, or convert it: iconv -f UTF-16 -t UTF-8"
_FOREIGN = {
    b"\xff\xfe": _UTF_16,
    b"\xfe\xff": _UTF_16,
    b"PK\x03\x04": "is a zip or spreadsheet file. Unpack it, or save the sheet as CSV in UTF-8.",
    b"\x1f\x8b": "is compressed with gzip. Unpack it first.",
    b"{\\rtf": "is a text of Word (RTF). Save its table as CSV in UTF-8.",
    b"\xd0\xcf\x11\xe0": "is a file of an old Excel or Word. Save its table as CSV in UTF-8.",
    b"%PDF": "is a PDF. Import the table that it was made of, as CSV in UTF-8.",
}
_IS_OPEN = re.compile(rb"[{\[]$|[^}],$")
_WEB_PAGE = (b"<!doctype html", b"<html")
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs"}


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file and what people call it, where its path is a temporary one."""

    name: str
    path: Path


class Format(StrEnum):
    CSV = "CSV"
    JSONL = "JSONL"
    JSON_LIST = "JSON list"
    NESTED_JSONL = "nested JSONL"
    PARQUET = "Parquet"
    SEE_HTML = "SEE HTML"
    DUCVIEW = "DUCView pyramid"
    SEVERAL = "files of several formats"
    PUSHED = "pushed rows"

    @property
    def place(self) -> str:
        """The word for a place in such a file."""
        return {Format.PARQUET: "row", Format.JSON_LIST: "item", Format.PUSHED: "row"}.get(self, "line")

    @property
    def is_json(self) -> bool:
        return self in {Format.JSONL, Format.JSON_LIST, Format.NESTED_JSONL}


NAMED = {
    ".csv": Format.CSV,
    ".tsv": Format.CSV,
    ".json": Format.JSONL,
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
    ".parquet": Format.PARQUET,
    ".pq": Format.PARQUET,
}


@dataclass(frozen=True, slots=True)
class Marked:
    """A stretch of a text that a rater marked as wrong; one without an end tells that the rater looked.

    `text` is the whole text, where the tool tells; `words` are those of the stretch.
    """

    rater: str
    start: int = 0
    end: int = 0
    words: str = ""
    reason: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """People's answers about the summary of a row, from layouts that keep them outside of its columns.

    `ratings` are criterion, rater and value; `claims` are a sentence, its votes by rater, and a reason; `unread` names
    fields of the record that the tool's layout leaves out.
    """

    ratings: list[tuple[str, str, object]] = field(default_factory=list)
    marks: list[Marked] = field(default_factory=list)
    claims: list[tuple[str, Mapping[str, object], str]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Record:
    """The values of one row under the file's own names."""

    line: int
    values: Mapping[str, object]
    said: Said = field(default_factory=Said)


@dataclass(frozen=True, slots=True)
class FileTable:
    """The columns of a file that has a header, its records as they are read, and what to say of the reading."""

    records: Iterator[Record]
    columns: tuple[str, ...] = ()
    remarks: list[str] = field(default_factory=list)


def recognise(path: Path, *, name: str) -> Format:
    """CSV, JSONL, a JSON list or Parquet; whether JSON is nested only its first record can tell.

    The content decides. A file whose name says something else is refused, never guessed at.
    Raises ImportRefused for an empty file, one that cannot be opened, or one of another kind.
    """
    head = head_of(path, name)
    named = NAMED.get(Path(name).suffix.lower())
    for magic, reason in _FOREIGN.items():
        if head.startswith(magic):
            raise unreadable(f"{name} {reason}")
    start = head.removeprefix(_MARK).lstrip()
    if start[:20].lower().startswith(_WEB_PAGE):
        what = "CSV" if named in {None, Format.CSV} else str(named)
        raise unreadable(
            f"{name} is a web page, not a {what}. Download the file itself; its server may want you to sign in first."
        )
    if head.startswith(b"PAR1"):
        found = Format.PARQUET
    elif start.startswith(b"{"):
        found = Format.JSONL
    elif start.startswith(b"[") and named is not Format.CSV:
        found = Format.JSON_LIST
    elif named is Format.PARQUET:
        raise unreadable(f"{name} is named like Parquet but is not: it does not begin with PAR1.")
    else:
        # A JSONL file may begin with a broken line; that line is then named like any other.
        found = Format.JSONL if named is Format.JSONL else Format.CSV
    if found is Format.JSONL and _is_one_object(path, ends_soon=Path(name).suffix.lower() == ".json"):
        found = Format.JSON_LIST
    if named not in {None, found} and not (named is Format.JSONL and found is Format.JSON_LIST):
        raise unreadable(
            f"{name} is named like {named} but reads like {found}. Give it the ending of what it is."
        )
    return found


def head_of(path: Path, name: str) -> bytes:
    """The first bytes of a file. Raises ImportRefused where it is empty or cannot be opened."""
    try:
        with path.open("rb") as stream:
            head = stream.read(HEAD_BYTES)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise unreadable(f"{name} cannot be opened: {reason}.") from error
    if not head.removeprefix(_MARK).strip():
        raise unreadable(f"{name} is empty. It needs one row for each summary.")
    return head


def as_text(data: bytes) -> tuple[str, bool]:
    """The text of a small file and whether it is UTF-8; an older one is read as Windows-1252 or Latin-1."""
    data = data.removeprefix(_MARK)
    for encoding in ("utf-8", "cp1252"):
        with suppress(UnicodeDecodeError):
            return data.decode(encoding), encoding == "utf-8"
    return data.decode("latin-1"), False


def table_of(
    path: Path,
    name: str,
    form: Format,
    problems: Problems,
    *,
    wanted: Collection[str] = (),
    encoding: str = "",
) -> FileTable:
    """The records of a file of rows, and of a format that has columns those that are wanted, or all.

    Without an `encoding` a text is read as UTF-8, or, where none of its lines with accents is UTF-8, as Windows-1252.
    """
    if form is Format.PARQUET:
        return _parquet_table(path, problems, name=name, wanted=wanted)
    remarks = []
    if not encoding:
        encoding = "utf-8"
        if _is_of_one_byte(path):
            encoding = "windows-1252"
            remarks.append("The file is not UTF-8. It is read as Windows-1252; name another with `encoding`.")
    if form is Format.CSV:
        return _csv_table(path, problems, wanted, encoding, remarks)
    if form is Format.JSON_LIST:
        return FileTable(_listed_records(path, problems, name, encoding), remarks=remarks)
    return FileTable(_json_records(path, problems, encoding), remarks=remarks)


def _is_of_one_byte(path: Path) -> bool:
    """True if several lines have other signs than ASCII's, and none of the first of these lines is UTF-8."""
    found = 0
    with path.open("rb") as stream:
        for line in iter(lambda: stream.readline(MAX_LINE_BYTES), b""):
            if not line.isascii():
                with suppress(UnicodeDecodeError):
                    line.decode("utf-8")
                    return False
                found += 1
                if found == 20:
                    break
    return found > 1


def _is_one_object(path: Path, *, ends_soon: bool) -> bool:
    """True if JSON is written over several lines, or `ends_soon` and there is a single line."""
    with path.open("rb") as stream:
        lines = iter(lambda: stream.readline(MAX_LINE_BYTES).removeprefix(_MARK), b"")
        first = next(filter(None, map(bytes.strip, lines)), b"")
        return bool(_IS_OPEN.search(first[-2:])) or (ends_soon and not stream.read(HEAD_BYTES).strip())


@dataclass(slots=True)
class _Lines:
    """The lines of a file as text, counted; lines of another encoding are noted until asked for.

    Lines end at a line feed alone: JSON strings may hold every other separator.
    """

    stream: BinaryIO
    encoding: str
    number: int = 0
    broken: list[tuple[int, str]] = field(default_factory=list)

    def __iter__(self) -> Iterator[str]:
        while data := self.stream.readline(MAX_LINE_BYTES + 1):
            self.number += 1
            if self.number == 1:
                data = data.removeprefix(_MARK)
            if len(data) > MAX_LINE_BYTES:
                while (rest := self.stream.readline(MAX_LINE_BYTES)) and not rest.endswith(b"\n"):
                    pass
                self._note(f"is longer than {MAX_LINE_BYTES // 1024**2} MB; no line may be.")
                yield "\n"
                continue
            try:
                yield data.decode(self.encoding)
            except UnicodeDecodeError as error:
                self._note(_undecoded(error, self.encoding))
                yield data.decode(self.encoding, "replace")

    def _note(self, reason: str) -> None:
        self.broken.append((self.number, reason))

    def complaints(self) -> list[tuple[int, str]]:
        """The lines that were wrong among those read since the last time of asking, and why."""
        found, self.broken = self.broken, []
        return found


def _undecoded(error: UnicodeDecodeError, encoding: str) -> str:
    where = f"byte {error.start + 1} of the line is 0x{error.object[error.start]:02X}."
    if encoding != "utf-8":
        return f"is not {encoding}: {where} Name the right encoding."
    return (
        f"is not UTF-8: {where} The file may be Latin-1 or Windows-1252; save it as “CSV UTF-8” in Excel, name its "
        "`encoding`, or convert it: iconv -f WINDOWS-1252 -t UTF-8"
    )


def _json_records(path: Path, problems: Problems, encoding: str) -> Iterator[Record]:
    """The objects of a JSONL file. Blank lines are passed over; a line that is no object is a problem."""
    with path.open("rb") as stream:
        lines = _Lines(stream, encoding)
        for text in lines:
            complaints = lines.complaints()
            for number, complaint in complaints:
                problems.add(number, "", complaint)
            if complaints or not text.strip():
                continue
            try:
                value = load_json(text)
            except NotJson as error:
                problems.add(lines.number, "", f"{error}{_SEVERAL if 'Extra' in str(error) else ''}")
                continue
            yield from _object(value, lines.number, problems, "Each line")


_SEVERAL = " Several objects stand one a line (JSONL), as jq -c . writes them."


def _listed_records(path: Path, problems: Problems, name: str, encoding: str) -> Iterator[Record]:
    """The objects of a file that is one JSON list, or one object around it, counted from 1.

    Raises ImportRefused where the file cannot be read to its end.
    """
    if path.stat().st_size > MAX_LINE_BYTES:
        raise unreadable(
            f"{name} is one JSON value of more than {MAX_LINE_BYTES // 1024**2} MB. Write one object a line instead "
            "(JSONL), as jq -c '.[]' does."
        )
    try:
        items = load_json(path.read_bytes().removeprefix(_MARK).decode(encoding))
    except UnicodeDecodeError as error:
        raise unreadable(f"{name} {_undecoded(error, encoding)}") from error
    except NotJson as error:
        raise unreadable(f"{name} {error}{_SEVERAL if 'Extra' in str(error) else ''}") from error
    for number, item in enumerate(_items(items), start=1):
        yield from _object(item, number, problems, "Each item")


_LISTS = ("rows", "data", "records", "examples", "items", "results", "samples")


def _items(value: object) -> Iterable[object]:
    """The rows of a JSON value: its items; of an object the list in it, the columns of pandas, or rows by id."""
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        return []
    # Promptfoo's list stands one level deeper.
    if isinstance(value.get("results"), dict) and "results" in value["results"]:
        return _items(value["results"])
    lists = {name: rows for name in _LISTS if (rows := _objects_in(value.get(name)))}
    if len(lists) > 1:
        names = " and ".join(f"`{name}`" for name in lists)
        raise unreadable(
            f"holds several lists of rows, {names}. Write the one that is meant to a file of its own."
        )
    if lists:
        return next(iter(lists.values()))
    parts = list(value.values())
    if len(parts) > 1 and all(isinstance(part, dict) and part for part in parts):
        if all("0" in part for part in parts):
            return [{name: column.get(row) for name, column in value.items()} for row in parts[0]]
        if (
            not any(is_field(name) for name in value)
            and len({frozenset(part) for part in parts[:50]}) <= (len(parts[:50]) + 1) // 2
        ):
            return [{"id": key, **part} for key, part in value.items()]
    return [value]


def _objects_in(value: object) -> list[object]:
    return value if isinstance(value, list) and all(isinstance(row, dict) for row in value) else []


def _object(value: object, line: int, problems: Problems, each: str) -> Iterator[Record]:
    """The record of a JSON value; a problem where it is no object."""
    if isinstance(value, dict):
        _require_few(len(value), line=line)
        yield Record(line, value)
    else:
        problems.add(line, "", f'is not a JSON object. {each} must be one, such as {{"document_id": …}}.')


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
    if constant != "NaN":
        raise NotJson(f"is not JSON: {constant} is no number there. Write null for a missing value.")


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) < len(pairs):
        twice = next(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
        raise NotJson(f"holds the name {twice!r} twice in one object.")
    return values


def _csv_table(
    path: Path, problems: Problems, wanted: Collection[str], encoding: str, remarks: list[str]
) -> FileTable:
    """A CSV file with or without a byte order mark, with any line ends inside of quotes.

    Separated by commas, or by semicolons or tabs where Excel's first line says so, or only those give the wanted
    columns, or more columns. Where every cell of the first row is JSON, as Langfuse writes it, all are read as such.
    Raises ImportRefused where the header cannot be read.
    """
    # The module's own limit of 131,072 characters would end long documents with a riddle.
    csv.field_size_limit(MAX_LINE_BYTES)
    delimiter = _delimiter(path, wanted, encoding)
    records = _csv_records(path, problems, delimiter, wanted, encoding, remarks)
    header = next(records, None)
    if delimiter != ",":
        remarks.append(f"Cells were separated by {_DELIMITERS[delimiter]}, not by commas.")
    return FileTable(records, tuple(header.values) if header else (), remarks)


def _named_delimiter(line: str) -> str | None:
    """The separator that a line names to Excel: `sep=;`."""
    named = line.strip("\r\n").removeprefix('"').removesuffix('"')
    return named[4:5] if named[:4].casefold() == "sep=" and len(named) == 5 else None


def _delimiter(path: Path, wanted: Collection[str], encoding: str) -> str:
    with path.open("rb") as stream:
        lines = (line for line in _Lines(stream, encoding) if line.strip(" \r\n,;\t"))
        first = next(lines, "")
        if (named := _named_delimiter(first)) in _DELIMITERS:
            return str(named)
    columns: dict[str, int] = {}
    for delimiter in _DELIMITERS:
        try:
            header = next(csv.reader([first], delimiter=delimiter), [])
        except csv.Error:
            continue
        _require_few(len(header), line=1)
        cells = {" ".join(cell.split()) for cell in header}
        if wanted and cells.issuperset(wanted):
            return delimiter
        columns[delimiter] = len(cells)
    return max(columns, key=lambda delimiter: columns[delimiter], default=",")


def _csv_records(
    path: Path,
    problems: Problems,
    delimiter: str,
    wanted: Collection[str],
    encoding: str,
    remarks: list[str],
) -> Iterator[Record]:
    """The header as a record of its own, then the rows. Cells that are missing at the end of a row are null.

    A quote that is never closed makes everything after it doubtful, so it ends the reading.
    """
    with path.open("rb") as stream:
        lines = _Lines(stream, encoding)
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        columns: tuple[str, ...] = ()
        is_json: bool | None = None
        short: list[int] = []
        while True:
            line = lines.number + 1
            try:
                cells = next(reader)
            except StopIteration:
                break
            except csv.Error as error:
                raise unreadable(_broken_csv(error), line=line) from error
            complaints = lines.complaints()
            if complaints and not columns:
                raise unreadable(complaints[0][1], line=complaints[0][0])
            for number, complaint in complaints:
                problems.add(number, "", complaint)
            # Excel keeps rows of separators for cells that were emptied.
            if complaints or not any(cells) or (line == 1 and _named_delimiter(delimiter.join(cells))):
                continue
            if not columns:
                columns = _header(cells, line, wanted)
                yield Record(line, dict.fromkeys(columns))
                continue
            if len(cells) > len(columns):
                problems.add(
                    line,
                    "",
                    f"has {len(cells)} cells where the header has {len(columns)}. A text that holds the separator or "
                    "a line break must stand in double quotes.",
                )
                continue
            if is_json is None:
                is_json = all(map(_is_json, cells)) and any(cell.startswith('"') for cell in cells)
            texts = [_unquoted(cell) for cell in cells] if is_json else cells
            values: dict[str, object] = dict(zip(columns, chain(texts, _MISSING), strict=False))
            if len(cells) < len(columns):
                short.append(line)
            yield Record(line, values)
        if short:
            remarks.append(
                f"{_places('Line', short)} fewer cells than the header. The missing ones are taken as empty."
            )


_MISSING = iter(lambda: None, 0)


def _places(word: str, lines: list[int]) -> str:
    """Such as "Line 3 has" or "Lines 2, 3, 4 and 20 more have"."""
    if len(lines) == 1:
        return f"{word} {lines[0]} has"
    more = f" and {len(lines) - 3:,} more" if len(lines) > 3 else ""
    return f"{word}s {', '.join(map(str, lines[:3]))}{more} have"


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
    if len(cells) == 1 and "|" in cells[0]:
        raise unreadable(
            "separates its names by “|”. Commas, semicolons and tabs are read: save the file as CSV with one of these.",
            line=line,
        )
    columns: dict[str, None] = {}
    for cell in cells:
        # Spreadsheets break lines in heads and hold no-break spaces.
        column = " ".join(cell.split())
        if column in columns and column in wanted:
            raise unreadable(
                f"the header names the column {column!r} twice. Rename one of the two.",
                line=line,
                column=column,
            )
        again = (f"{column} {number}" for number in count(2))
        columns[column if column not in columns else next(name for name in again if name not in columns)] = (
            None
        )
    return tuple(columns)


def _require_few(columns: int, *, line: int | None = None) -> None:
    if columns > MOST_COLUMNS:
        raise unreadable(
            f"there are {columns:,} columns; at most {MOST_COLUMNS:,} are read. Leave out what no import needs.",
            line=line,
        )


def _parquet_table(path: Path, problems: Problems, *, name: str, wanted: Collection[str]) -> FileTable:
    """A Parquet file, read in small batches. Raises ImportRefused where it is damaged."""
    from pyarrow import ArrowException, parquet  # noqa: PLC0415 - 15 MB where no Parquet is read

    try:
        source = parquet.ParquetFile(path)
        _require_bounded(name, source.metadata.num_rows, _declared_bytes(source.metadata))
        columns = tuple(str(column) for column in source.schema_arrow.names)
    except (ArrowException, OSError, UnicodeDecodeError) as error:
        raise _damaged(name, error) from error
    _require_few(len(columns))
    for column, times in Counter(columns).items():
        if times > 1:
            raise unreadable(f"the column {column!r} is there twice.", column=column)
    chosen = [column for column in columns if not wanted or column in wanted]
    return FileTable(_parquet_records(source, chosen, problems, name), columns)


def parquet_bytes(path: Path) -> int:
    """Unpacked bytes that a Parquet file declares, at least 100 a row; 0 for any other file and a damaged one."""
    from pyarrow import ArrowException, parquet  # noqa: PLC0415

    try:
        stated = parquet.read_metadata(path)
    except (ArrowException, OSError):
        return 0
    return max(_declared_bytes(stated), 100 * int(stated.num_rows))


def _declared_bytes(stated: parquet.FileMetaData) -> int:
    return sum(int(stated.row_group(number).total_byte_size) for number in range(stated.num_row_groups))


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
                column = ""
                try:
                    values = {}
                    for column, cells in zip(batch.schema.names, batch.columns, strict=True):
                        values[column] = cells[index].as_py()
                except UnicodeDecodeError as error:
                    problems.add(row, column, f"is not UTF-8: byte {error.start + 1} of the text.")
                except (ValueError, OverflowError) as error:
                    problems.add(row, column, f"cannot be read: {error}.")
                else:
                    yield Record(row, values)
    except (ArrowException, OSError) as error:
        raise _damaged(name, error) from error
    finally:
        source.close()


def _damaged(name: str, error: Exception) -> ImportRefused:
    return unreadable(f"{name} is a Parquet file that cannot be read: {error}.")
