"""Writing Parquet with typed columns and zstd compression."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, BinaryIO

import pyarrow as pa
from pyarrow import parquet

from annotation.core.paging import batches
from annotation.core.tables.columns import Column, ColumnKind, TableRow

_ROWS_IN_A_GROUP = 10_000

_TYPES: dict[ColumnKind, Any] = {
    ColumnKind.TEXT: pa.string(),
    ColumnKind.INTEGER: pa.int64(),
    ColumnKind.NUMBER: pa.float64(),
    ColumnKind.FLAG: pa.bool_(),
    ColumnKind.MOMENT: pa.timestamp("us", tz="UTC"),
    ColumnKind.INTEGERS: pa.list_(pa.int64()),
    ColumnKind.TEXTS: pa.list_(pa.string()),
    ColumnKind.JSON: pa.string(),
}

_encode = json.JSONEncoder(ensure_ascii=False).encode
_NULLABLE = {ColumnKind.INTEGER: ("int64", "Int64"), ColumnKind.FLAG: ("bool", "boolean")}
"""The names of these types in pandas, without and with missing values."""


def write(rows: Iterable[TableRow], columns: Sequence[Column], stream: BinaryIO) -> int:
    """Write the rows to a binary stream, which stays open, and return their number."""
    fields = [(column.name, _TYPES[column.kind]) for column in columns]
    schema = pa.schema(fields, metadata={"pandas": json.dumps(_for_pandas(columns))})
    count = 0
    with parquet.ParquetWriter(stream, schema, compression="zstd") as writer:
        for group in batches(rows, _ROWS_IN_A_GROUP):
            arrays = [
                pa.array(map(_encode, values) if column.kind is ColumnKind.JSON else values, type=field.type)
                for values, column, field in zip(zip(*group, strict=True), columns, schema, strict=True)
            ]
            writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
            count += len(group)
    return count


def _for_pandas(columns: Sequence[Column]) -> dict[str, Any]:
    return {
        "index_columns": [],
        "column_indexes": [],
        "columns": [
            {
                "name": column.name,
                "field_name": column.name,
                "pandas_type": _NULLABLE[column.kind][0],
                "numpy_type": _NULLABLE[column.kind][1],
                "metadata": None,
            }
            for column in columns
            if column.kind in _NULLABLE
        ],
    }
