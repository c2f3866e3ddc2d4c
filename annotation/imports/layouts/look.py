"""The records of a file of rows in any format; and a look at its first ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from annotation.imports.duc.convert import are_duc_files
from annotation.imports.fields import FLAT_REQUIRED
from annotation.imports.formats import Format, NamedFile, recognise
from annotation.imports.layouts.guess import Guess, guess
from annotation.imports.layouts.paths import pick, text_paths
from annotation.imports.problems import Problems
from annotation.imports.streams import (
    FileTable,
    Record,
    csv_table,
    json_records,
    listed_records,
    parquet_table,
)

ROWS_LOOKED_AT = 100
ROWS_SHOWN = 5
MOST_COLUMNS = 200


@dataclass(frozen=True, slots=True)
class Look:
    """A file's columns, paths into them included, and its first records."""

    format: Format
    columns: tuple[str, ...]
    records: tuple[Record, ...]

    @property
    def is_nested(self) -> bool:
        """Whether a line holds a document with several systems: our other layout, which has no columns to choose."""
        is_json = self.format in {Format.JSONL, Format.JSON_LIST}
        return is_json and bool(self.records) and isinstance(self.records[0].values.get("systems"), list)

    def guess(self, **choices: Any) -> Guess:
        return guess(self.columns, [record.values for record in self.records], **choices)

    def shown(self) -> list[list[object]]:
        """The first rows, cell by cell."""
        return [
            [pick(record.values, column) for column in self.columns] for record in self.records[:ROWS_SHOWN]
        ]


def look_at(path: Path, *, name: str) -> Look:
    """Raises ImportRefused where the file cannot be read as one of rows."""
    form = recognise(path, name=name)
    table = table_of(path, name, form, Problems())
    records = tuple(islice(table.records, ROWS_LOOKED_AT))
    columns = dict.fromkeys(table.columns)
    for record in records:
        columns.update(dict.fromkeys(text_paths(record.values)))
    return Look(form, tuple(islice(columns, MOST_COLUMNS)), records)


def look_at_rows(files: Sequence[NamedFile]) -> Look | None:
    """A look at the one file of rows; None where the files are DUC's and TAC's. Raises ImportRefused."""
    return None if are_duc_files(files) else look_at(files[0].path, name=files[0].name)


def table_of(
    path: Path, name: str, form: Format, problems: Problems, *, wanted: Collection[str] = ()
) -> FileTable:
    """The records of a file, with the columns of a format that has any: the wanted ones, or all."""
    if form is Format.PARQUET:
        return parquet_table(path, problems, name=name, wanted=wanted)
    if form is Format.CSV:
        return csv_table(path, problems, wanted=wanted or FLAT_REQUIRED)
    records = (
        listed_records(path, problems, name=name)
        if form is Format.JSON_LIST
        else json_records(path, problems)
    )
    return FileTable(columns=(), records=records)
