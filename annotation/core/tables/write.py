"""Writing small tables as CSV or JSON files."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence

from annotation.core.refusals import Invalid
from annotation.core.tables.as_csv import cell, defused
from annotation.core.tables.columns import Cell

CONTENT_TYPES = {"csv": "text/csv; charset=utf-8", "json": "application/json; charset=utf-8"}


def write_table(rows: Sequence[Mapping[str, Cell]], *, columns: Sequence[str], format_name: str) -> bytes:
    """Write the rows with these columns in the format `format_name`. Missing values are empty in CSV, null in JSON.

    Raises Invalid (field `format`) for an unknown format.
    """
    if format_name not in CONTENT_TYPES:
        raise Invalid(
            f"A table comes as {' or '.join(CONTENT_TYPES)}, not as {format_name!r}.", field="format"
        )
    if format_name == "json":
        lines = [{name: row.get(name) for name in columns} for row in rows]
        return json.dumps(lines, ensure_ascii=False, indent=2, allow_nan=False).encode()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    # Disable formulas in the header too, because people can choose the names of some columns.
    writer.writerow([defused(name) for name in columns])
    writer.writerows([cell(row.get(name)) for name in columns] for row in rows)
    return text.getvalue().encode()
