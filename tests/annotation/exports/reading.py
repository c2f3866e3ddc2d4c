"""Reading exports back."""

import csv
import json
from datetime import datetime
from pathlib import Path
from typing import Any

from pyarrow import parquet

from annotation.core.tables.pseudonyms import People
from annotation.exports.write import write_file
from annotation.models import Project

Rows = list[dict[str, Any]]


def exported(
    project: Project, level: str, path: Path, *, format_name: str = "jsonl", named: bool = False
) -> Rows:
    people = People(project, named=named)
    write_file(project=project, people=people, level=level, format_name=format_name, path=path)
    return read(path, format_name)


def read(path: Path, format_name: str) -> Rows:
    match format_name:
        case "csv":
            with path.open(encoding="utf-8", newline="") as stream:
                return list(csv.DictReader(stream))
        case "jsonl":
            return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        case "parquet":
            return [_iso(row) for row in parquet.read_table(path).to_pylist()]
    raise ValueError(format_name)


def _iso(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in row.items()}
