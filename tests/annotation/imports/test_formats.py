from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from annotation.imports.containers import Format, recognise
from annotation.imports.read import read_dataset
from tests.annotation.imports.files import HEADER, jsonl, nested, raw, refusal_of, row


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.csv", HEADER, Format.CSV),
        ("a.tsv", HEADER, Format.CSV),
        ("a.txt", HEADER, Format.CSV),
        ("a.jsonl", '{"a": 1}', Format.JSONL),
        ("a.txt", '\n {"a": 1}', Format.JSONL),
        ("a.csv", '{"a": 1}', Format.JSONL),
        ("a.jsonl", "\ufeff{}", Format.JSONL),
        ("a.json", "[{}]", Format.JSON_LIST),
        ("a.json", '{"a": 1}\n{"a": 2}', Format.JSONL),
        ("a.json", '{"rows": [{"a": 1}]}', Format.JSON_LIST),
        ("a.json", '{\n "rows": []}', Format.JSON_LIST),
        # A broken first line of a JSONL file is reported later, like any other broken line.
        ("a.jsonl", "oops", Format.JSONL),
    ],
)
def test_text_is_recognised(tmp_path: Path, name: str, content: str, expected: Format) -> None:
    assert recognise(raw(tmp_path, content, name), name=name) is expected


def test_nested_lines_are_told_from_flat_ones(tmp_path: Path) -> None:
    assert read_dataset(jsonl(tmp_path, nested())).format is Format.NESTED_JSONL
    assert read_dataset(jsonl(tmp_path, row())).format is Format.JSONL


def test_a_long_parquet_file_with_objects_is_read_to_its_end(tmp_path: Path) -> None:
    # There are more rows than are unpacked at once, and a column of objects.
    rows = [row(document_id=f"d{number}", metadata={"topic": "rain"}) for number in range(300)]
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    sets = read_dataset(tmp_path / "a.parquet").dataset.sets
    assert len(sets) == 300
    assert sets["d299"].metadata == {"topic": "rain"}


@pytest.mark.parametrize("content", [b"", b"\n \r\n", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_empty_file_is_refused(tmp_path: Path, name: str, content: bytes) -> None:
    assert refusal_of(raw(tmp_path, content, name)) == f"{name} is empty. It needs one row for each summary."


@pytest.mark.parametrize(
    ("name", "content", "fragment"),
    [
        ("a.csv", b"PAR1....", "is a Parquet file that cannot be read"),
        ("a.json", b'[{"document_id": 1}', "is not JSON"),
        ("a.csv", b'[{"document_id": 1}]', "there is no column"),
        ("a.csv", "a,b\n".encode("utf-16"), "is UTF-16"),
        ("a.csv", b"PK\x03\x04rest", "save the sheet as CSV"),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1", "is no table. Save its table as CSV"),
        ("a.pdf", b"%PDF-1.7\n", "is no table"),
        ("a.png", b"\x89PNG\r\n\x1a\n", "is no table"),
        ("a.jsonl", gzip.compress(b"{}", mtime=0), "Unpack it first"),
    ],
)
def test_other_kinds_of_file_are_refused(tmp_path: Path, name: str, content: bytes, fragment: str) -> None:
    assert fragment in refusal_of(raw(tmp_path, content, name))


def test_folder_is_refused(tmp_path: Path) -> None:
    assert "cannot be opened" in refusal_of(tmp_path)


def test_flat_fields_in_a_nested_line_are_named(tmp_path: Path) -> None:
    told = read_dataset(jsonl(tmp_path, {**nested(), **row()})).warnings.texts
    assert "Not read: `document_id`, `document`, `reference`, `summary`, `system`." in told
