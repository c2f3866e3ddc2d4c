"""The formats of export by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import BinaryIO, cast

from django.utils.module_loading import import_string

from annotation.core.tables.columns import Column, TableRow

Write = Callable[[Iterable[TableRow], Sequence[Column], BinaryIO], int]
"""A function that writes rows to a binary stream, which stays open, and returns their number."""

# Import a writer on first use, so that only processes that write Parquet load its library.
_WRITERS = {
    "csv": "annotation.core.tables.as_csv.write",
    "jsonl": "annotation.core.tables.as_jsonl.write",
    "parquet": "annotation.core.tables.as_parquet.write",
}

FORMAT_NAMES = tuple(_WRITERS)


def writer(name: str, *, plain: bool = False) -> Write:
    """Return the writer of a format. With `plain`, CSV keeps texts unchanged that a spreadsheet would run as
    formulas.
    """
    write = import_string(_WRITERS[name])
    return cast("Write", partial(write, plain=True) if plain and name == "csv" else write)
