import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.models import Event
from tests.annotation.cast import World


def run(*arguments: object) -> str:
    out = StringIO()
    call_command("export_dataset", *map(str, arguments), stdout=out)
    return out.getvalue()


def test_it_writes_the_file_and_says_what_is_in_it(world: World, tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    said = run("harbour", "--level", "scores", "--format", "jsonl", "-o", path)
    assert len(path.read_text().splitlines()) == 4
    manifest = json.loads((tmp_path / "out.jsonl.manifest.json").read_text())
    assert said.startswith(f"4 rows, {manifest['bytes']} bytes in {path}")
    assert manifest["sha256"] in said
    assert Event.objects.get(verb="export").actor is None


def test_an_unknown_project_is_refused_with_those_there_are(world: World, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="There are: harbour, quarry"):
        run("nowhere", "--level", "scores", "--format", "csv", "-o", tmp_path / "x")


def test_a_missing_folder_is_refused(world: World, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="No file can be put"):
        run("harbour", "--level", "scores", "--format", "csv", "-o", tmp_path / "missing" / "x")


def test_a_folder_is_not_overwritten(world: World, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="No file can be put"):
        run("harbour", "--level", "scores", "--format", "csv", "-o", tmp_path)
