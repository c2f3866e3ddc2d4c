"""The rows of a file that cannot come in, with what is wrong with them, to be corrected and sent again."""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from annotation.imports.formats import Format, NamedFile, recognise
from annotation.imports.layouts.guess import ADDED
from annotation.imports.layouts.look import table_of
from annotation.imports.problems import ImportRefused, Problem, Problems
from annotation.imports.read import read_dataset

MOST_PROBLEMS = 1_000_000
ROW, PROBLEM = f"{ADDED}row", f"{ADDED}problem"


def rejected(
    file: NamedFile, problems: Iterable[Problem], choices: Mapping[str, Any]
) -> tuple[str, Iterator[str]]:
    """The name of a file of the rejected rows, and its text: JSONL where the rows were JSON, else CSV.

    `problems` are known besides those that reading the file with these choices (`layout`, `claims_side`) shows.
    Raises ImportRefused where the file cannot be read at all.
    """
    found = Problems(most=MOST_PROBLEMS)
    try:
        read_dataset(file.path, name=file.name, problems=found, **choices)
    except ImportRefused as refusal:
        if not found.count:
            raise refusal
    reasons: dict[int, dict[str, None]] = defaultdict(dict)
    for problem in (*found.shown, *problems):
        if problem.line is not None:
            told = f"{problem.column}: {problem.reason}" if problem.column else problem.reason
            reasons[problem.line][told] = None
    form = recognise(file.path, name=file.name)
    is_json = form in {Format.JSONL, Format.JSON_LIST}
    rows = _rows(file, form, reasons)
    return ("rejected.jsonl", _as_jsonl(rows)) if is_json else ("rejected.csv", _as_csv(rows))


def _rows(file: NamedFile, form: Format, reasons: Mapping[int, Iterable[str]]) -> Iterator[dict[str, object]]:
    """The rows with their values; those that could not even be taken apart stand without, at the end."""
    left = dict(reasons)
    for record in table_of(file.path, file.name, form, Problems()).records:
        if told := left.pop(record.line, None):
            yield {ROW: record.line, PROBLEM: " ".join(told), **record.values}
    for line, told in left.items():
        yield {ROW: line, PROBLEM: " ".join(told)}


def _as_jsonl(rows: Iterable[Mapping[str, object]]) -> Iterator[str]:
    for row in rows:
        yield json.dumps(row, ensure_ascii=False, default=str) + "\n"


# Values stand as they were sent, formulas too: the file is corrected and comes back.
def _as_csv(rows: Iterable[Mapping[str, object]]) -> Iterator[str]:
    columns: list[str] = []
    for row in rows:
        written = io.StringIO()
        writer = csv.writer(written)
        if not columns:
            columns = list(row)
            writer.writerow(columns)
        writer.writerow([_cell(row.get(column)) for column in columns])
        yield written.getvalue()


def _cell(value: object) -> object:
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, dict | list) else value
