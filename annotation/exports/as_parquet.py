"""Parquet: typed columns, zstd, written one row group at a time; a missing value is null."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, BinaryIO

import pyarrow as pa
from pyarrow import parquet

from annotation.exports.columns import Column, Kind, Row

_ROWS_IN_A_GROUP = 10_000

_TYPES: dict[Kind, Any] = {
    Kind.TEXT: pa.string(),
    Kind.INTEGER: pa.int64(),
    Kind.NUMBER: pa.float64(),
    Kind.FLAG: pa.bool_(),
    Kind.MOMENT: pa.timestamp("us", tz="UTC"),
    Kind.INTEGERS: pa.list_(pa.int64()),
    Kind.TEXTS: pa.list_(pa.string()),
}


def write(rows: Iterable[Row], columns: Sequence[Column], stream: BinaryIO) -> int:
    """Write the rows to a binary stream, which stays open; returns their number."""
    schema = pa.schema([(column.name, _TYPES[column.kind]) for column in columns])
    count = 0
    with parquet.ParquetWriter(stream, schema, compression="zstd") as writer:
        for group in _groups(iter(rows)):
            arrays = [
                pa.array(values, type=field.type)
                for values, field in zip(zip(*group, strict=True), schema, strict=True)
            ]
            writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
            count += len(group)
    return count


def _groups(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while group := list(islice(rows, _ROWS_IN_A_GROUP)):
        yield group
