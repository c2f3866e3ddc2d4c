"""CSV in UTF-8 with a header: missing values are empty, lists are one cell, and no cell acts as a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import BinaryIO

from annotation.core.tables.by_column import Remembered, Spell, spelled
from annotation.core.tables.columns import Cell, Column, ColumnKind, TableRow

# Characters that start a formula in spreadsheets, including full-width forms.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def write(rows: Iterable[TableRow], columns: Sequence[Column], stream: BinaryIO) -> int:
    """Write the rows to a binary stream, which stays open; returns their number."""
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=False)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in columns])
    count = 0
    for group in spelled(rows, (_SPELLING.get(column.kind, _once) for column in columns)):
        writer.writerows(group)
        count += len(group)
    text.detach()
    return count


def _once() -> Spell:
    return Remembered(cell).__getitem__


def cell(value: Cell) -> str | int | float:
    """The cell of a value: numbers stay numbers, texts are defused.

    Unit numbers are separated by spaces ("1 4 7"), names and flags by "; ".
    """
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case int() | float():
            return value
        case datetime():
            return value.isoformat()
        case list():
            return defused(_joined(value))
    return defused(value)


def _joined(values: list[int] | list[str]) -> str:
    if not values:
        return ""
    separator = "; " if any(isinstance(value, str) for value in values) else " "
    return separator.join(map(str, values))


def defused(text: str) -> str:
    """The text, prefixed with an apostrophe if a spreadsheet would run it as a formula."""
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


# The writer formats numbers and leaves out missing ones itself.
_SPELLING: dict[ColumnKind, Callable[[], Spell] | None] = {
    ColumnKind.INTEGER: None,
    ColumnKind.NUMBER: None,
    ColumnKind.INTEGERS: lambda: cell,
    ColumnKind.TEXTS: lambda: cell,
}
