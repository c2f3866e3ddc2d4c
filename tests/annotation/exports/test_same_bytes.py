from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import time_machine

from annotation.core.tables.formats import FORMAT_NAMES
from annotation.core.tables.pseudonyms import People
from annotation.exports.levels import LEVEL_NAMES, NESTED
from annotation.exports.write import write_file
from tests.annotation.admin.rows import fill

if TYPE_CHECKING:
    from pathlib import Path

    from annotation.models import Project
    from tests.annotation.cast import World

EVERY = [(level, name) for level in LEVEL_NAMES for name in FORMAT_NAMES if level != NESTED]
EVERY.append((NESTED, "jsonl"))


def written(project: Project, path: Path) -> dict[tuple[str, str], bytes]:
    made = {}
    for level, format_name in EVERY:
        write_file(project=project, people=People(project), level=level, format_name=format_name, path=path)
        made[level, format_name] = path.read_bytes()
    return made


@pytest.mark.django_db
def test_what_is_exported_twice_is_the_same(world: World, tmp_path: Path) -> None:
    fill(world)
    first = written(world.project, tmp_path / "out")
    with time_machine.travel("2031-05-06 07:08:09Z"):
        second = written(world.project, tmp_path / "out")
    assert [each for each in EVERY if first[each] != second[each]] == []
