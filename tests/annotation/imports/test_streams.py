from __future__ import annotations

import json
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from annotation.imports import containers as streams
from annotation.imports.read import read_dataset
from tests.annotation.imports.files import DOCUMENT, HEADER, jsonl, problems_of, raw, refusal_of, row

LATIN = "d1,Où?,,alder,Two.,\n".encode("latin-1")


def test_malformed_json_is_named_by_line_and_character(tmp_path: Path) -> None:
    good = jsonl(tmp_path, row()).read_bytes()
    path = raw(tmp_path, good + b'{"document_id": "d2", }\n')
    # The closing brace is at character 23, where a name was expected.
    assert problems_of(path) == [
        (2, "", "is not JSON: Expecting property name enclosed in double quotes at character 23.")
    ]


@pytest.mark.parametrize(
    ("line", "fragment"),
    [
        ("[1, 2]", "is not a JSON object"),
        ('{"target_words": Infinity}', "Infinity is no number in JSON"),
        ('{"a": 1, "a": 2}', "holds the name 'a' twice"),
        ('{"a": ' + "[" * 100_000, "is nested too deeply"),
        ('{"a": ' + "9" * 5_000 + "}", "is not JSON that can be read"),
    ],
)
def test_lines_that_are_no_plain_object_are_named(tmp_path: Path, line: str, fragment: str) -> None:
    good = jsonl(tmp_path, row()).read_text()
    [(number, column, reason)] = problems_of(raw(tmp_path, good + line))
    assert (number, column) == (2, "")
    assert fragment in reason


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_a_line_of_another_encoding_is_named_by_column_and_character(tmp_path: Path, name: str) -> None:
    good = HEADER if name == "a.csv" else jsonl(tmp_path, row()).read_text()
    line = LATIN if name == "a.csv" else json.dumps(row(document="Où"), ensure_ascii=False).encode("latin-1")
    [(line_number, column, reason)] = problems_of(raw(tmp_path, good.encode() + line, name))
    # "O" is the first character of "Où", so the fault is at the second.
    assert (line_number, column) == (2, "document")
    assert reason.startswith("is not of the file's encoding at character 2.")
    assert "iconv -f WINDOWS-1252 -t UTF-8" in reason


def test_blank_lines_are_passed_over_and_counted(tmp_path: Path) -> None:
    content = "\n" + jsonl(tmp_path, row()).read_text() + "\n\n[]\n"
    assert [problem[0] for problem in problems_of(raw(tmp_path, content))] == [5]


def test_separators_inside_of_json_texts_end_no_line(tmp_path: Path) -> None:
    line = json.dumps(row(summary="a\u2028b\x85c"), ensure_ascii=False)
    path = raw(tmp_path, line)
    [one] = read_dataset(path).dataset.sets.values()
    assert one.summaries["alder", 10].summary == "a\u2028b\x85c"


def test_a_line_too_long_to_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MAX_LINE_BYTES", 1000)
    assert refusal_of(jsonl(tmp_path, row(document="x" * 5000), row())).startswith("line 1: is longer than")


def test_csv_with_mark_crlf_and_line_breaks_in_quotes_keeps_its_line_numbers(tmp_path: Path) -> None:
    content = (
        "\ufeff" + HEADER.replace("\n", "\r\n") + 'd1,"One.\r\nTwo, ""three"".",,alder,Two.,10\r\n'
        "\r\n"
        "d1,Other.,,birch,Two.,10\r\n"
    )
    reading = read_dataset(raw(tmp_path, content, "a.csv"))
    assert reading.dataset.sets["d1"].documents == ('One.\r\nTwo, "three".',)
    # The first row is on lines 2 and 3, line 4 is blank, and line 5 has another document.
    assert [problem.line for problem in reading.problems.shown] == [5]


def test_csv_row_of_another_width_is_named(tmp_path: Path) -> None:
    [(line, _, reason)] = problems_of(raw(tmp_path, HEADER + "d1,One, two.,,alder,Two.,10\n", "a.csv"))
    assert (line, reason[:38]) == (2, "has 7 cells, but the header has 6. A t")


@pytest.mark.parametrize("quote", ['d1,"never closed,,alder,x,10\nd2,a,,b,c,1\n', 'd1,"a"b,,alder,x,10\n'])
def test_broken_quotes_end_the_reading_at_their_row(tmp_path: Path, quote: str) -> None:
    content = HEADER + f"d0,{DOCUMENT},,alder,Two.,10\n" + quote
    assert refusal_of(raw(tmp_path, content, "a.csv")).startswith("line 3: is not CSV that can be read")


def test_old_line_ends_are_told_from_broken_quotes(tmp_path: Path) -> None:
    content = (HEADER + f"d1,{DOCUMENT},,alder,Two.,10\n").replace("\n", "\r")
    assert "Line feeds end lines." in refusal_of(raw(tmp_path, content, "a.csv"))


def test_column_named_twice_is_refused(tmp_path: Path) -> None:
    content = HEADER.replace("reference", "system")
    assert "names the column 'system' twice" in refusal_of(raw(tmp_path, content, "a.csv"))


def test_a_row_of_json_is_refused_and_a_row_of_quotes_is_read(tmp_path: Path) -> None:
    cells = [*(f'"""{text}"""' for text in ("d1", DOCUMENT, "alder", "Two.")), "NaN", "1e-05"]
    head = "document_id,document,system,summary,rouge,bleu\n"
    told = refusal_of(raw(tmp_path, head + ",".join(cells), "a.csv"))
    assert told == "line 2: holds JSON in every cell. Save the table as JSONL."
    quoted = ",".join(["d1", *cells[1:]])
    [one] = read_dataset(raw(tmp_path, head + quoted, "a.csv")).dataset.sets.values()
    assert one.documents == (f'"{DOCUMENT}"',)


@pytest.mark.parametrize(("separator", "word"), [(";", "semicolons"), ("\t", "tabs"), ("|", "bars")])
def test_other_separators_are_recognised_and_told(tmp_path: Path, separator: str, word: str) -> None:
    lines = [HEADER.strip(), f"d1,{DOCUMENT},,alder,Two.,10", ""]
    reading = read_dataset(raw(tmp_path, "\n".join(lines).replace(",", separator), "a.csv"))
    assert list(reading.dataset.sets) == ["d1"]
    assert f"Cells were separated by {word}, not by commas." in reading.warnings.texts


def test_parquet_rows_are_counted_from_1(tmp_path: Path) -> None:
    rows = [
        row(target_words=None),
        row(system="birch", target_words=None),
        row(system=None, target_words=None),
    ]
    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    reading = read_dataset(path)
    assert [problem.describe("row") for problem in reading.problems.shown] == ["row 3, system: has no value."]
    assert set(reading.dataset.sets["d1"].summaries) == {("alder", None), ("birch", None)}


def test_a_parquet_file_with_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    column = pyarrow.array([b"fine", b"caf\xe9"]).cast(pyarrow.string(), safe=False)
    table = pyarrow.Table.from_pylist([row(), row(system="birch")]).set_column(
        list(row()).index("summary"), "summary", column
    )
    path = tmp_path / "a.parquet"
    parquet.write_table(table, path)
    assert "cannot be read after row 0 ('utf-8' codec" in refusal_of(path)
