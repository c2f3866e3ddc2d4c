"""The same data give the same bytes, whenever they are exported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import time_machine

from annotation.core.tables.formats import FORMAT_NAMES
from annotation.core.tables.pseudonyms import People
from annotation.exports.levels import BUNDLE, LEVELS
from annotation.exports.write import manifest_path, write_file
from annotation.models import Project
from tests.annotation.admin.rows import fill
from tests.annotation.cast import World

EVERY = [
    *((level, format_name) for level in (*LEVELS, BUNDLE) for format_name in FORMAT_NAMES),
]


def written(project: Project, levels: list[tuple[str, str]], folder: Path) -> dict[tuple[str, str], bytes]:
    """Every level in every format, each with its manifest but for the time in it."""
    folder.mkdir()
    made = {}
    for level, format_name in levels:
        path = folder / f"{level}.{format_name}"
        write_file(project=project, people=People(project), level=level, format_name=format_name, path=path)
        about = json.loads(manifest_path(path).read_text())
        del about["created_at"]
        made[level, format_name] = path.read_bytes() + json.dumps(about).encode()
    return made


@pytest.mark.django_db
def test_what_is_exported_twice_is_the_same(world: World, tmp_path: Path) -> None:
    fill(world)
    first = written(world.project, EVERY, tmp_path / "1")
    with time_machine.travel("2031-05-06 07:08:09Z"):
        second = written(world.project, EVERY, tmp_path / "2")
    assert [each for each in EVERY if first[each] != second[each]] == []
