"""The formats of export by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import BinaryIO, cast

from django.utils.module_loading import import_string

from annotation.core.tables.columns import Column, TableRow

Write = Callable[[Iterable[TableRow], Sequence[Column], BinaryIO], int]

# By name, so that only processes that write Parquet load its library (34 MB).
_WRITERS = {
    "csv": "annotation.core.tables.as_csv.write",
    "jsonl": "annotation.core.tables.as_jsonl.write",
    "parquet": "annotation.core.tables.as_parquet.write",
}

FORMAT_NAMES = tuple(_WRITERS)


def writer(name: str) -> Write:
    return cast("Write", import_string(_WRITERS[name]))
