import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

import annotation
from annotation.core.tables.pseudonyms import People
from annotation.exports.levels import TABLES
from annotation.exports.services import manifest_path, write_export
from annotation.exports.write import write_file
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
@pytest.mark.parametrize("level", TABLES)
def test_the_manifest_tells_what_is_in_the_file(
    world: World, tmp_path: Path, level: str, format_name: str
) -> None:
    path = tmp_path / "export"
    say(world.check("alder", 1), world.rex, "no")
    manifest = write(world, path, level, format_name)
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
    assert manifest["guarded"] is True


@pytest.mark.django_db
@pytest.mark.parametrize("format_name", ["csv", "jsonl", "parquet"])
def test_a_bundle_holds_every_level_and_one_manifest(world: World, tmp_path: Path, format_name: str) -> None:
    path = tmp_path / "all.zip"
    say(world.check("alder", 1), world.rex, "no")
    manifest = write(world, path, "bundle", format_name)
    assert manifest["sha256"] == sha256(path.read_bytes())
    with zipfile.ZipFile(path) as bundle:
        assert bundle.testzip() is None
        assert bundle.namelist() == [*(f"{level}.{format_name}" for level in TABLES), "manifest.json"]
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
def test_nothing_but_the_file_and_its_manifest_is_left(world: World, tmp_path: Path) -> None:
    path = tmp_path / "all.zip"
    for _ in range(2):
        manifest = write_export(project=world.project, level="bundle", format="csv", path=path, by=None)
    assert sorted(tmp_path.iterdir()) == [path, manifest_path(path)]
    assert json.loads(manifest_path(path).read_text()) == manifest


@pytest.mark.django_db
def test_one_that_breaks_off_leaves_what_was_there(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("before")
    monkeypatch.setattr("annotation.exports.write.writer", lambda name, plain: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_export(project=world.project, level="scores", format="csv", path=path, by=None)
    assert (list(tmp_path.iterdir()), path.read_text()) == ([path], "before")
