"""The formats of export by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import BinaryIO, cast

from django.utils.module_loading import import_string

from annotation.exports.columns import Column, Row

Write = Callable[[Iterable[Row], Sequence[Column], BinaryIO], int]

# By name, so that only who writes Parquet pays for its library (34 MB in every web worker).
_WRITERS = {
    "csv": "annotation.exports.as_csv.write",
    "jsonl": "annotation.exports.as_jsonl.write",
    "parquet": "annotation.exports.as_parquet.write",
}

FORMAT_NAMES = tuple(_WRITERS)


def writer(name: str) -> Write:
    return cast("Write", import_string(_WRITERS[name]))
