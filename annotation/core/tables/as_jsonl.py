"""Writing JSONL in UTF-8: one object per line; missing values are null."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import BinaryIO

from annotation.core.tables.by_column import Remembered, Spell, spelled
from annotation.core.tables.columns import Column, ColumnKind, TableRow


def write(rows: Iterable[TableRow], columns: Sequence[Column], stream: BinaryIO) -> int:
    """Write the rows to a binary stream, which stays open, and return their number."""
    names = (_encode(column.name).replace("%", "%%") for column in columns)
    line = f"{{{', '.join(f'{name}: %s' for name in names)}}}\n"
    count = 0
    for group in spelled(rows, (_SPELLING.get(column.kind, _once) for column in columns)):
        stream.write("".join(map(line.__mod__, group)).encode())
        count += len(group)
    return count


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"A cell of type {type(value).__name__} has no form in JSON.")


# Fail on NaN and infinity, because strict JSON readers refuse them.
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=_plain).encode


def _once() -> Spell:
    return Remembered(_encode).__getitem__


def _number(value: float | None) -> str:
    return repr(value) if type(value) is float and math.isfinite(value) else _encode(value)


_SPELLING: dict[ColumnKind, Callable[[], Spell]] = {
    # Numbers must not be cached, because 0.0 and -0.0 are equal keys.
    ColumnKind.NUMBER: lambda: _number,
    ColumnKind.INTEGERS: lambda: _list,
    ColumnKind.TEXTS: lambda: _list,
    ColumnKind.JSON: lambda: _encode,
}


def _list(values: Sequence[object] | None) -> str:
    return "[]" if values is not None and not values else _encode(values)
