"""Writing CSV in UTF-8 with a header."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import BinaryIO

from annotation.core.tables.by_column import Remembered, Spell, spelled
from annotation.core.tables.columns import Cell, Column, ColumnKind, TableRow

# Texts that spreadsheets run as a formula, including full-width signs. A text after a dash and a space, as in a list,
# is dangerous only if it calls a function or another program.
_FORMULA = re.compile(r"[=@\t\r\n＝＠]|[-+－＋](?!\s)|[-+－＋].*(?:\w\(|\|)", re.DOTALL)


def write(
    rows: Iterable[TableRow], columns: Sequence[Column], stream: BinaryIO, *, plain: bool = False
) -> int:
    """Write the rows to a binary stream, which stays open, and return their number.

    `plain` leaves texts unchanged, even if a spreadsheet would run them as formulas.
    """
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=False)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in columns])
    count = 0
    spell = partial(cell, plain=plain)
    kinds: dict[ColumnKind, Callable[[], Spell] | None] = {
        # No conversion is needed: the CSV writer formats numbers and leaves None empty.
        ColumnKind.INTEGER: None,
        ColumnKind.NUMBER: None,
        ColumnKind.INTEGERS: lambda: spell,
        ColumnKind.TEXTS: lambda: spell,
        ColumnKind.JSON: lambda: spell,
    }
    for group in spelled(
        rows, (kinds.get(column.kind, lambda: Remembered(spell).__getitem__) for column in columns)
    ):
        writer.writerows(group)
        count += len(group)
    text.detach()
    return count


def cell(value: Cell, *, plain: bool = False) -> str | int | float:
    """Convert a value to a cell: numbers stay numbers, and formulas in texts are disabled unless `plain` is set.

    In a list, numbers are separated by spaces ("1 4 7") and texts by "; ".
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
        case dict():
            return json.dumps(value, ensure_ascii=False)
    text = _joined(value) if isinstance(value, list | tuple) else str(value)
    return text if plain else defused(text)


def _joined(values: Sequence[object]) -> str:
    if not values:
        return ""
    separator = "; " if any(isinstance(value, str) for value in values) else " "
    return separator.join(map(str, values))


def defused(text: str) -> str:
    """Prefix the text with an apostrophe if a spreadsheet would run it as a formula."""
    return f"'{text}" if _FORMULA.match(text) else text
