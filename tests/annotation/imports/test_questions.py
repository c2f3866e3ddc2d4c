from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.imports.read import read_dataset
from tests.annotation.imports.files import DOCUMENT, jsonl, nested, problems_of, raw, row

TWO = ["Did it rain?", "Did trams stop?"]


def read(path: Path) -> tuple[str, ...]:
    return read_dataset(path).dataset.sets["d1"].questions


def csv_file(folder: Path, cell: str) -> Path:
    quoted = cell.replace('"', '""')
    text = f'document_id,document,system,summary,questions\nd1,"{DOCUMENT}",alder,Trams stopped.,"{quoted}"\n'
    return raw(folder, text, "data.csv")


@pytest.mark.parametrize("made", [row, nested])
def test_a_list_in_a_line(tmp_path: Path, made: Any) -> None:
    assert read(jsonl(tmp_path, made(questions=[" Did it rain? ", "Did trams stop?"]))) == tuple(TWO)


@pytest.mark.parametrize(
    "cell", [json.dumps(TWO), "Did it rain?\n\nDid trams stop?\n"], ids=["json", "lines"]
)
def test_a_cell_of_a_csv_file(tmp_path: Path, cell: str) -> None:
    assert read(csv_file(tmp_path, cell)) == tuple(TWO)


def test_rows_of_one_document_that_disagree_are_refused(tmp_path: Path) -> None:
    path = jsonl(tmp_path, row(questions=TWO), row(system="birch", questions=TWO[:1]))
    [(line, column, reason)] = problems_of(path)
    assert (line, column) == (2, "questions")
    assert "differs from that at line 1" in reason


@pytest.mark.parametrize("record", [row, nested])
@pytest.mark.parametrize(
    ("value", "fragment"),
    [
        (5, "is 5, not a list of questions"),
        (True, "is True, not a list of questions"),
        ({"a": "Did it rain?"}, "is a dict, not a list of questions"),
        ('{"a": 1}', "is a dict, not a list of questions"),
        ('["Did it rain?"', "is not JSON"),
        (["Did it rain?", 5], "is 5, not a text"),
        (["Did it rain?", None], "has no value"),
        ([["Did it rain?"]], "is a list, not a text"),
        (["Did it rain?", ""], "number 2, that contains no words"),
        (["?"], "number 1, that contains no words"),
        (["x" * 10_000], "number 1, that has 10,000 characters; a question may have 1,000"),
        (["Did it rain?", "did it  rain?"], "the same question twice, as number 1 and number 2"),
        ([f"Is it {number}?" for number in range(500)], "holds 500 questions; a document set may have 100"),
        (["Is it \x00?"], "contains a NUL character"),
        (["Is it \ud83d?"], "contains half a surrogate pair"),
    ],
)
def test_bad_questions_are_named(tmp_path: Path, record: Any, value: Any, fragment: str) -> None:
    [(line, column, reason)] = problems_of(jsonl(tmp_path, record(questions=value)))
    assert (line, column) == (1, "questions")
    assert fragment in reason
