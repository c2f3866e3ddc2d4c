"""Read CSV, JSON, JSONL and Parquet files into records."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain, islice
from pathlib import Path
from typing import Any

from annotation.core.text_faults import text_fault
from annotation.imports.layout import FLAT_REQUIRED
from annotation.imports.problems import Findings, unreadable
from annotation.imports.row import Mark, NotJson, load_json

HEAD_BYTES = 65_536
MAX_LINE_BYTES = 64 * 1024 * 1024
PARQUET_ROWS_AT_ONCE = 256
MOST_PARQUET_ROWS = 1_000_000
MOST_PARQUET_BYTES = 2 * 1024**3
MOST_COLUMNS = 2_000

LONGEST_NAME = 200
"""The longest cell of a header, unless it begins with `[` as in promptfoo."""
_JSON = re.compile(r'".*"|\{.*\}|\[.*\]|null|NaN|true|false|-?[0-9.]+(?:[eE][+-]?[0-9]+)?', re.DOTALL)
"""A cell that looks like JSON."""
_MARK = b"\xef\xbb\xbf"
_UTF_16 = "is UTF-16, not UTF-8. Save it as UTF-8, or convert it: iconv -f UTF-16 -t UTF-8"
_NO_TABLE = "is no table. Save its table as CSV in UTF-8."
_FOREIGN = {
    **dict.fromkeys((b"\xff\xfe", b"\xfe\xff"), _UTF_16),
    b"pk\x03\x04": "is a zip or spreadsheet file. Unpack it, or save the sheet as CSV in UTF-8.",
    b"\x1f\x8b": "is compressed with gzip. Unpack it first.",
    **dict.fromkeys((b"{\\rtf", b"\xd0\xcf\x11\xe0", b"\x89png", b"\xff\xd8\xff", b"%pdf"), _NO_TABLE),
    **dict.fromkeys((b"<!doctype html", b"<html"), "is a web page. Download the file itself."),
}
"""Why files that begin with these bytes, in lower case, are refused."""
_IS_OPEN = re.compile(rb"[{\[]$|[^}],$")
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_LISTS = ("rows", "data", "records", "examples", "items", "results", "samples")
_NO_LIST = (
    "holds several lists of rows, or objects that are no rows. Write one list of rows, as pandas does by "
    "to_json(path, orient='records')."
)
_SEVERAL = " Write several objects one per line (JSONL), as jq -c . does."


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file with its original name; its path may be that of a temporary file."""

    name: str
    path: Path


class Format(StrEnum):
    CSV = "CSV"
    JSONL = "JSONL"
    JSON_LIST = "JSON list"
    NESTED_JSONL = "nested JSONL"
    PARQUET = "Parquet"
    DUC = "SEE HTML or DUCView"
    PUSHED = "pushed rows"

    @property
    def place(self) -> str:
        """The word for a numbered place in the file: line, row or item."""
        return {Format.PARQUET: "row", Format.JSON_LIST: "item", Format.PUSHED: "row"}.get(self, "line")


NAMED = dict.fromkeys((".csv", ".tsv"), Format.CSV) | dict.fromkeys(
    (".json", ".jsonl", ".ndjson"), Format.JSONL
)
"""The formats of text that names tell."""


