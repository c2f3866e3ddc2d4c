"""A file and its manifest: whole or not at all, and true of each other."""

import hashlib
import json
import platform
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import annotation
from annotation.core.refusals import Invalid
from annotation.core.tables import as_csv
from annotation.core.tables.columns import Column, TableRow
from annotation.core.tables.pseudonyms import People
from annotation.exports.atomic_file import atomic_file, checked_path
from annotation.exports.levels import LEVELS
from annotation.exports.write import manifest_path, write_file
from annotation.scoring.records import score_rules
from tests.annotation.answering import say
from tests.annotation.cast import World
from tests.annotation.exports.reading import read


def write(world: World, path: Path, level: str, format_name: str = "jsonl") -> dict[str, Any]:
    people = People(world.project)
    return write_file(project=world.project, people=people, level=level, format_name=format_name, path=path)


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.mark.django_db
@pytest.mark.parametrize("format_name", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("level", LEVELS)
def test_the_manifest_tells_what_is_in_the_file(
    world: World, tmp_path: Path, level: str, format_name: str
) -> None:
    path = tmp_path / "export"
    say(world.check("alder", 1), world.rex, "no")
    manifest = write(world, path, level, format_name)
    assert json.loads(manifest_path(path).read_text()) == manifest
    rows = read(path, format_name)
    assert manifest["rows"] == len(rows) > 0
    assert [column["name"] for column in manifest["columns"]] == list(rows[0])
    assert manifest["sha256"] == sha256(path.read_bytes())
    assert (manifest["file"], manifest["bytes"]) == ("export", path.stat().st_size)


@pytest.mark.django_db
def test_the_manifest_tells_how_the_file_was_made(world: World, tmp_path: Path) -> None:
    manifest = write(world, tmp_path / "scores.csv", "scores", "csv")
    assert manifest["product"] == "coverdict"
    assert manifest["product_version"] == annotation.__version__
    assert manifest["python_version"] == platform.python_version()
    assert (manifest["project"], manifest["level"], manifest["format"]) == ("harbour", "scores", "csv")
    assert manifest["people"] == "pseudonyms"
    assert manifest["signature"] == score_rules(world.project).signature
    assert manifest["score_signatures"] == [manifest["signature"]]
    assert (manifest["rules"]["blend"], manifest["rules"]["percent_scale"]) == ("human_first", "six")
    assert manifest["deciding_judge"] == {
        "name": "lexical",
        "kind": "lexical",
        "model": None,
        "signatures": ["lexical|v:1"],
    }
    assert "apostrophe" in manifest["note"]


@pytest.mark.django_db
def test_a_project_without_a_judge_says_so(world: World, tmp_path: Path) -> None:
    people = People(world.other_project, named=True)
    manifest = write_file(
        project=world.other_project, people=people, level="scores", format_name="jsonl", path=tmp_path / "x"
    )
    assert (manifest["deciding_judge"], manifest["people"], manifest["rows"]) == (None, "names", 0)


@pytest.mark.django_db
def test_systems_say_what_their_intervals_cover(world: World, tmp_path: Path) -> None:
    intervals = write(world, tmp_path / "systems.jsonl", "systems")["intervals"]
    assert (intervals["confidence"], intervals["seed"]) == (0.95, 0)
    assert intervals["captions"]["coverage"] == "sampling of documents only; judge error not included"
    assert intervals["captions"]["coverage_human"].startswith("people's own scores")


@pytest.mark.django_db
@pytest.mark.parametrize("format_name", ["csv", "jsonl", "parquet"])
def test_a_bundle_holds_every_level_and_one_manifest(world: World, tmp_path: Path, format_name: str) -> None:
    path = tmp_path / "all.zip"
    say(world.check("alder", 1), world.rex, "no")
    manifest = write(world, path, "bundle", format_name)
    assert manifest["sha256"] == sha256(path.read_bytes())
    with zipfile.ZipFile(path) as bundle:
        assert bundle.testzip() is None
        assert bundle.namelist() == [*(f"{level}.{format_name}" for level in LEVELS), "manifest.json"]
        inside = json.loads(bundle.read("manifest.json"))
        bundle.extractall(tmp_path)
    assert inside["members"] == manifest["members"]
    for member in manifest["members"]:
        rows = read(tmp_path / member["file"], format_name)
        assert member["rows"] == len(rows) > 0
        assert [column["name"] for column in member["columns"]] == list(rows[0])
        assert member["sha256"] == sha256((tmp_path / member["file"]).read_bytes())
    assert manifest["rows"] == sum(member["rows"] for member in manifest["members"])


@pytest.mark.django_db
@pytest.mark.parametrize("level", ["scores", "bundle"])
def test_nothing_but_the_file_and_its_manifest_is_left(world: World, tmp_path: Path, level: str) -> None:
    write(world, tmp_path / "out", level)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.manifest.json"]


def test_a_file_that_breaks_off_leaves_what_stood_there(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("before")

    def rows() -> Iterator[TableRow]:
        yield from [("half",)] * 50_000
        raise RuntimeError

    with pytest.raises(RuntimeError), atomic_file(path) as stream:
        as_csv.write(rows(), [Column("word")], stream)
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("out", "before")]


def test_a_file_is_readable_as_the_process_makes_files(tmp_path: Path) -> None:
    with atomic_file(tmp_path / "ours") as stream:
        stream.write(b"x")
    (tmp_path / "plain").write_bytes(b"x")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("ours", "plain")}
    assert len(modes) == 1


def test_a_long_name_has_room_for_its_part(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 240)
    with atomic_file(path) as stream:
        stream.write(b"x")
    assert path.read_bytes() == b"x"


@pytest.mark.parametrize(
    ("name", "message"),
    [("missing/out", "There is no folder"), (".", "names no file|is a folder"), ("", "folder")],
)
def test_a_path_where_no_file_can_be_put_is_refused(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(Invalid, match=message) as refusal:
        checked_path(tmp_path / name)
    assert refusal.value.field == "path"


def test_a_device_is_not_replaced_by_a_file() -> None:
    with pytest.raises(Invalid, match="not a regular file"):
        checked_path(Path("/dev/null"))
