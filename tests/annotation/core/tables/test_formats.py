from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from annotation.adjudicating.services.adjudicate import decide_check
from annotation.core.tables import as_csv, as_jsonl, as_parquet
from annotation.core.tables.by_column import ROWS_AT_ONCE
from annotation.core.tables.columns import Column, ColumnKind
from annotation.exports.levels import TABLES
from annotation.models import System
from annotation.reviewing.services.review import override
from tests.annotation.cast import World
from tests.annotation.exports.acts import assess_and_close
from tests.annotation.exports.reading import exported


def as_text(value: Any, kind: ColumnKind) -> str:
    if value is None:
        return ""
    match kind:
        case ColumnKind.FLAG:
            return {True: "true", False: "false"}[value]
        case ColumnKind.INTEGERS:
            return " ".join(str(number) for number in value)
        case ColumnKind.TEXTS:
            return "; ".join(value)
        case ColumnKind.NUMBER:
            return repr(value)
    return str(value)


@pytest.fixture
def busy(world: World) -> World:
    assess_and_close(
        world, world.ana, {("alder", 1): 60, ("alder", 2): 80, ("birch", 1): 0, ("birch", 2): 20}
    )
    override(
        check=world.check("alder", 2), by=world.rex, label="yes", reason="It\r\ndoes, «über»", evidence=[1]
    )
    decide_check(check=world.check("birch", 1), by=world.cleo, label="unsure", reason='He said "no"')
    return world


@pytest.mark.django_db
@pytest.mark.parametrize("level", TABLES)
def test_parquet_and_jsonl_hold_the_same(busy: World, tmp_path: Path, level: str) -> None:
    lines = exported(busy.project, level, tmp_path / "jsonl")
    assert lines
    assert exported(busy.project, level, tmp_path / "parquet", format_name="parquet") == lines


@pytest.mark.django_db
@pytest.mark.parametrize("level", TABLES)
def test_csv_and_jsonl_hold_the_same(busy: World, tmp_path: Path, level: str) -> None:
    kinds = {column.name: column.kind for column in TABLES[level].columns}
    lines = exported(busy.project, level, tmp_path / "jsonl")
    assert exported(busy.project, level, tmp_path / "csv", format_name="csv") == [
        {name: as_text(value, kinds[name]) for name, value in line.items()} for line in lines
    ]


@pytest.mark.parametrize("format_name", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("level", TABLES)
def test_an_export_of_nothing_has_its_columns(
    world: World, tmp_path: Path, level: str, format_name: str
) -> None:
    path = tmp_path / "empty"
    assert exported(world.other_project, level, path, format_name=format_name) == []
    names = [column.name for column in TABLES[level].columns]
    if format_name == "csv":
        assert path.read_text() == ",".join(names) + "\n"
    elif format_name == "parquet":
        assert parquet.read_schema(path).names == names
    else:
        assert path.read_bytes() == b""


@pytest.mark.parametrize(
    "text",
    [
        *(
            "=1+1",
            "+1",
            "-1",
            "@SUM(A1)",
            "\tx",
            "\r=1",
            "\n=1",
            "＝1",
            "＋1",
            "－1",
            "＠x",
            '=HYPERLINK("x")',
        ),
        *("- cmd|' /C calc'!A0", "+ SUM(A1)"),
    ],
)
def test_a_text_that_starts_like_a_formula_is_defused(text: str) -> None:
    assert as_csv.cell(text) == f"'{text}"
    assert as_csv.cell(text, plain=True) == text


@pytest.mark.parametrize("text", ["", "plain", "1 - 2", "a=b", "'quoted", "ünïcode", "- It rained (a lot)."])
def test_any_other_text_is_left_alone(text: str) -> None:
    assert as_csv.cell(text) == text


@pytest.mark.parametrize("number", [-1, -0.25, 0, 1e-9, 3.5])
def test_a_number_is_never_defused(number: float) -> None:
    assert as_csv.cell(number) == number


def test_a_list_that_starts_like_a_formula_is_defused() -> None:
    assert as_csv.cell(["@ana", "ben"]) == "'@ana; ben"


def test_a_system_named_like_a_formula_is_defused_in_csv_alone(world: World, tmp_path: Path) -> None:
    System.objects.filter(name="alder").update(name="=cmd|' /C calc'!A0")
    in_csv = exported(world.project, "scores", tmp_path / "csv", format_name="csv")
    in_jsonl = exported(world.project, "scores", tmp_path / "jsonl")
    assert {row["system"] for row in in_csv} == {"'=cmd|' /C calc'!A0", "birch"}
    assert {row["system"] for row in in_jsonl} == {"=cmd|' /C calc'!A0", "birch"}


@given(text=st.text())
def test_no_cell_of_a_csv_starts_like_a_formula(text: str) -> None:
    cell = as_csv.cell(text)
    assert isinstance(cell, str)
    assert not cell.startswith(("=", "@", "\t", "\r", "＝", "＠"))
    assert cell[:1] not in {"+", "-", "＋", "－"} or cell[1:2].isspace()
    assert cell.removeprefix("'") in {text, text.removeprefix("'")}


COLUMNS = (Column("name"), Column("value", ColumnKind.NUMBER))


@pytest.mark.parametrize("write", [as_csv.write, as_jsonl.write, as_parquet.write])
def test_a_writer_counts_its_rows_and_leaves_the_stream_open(write: Callable[..., int]) -> None:
    stream = BytesIO()
    assert write(((str(number), number / 2) for number in range(25_000)), COLUMNS, stream) == 25_000
    assert not stream.closed
    assert stream.tell() > 0


def test_parquet_is_written_in_row_groups() -> None:
    stream = BytesIO()
    as_parquet.write((("x", None) for _ in range(25_000)), COLUMNS, stream)
    metadata = parquet.ParquetFile(stream).metadata
    assert [metadata.row_group(place).num_rows for place in range(metadata.num_row_groups)] == [
        10_000,
        10_000,
        5_000,
    ]


def test_jsonl_refuses_a_number_that_is_none() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        as_jsonl.write([("x", float("nan"))], COLUMNS, BytesIO())


def test_many_rows_of_values_that_look_alike_are_each_spelled_as_they_are() -> None:
    columns = [
        Column("a 100%"),
        Column("n", ColumnKind.NUMBER),
        Column("f", ColumnKind.FLAG),
        Column("l", ColumnKind.INTEGERS),
    ]
    rows: list[Any] = [
        ("=1", 0.0, True, [1, 4]),
        ("1", -0.0, False, []),
        (None, None, None, None),
    ] * ROWS_AT_ONCE
    csv, jsonl = BytesIO(), BytesIO()
    assert as_csv.write(rows, columns, csv) == as_jsonl.write(rows, columns, jsonl) == len(rows)
    assert (
        csv.getvalue().decode() == "a 100%,n,f,l\n" + "'=1,0.0,true,1 4\n1,-0.0,false,\n,,,\n" * ROWS_AT_ONCE
    )
    assert (
        jsonl.getvalue().decode()
        == (
            '{"a 100%": "=1", "n": 0.0, "f": true, "l": [1, 4]}\n{"a 100%": "1", "n": -0.0, "f": false, "l": []}\n'
            '{"a 100%": null, "n": null, "f": null, "l": null}\n'
        )
        * ROWS_AT_ONCE
    )
