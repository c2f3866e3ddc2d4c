"""JSONL: one object a line, UTF-8; a missing value is null."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import BinaryIO

from annotation.core.paging import batches
from annotation.core.tables.columns import Column, TableRow

_ROWS_AT_ONCE = 1000


def write(rows: Iterable[TableRow], columns: Sequence[Column], stream: BinaryIO) -> int:
    """Write the rows to a binary stream, which stays open; returns their number."""
    names = [column.name for column in columns]
    # A number that is not one would make a file that no strict reader takes: better to fail here.
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=_plain).encode
    lines = (encode(dict(zip(names, row, strict=True))) for row in rows)
    count = 0
    for some in batches(lines, _ROWS_AT_ONCE):
        stream.write(("\n".join(some) + "\n").encode())
        count += len(some)
    return count


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"A cell of type {type(value).__name__} has no form in JSON.")
