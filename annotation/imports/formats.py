"""Which format a file has, told by its content and compared with its name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from annotation.imports.problems import unreadable


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
        """What a place in such a file is called."""
        return {Format.PARQUET: "row", Format.JSON_LIST: "item", Format.PUSHED: "row"}.get(self, "line")


HEAD_BYTES = 65_536

MAX_LINE_BYTES = 64 * 1024 * 1024
"""The longest line that is read at all, so that no file can fill the memory."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_FOREIGN = {
    b"\xff\xfe": "is UTF-16, not UTF-8. Save it as UTF-8, or convert it: iconv -f UTF-16 -t UTF-8",
    b"\xfe\xff": "is UTF-16, not UTF-8. Save it as UTF-8, or convert it: iconv -f UTF-16 -t UTF-8",
    b"PK\x03\x04": "is a zip or spreadsheet file. Unpack it, or save the sheet as CSV in UTF-8.",
    b"\x1f\x8b": "is compressed with gzip. Unpack it first.",
    b"{\\rtf": "is a text of Word (RTF). Save its table as CSV in UTF-8.",
    b"\xd0\xcf\x11\xe0": "is a file of an old Excel or Word. Save its table as CSV in UTF-8.",
    b"%PDF": "is a PDF. Import the table that it was made of, as CSV in UTF-8.",
}
_IS_OPEN = re.compile(rb"[{\[]$|[^}],$")
_WEB_PAGE = (b"<!doctype html", b"<html")
NAMED = {
    ".csv": Format.CSV,
    ".tsv": Format.CSV,
    ".json": Format.JSONL,
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
    ".parquet": Format.PARQUET,
    ".pq": Format.PARQUET,
}


def recognise(path: Path, *, name: str) -> Format:
    """CSV, JSONL or Parquet; whether JSONL is nested only its first record can tell.

    The content decides. A file whose name says something else is refused, never guessed at.
    Raises ImportRefused for an empty file, one that cannot be opened, or one of another kind.
    """
    head = head_of(path, name)
    named = NAMED.get(Path(name).suffix.lower())
    for magic, reason in _FOREIGN.items():
        if head.startswith(magic):
            raise unreadable(f"{name} {reason}")
    if head.removeprefix(BYTE_ORDER_MARK).lstrip()[:20].lower().startswith(_WEB_PAGE):
        what = "CSV" if named in {None, Format.CSV} else str(named)
        raise unreadable(
            f"{name} is a web page, not a {what}. Download the file itself; its server may want you to sign in first."
        )
    if head.startswith(b"PAR1"):
        found = Format.PARQUET
    elif _is_of_one_byte(head):
        # Line by line it could be imported without every row that has an accent in it.
        raise unreadable(
            f"{name} is not UTF-8 but probably Windows-1252. Save it as “CSV UTF-8” in Excel, or convert it: "
            "iconv -f WINDOWS-1252 -t UTF-8"
        )
    else:
        found = _text_format(head.removeprefix(BYTE_ORDER_MARK).lstrip(), name=name, named=named)
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
    if not head.removeprefix(BYTE_ORDER_MARK).strip():
        raise unreadable(f"{name} is empty. It needs one row for each summary.")
    return head


def _is_of_one_byte(head: bytes) -> bool:
    """Whether several lines have other signs than ASCII's, and none of these lines is UTF-8."""
    lines = [line for line in head.splitlines() if not line.isascii()]
    return len(lines) > 1 and not any(as_text(line)[1] for line in lines)


def _is_one_object(path: Path, *, ends_soon: bool) -> bool:
    """Whether JSON is written over several lines, or `ends_soon` and there is a single line."""
    with path.open("rb") as stream:
        lines = iter(lambda: stream.readline(MAX_LINE_BYTES).removeprefix(BYTE_ORDER_MARK), b"")
        first = next(filter(None, map(bytes.strip, lines)), b"")
        return bool(_IS_OPEN.search(first[-2:])) or (ends_soon and not stream.read(HEAD_BYTES).strip())


def _text_format(head: bytes, *, name: str, named: Format | None) -> Format:
    if head.startswith(b"{"):
        return Format.JSONL
    if head.startswith(b"[") and named is not Format.CSV:
        return Format.JSON_LIST
    if named is Format.PARQUET:
        raise unreadable(f"{name} is named like Parquet but is not: it does not begin with PAR1.")
    # A JSONL file may begin with a broken line; that line is then named like any other.
    return Format.JSONL if named is Format.JSONL else Format.CSV


def as_text(data: bytes) -> tuple[str, bool]:
    """The text of a file and whether it is UTF-8; an older one is read as Windows-1252 or Latin-1."""
    data = data.removeprefix(BYTE_ORDER_MARK)
    try:
        return data.decode("utf-8"), True
    except UnicodeDecodeError:
        pass
    try:
        return data.decode("cp1252"), False
    except UnicodeDecodeError:
        return data.decode("latin-1"), False