@dataclass(slots=True)
class Said:
    """People's answers about a summary, as a tool stores them.

    `ratings` are (criterion, rater, value); `claims` are (sentence, votes by rater, reason).
    """

    ratings: list[tuple[str, str, object]] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    claims: list[tuple[str, Mapping[str, object], str]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Record:
    """A row: its place from 1, its values by name, and people's answers."""

    line: int
    values: Mapping[str, Any]
    said: Said = field(default_factory=Said)


@dataclass(slots=True)
class Table:
    """The records of a file, which can be read only once; reading them may add problems and remarks.

    `first` are up to 100 records, which `records` yields, too. `tool` is the title of the tool that wrote the file; it
    may be empty.
    """

    format: Format
    records: Iterator[Record] = field(default_factory=lambda: iter(()))
    problems: Findings = field(default_factory=Findings)
    columns: tuple[str, ...] = ()
    warnings: Findings = field(default_factory=Findings)
    first: tuple[Record, ...] = ()
    tool: str = ""

    @property
    def is_nested(self) -> bool:
        """True if the first record has a list `systems`."""
        return bool(self.first) and isinstance(self.first[0].values.get("systems"), list)

    @property
    def is_judged(self) -> bool:
        """True if one of the first records has answers in `said`."""
        return any(one.said.ratings or one.said.marks or one.said.claims for one in self.first)


def open_table(path: Path, *, name: str, encoding: str = "") -> Table:
    """Open a file of rows.

    Without an `encoding`, text is read as UTF-8, or as Windows-1252 if it does not look like UTF-8. Raises
    ImportRefused for a file that cannot be read.
    """
    table = Table(recognise(path, name=name))
    if not encoding and table.format is not Format.PARQUET and _is_of_one_byte(path):
        encoding = "windows-1252"
        told = "The file is not UTF-8. It is read as Windows-1252; name another with `encoding`."
        table.warnings.remark(told)
    encoding = "utf-8-sig" if encoding in {"", "utf-8"} else encoding
    if table.format in {Format.CSV, Format.PARQUET}:
        is_csv = table.format is Format.CSV
        table.records = _csv(path, encoding, table) if is_csv else _parquet(path, name)
        # The first record is the header.
        table.columns = tuple(next(table.records).values)
    else:
        is_list = table.format is Format.JSON_LIST
        values = _listed(path, name, encoding) if is_list else _of_lines(path, table.problems, encoding)
        table.records = _objects(values, table.problems)
    return table


def recognise(path: Path, *, name: str) -> Format:
    """Recognise the format of a file from its content and its name. Raises ImportRefused for a file that cannot be
    read.
    """
    head = head_of(path, name)
    named = NAMED.get(Path(name).suffix.lower())
    start = head.removeprefix(_MARK).lstrip()
    for magic, reason in _FOREIGN.items():
        if start[:20].lower().startswith(magic):
            raise unreadable(f"{name} {reason}")
    if head.startswith(b"PAR1"):
        return Format.PARQUET
    if start.startswith(b"[") and named is not Format.CSV:
        return Format.JSON_LIST
    # Trust a name of JSON, because the first line may be broken.
    if not start.startswith(b"{") and named is not Format.JSONL:
        return Format.CSV
    # A first line that ends open, or a single line in a file named .json, is one value.
    lines = _byte_lines(path)
    first = next(filter(None, map(bytes.strip, lines)), b"")
    ends_soon = Path(name).suffix.lower() == ".json" and not any(map(bytes.strip, lines))
    return Format.JSON_LIST if ends_soon or _IS_OPEN.search(first[-2:]) else Format.JSONL


def head_of(path: Path, name: str) -> bytes:
    """Return the first bytes of a file. Raises ImportRefused if they are blank or cannot be read."""
    try:
        with path.open("rb") as stream:
            head = stream.read(HEAD_BYTES)
    except (OSError, ValueError) as error:
        raise unreadable(f"{name} cannot be opened: {getattr(error, 'strerror', None) or error}.") from error
    if not head.removeprefix(_MARK).strip():
        raise unreadable(f"{name} is empty. It needs one row for each summary.")
    return head


def as_text(data: bytes) -> tuple[str, bool]:
    """Decode bytes as UTF-8, or else as Windows-1252 or Latin-1. The flag is True for UTF-8."""
    data = data.removeprefix(_MARK)
    for encoding in ("utf-8", "cp1252"):
        with suppress(UnicodeDecodeError):
            return data.decode(encoding), encoding == "utf-8"
    return data.decode("latin-1"), False


def _byte_lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        yield from iter(lambda: stream.readline(MAX_LINE_BYTES).removeprefix(_MARK), b"")


def _is_of_one_byte(path: Path) -> bool:
    found = list(islice((line for line in _byte_lines(path) if not line.isascii()), 20))
    return len(found) > 1 and not any(as_text(line)[1] for line in found)


def _lines(path: Path, encoding: str) -> Iterator[str]:
    """Yield the lines of a file. Only a line feed ends a line. Invalid bytes become lone surrogates."""
    with path.open(encoding=encoding, errors="surrogateescape", newline="\n") as stream:
        for number, line in enumerate(iter(lambda: stream.readline(MAX_LINE_BYTES + 1), ""), start=1):
            if len(line) > MAX_LINE_BYTES:
                told = f"is longer than {MAX_LINE_BYTES // 1024**2} MB, the longest line that is read."
                raise unreadable(told, line=number)
            yield line


def _of_lines(path: Path, problems: Findings, encoding: str) -> Iterator[tuple[int, object]]:
    for number, text in enumerate(_lines(path, encoding), start=1):
        if text.strip():
            try:
                yield number, load_json(text)
            except NotJson as error:
                problems.add(number, "", f"{error}{_SEVERAL if 'Extra' in str(error) else ''}")


def _listed(path: Path, name: str, encoding: str) -> Iterator[tuple[int, object]]:
    if path.stat().st_size > MAX_LINE_BYTES:
        told = f"{name} is one JSON value of more than {MAX_LINE_BYTES // 1024**2} MB."
        raise unreadable(f"{told} Write one object a line instead (JSONL), as jq -c '.[]' does.")
    try:
        items = load_json("".join(_lines(path, encoding)))
    except NotJson as error:
        raise unreadable(f"{name} {error}{_SEVERAL if 'Extra' in str(error) else ''}") from error
    yield from enumerate(_items(items), start=1)


def _items(value: object) -> Iterable[object]:
    if not isinstance(value, dict):
        return value if isinstance(value, list) else []
    # Promptfoo nests its list of results in another `results`.
    if isinstance(value.get("results"), dict):
        return _items(value["results"])
    given = (value.get(name) for name in _LISTS)
    lists = [rows for rows in given if isinstance(rows, list) and rows and isinstance(rows[0], dict)]
    if value and all(isinstance(part, dict) and part and "0" not in part for part in value.values()):
        return [{"id": key, **part} for key, part in value.items()]
    if len(lists) > 1 or (not lists and all(isinstance(part, dict | list) for part in value.values())):
        raise unreadable(_NO_LIST)
    return lists[0] if lists else [value]


def _objects(values: Iterable[tuple[int, object]], problems: Findings) -> Iterator[Record]:
    for line, value in values:
        if isinstance(value, dict):
            _require_few(len(value), line=line)
            yield Record(line, value)
        else:
            problems.add(line, "", 'is not a JSON object, such as {"document_id": …}.')


def _require_few(columns: int, *, line: int | None = None) -> None:
    if columns > MOST_COLUMNS:
        told = f"there are {columns:,} columns; at most {MOST_COLUMNS:,} are read. Leave out what no import needs."
        raise unreadable(told, line=line)


def _csv(path: Path, encoding: str, table: Table) -> Iterator[Record]:
    """Yield the header as a record, then the rows."""
    # Raise the limit: by default, the module refuses cells of more than 131,072 characters.
    csv.field_size_limit(MAX_LINE_BYTES)
    first = next((line for line in _lines(path, encoding) if line.strip(f"\r\n {''.join(_DELIMITERS)}")), "")
    texts = [first.replace("\r", " ")]
    delimiter = max(_DELIMITERS, key=lambda each: len(next(csv.reader(texts, delimiter=each), [])))
    if delimiter != ",":
        table.warnings.remark(f"Cells were separated by {_DELIMITERS[delimiter]}, not by commas.")
    rows = _csv_rows(path, delimiter, encoding)
    place, header = next(rows, (1, []))
    columns, is_json = _header(header, place), True
    yield Record(place, dict.fromkeys(columns))
    for place, cells in rows:
        is_json = is_json and all(map(_JSON.fullmatch, cells))
        if is_json and any(cell[:1] == '"' for cell in cells):
            raise unreadable("holds JSON in every cell. Save the table as JSONL.", line=place)
        if cells == header:
            table.problems.add(place, "", "repeats the header. Remove the line.")
        elif len(cells) > len(columns):
            told = "A text that holds the separator or a line break must stand in double quotes."
            there = f"has {len(cells)} cells, but the header has {len(columns)}."
            table.problems.add(place, "", f"{there} {told}")
        else:
            if len(cells) < len(columns):
                told = "has fewer cells than the header. The missing ones are taken as empty."
                table.warnings.remark(told, line=place)
            yield Record(place, dict.fromkeys(columns) | dict(zip(columns, cells, strict=False)))


def _csv_rows(path: Path, delimiter: str, encoding: str) -> Iterator[tuple[int, list[str]]]:
    reader, line = csv.reader(_lines(path, encoding), delimiter=delimiter, strict=True), 1
    try:
        for cells in reader:
            place, line = line, reader.line_num + 1
            # Skip a line such as `sep=;`, which Excel reads, and rows without letters and digits, such as ruled lines.
            if any(map(str.isalnum, chain(*cells))) and cells[0].casefold() != "sep=":
                yield place, cells
    except csv.Error as error:
        told = "Look for a quote that is not closed or not doubled in the row that begins here. Line feeds end lines."
        raise unreadable(f"is not CSV that can be read ({error}). {told}", line=line) from error


def _header(cells: list[str], line: int | None = None) -> tuple[str, ...]:
    _require_few(len(cells), line=line)
    # Normalise spaces, because names from spreadsheets may have line breaks and no-break spaces.
    names = [" ".join(cell.split()) for cell in cells]
    twice = next((name for name in names if name and names.count(name) > 1), "")
    fault = text_fault("".join(names))
    if any(len(name) > LONGEST_NAME for name in names if name[:1] != "["):
        told = f"looks like data. Add a header line with the names of the columns, such as {','.join(FLAT_REQUIRED)}."
    elif fault or twice:
        told = f"the header {fault or f'names the column {twice!r} twice. Rename one of the two.'}"
    elif len(names) > 2 and sum(map(bool, names)) == 1:
        told = "is a title. Remove the lines above the names of the columns."
    else:
        return tuple(names)
    raise unreadable(told, line=line, column=twice)


def _parquet(path: Path, name: str) -> Iterator[Record]:
    """Yield the header as a record, then the rows."""
    from pyarrow import ArrowException, parquet  # noqa: PLC0415 - it takes 15 MB

    row = size = 0
    try:
        with parquet.ParquetFile(path) as source:
            names = list(_header(list(map(str, source.schema_arrow.names))))
            _require_bounded(name, source.metadata.num_rows, 0)
            yield Record(row, dict.fromkeys(names))
            for batch in source.iter_batches(batch_size=PARQUET_ROWS_AT_ONCE):
                # Count while reading, because the declared numbers may be wrong.
                size += batch.nbytes
                _require_bounded(name, row + batch.num_rows, size)
                for values in batch.rename_columns(names).to_pylist():
                    row += 1
                    yield Record(row, values)
    except (ArrowException, OSError, ValueError, OverflowError) as error:
        raise unreadable(
            f"{name} is a Parquet file that cannot be read after row {row} ({error})."
        ) from error


def _require_bounded(name: str, rows: int, size: int) -> None:
    if rows > MOST_PARQUET_ROWS or size > MOST_PARQUET_BYTES:
        most = f"{MOST_PARQUET_ROWS:,} rows or {MOST_PARQUET_BYTES // 1024**3} GB"
        raise unreadable(f"{name} has more than {most} once it is unpacked. Split it.")


def is_parquet(path: Path) -> bool:
    """Return True for a Parquet file, by its first bytes."""
    with path.open("rb") as stream:
        return stream.read(4) == b"PAR1"
