"""The benchmark's own machinery."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench import Row
from tests.bench import __main__ as bench

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize(
    ("at_most", "at_least", "is_met"),
    [
        (None, None, None),
        (10, None, True),
        (9, None, False),
        (None, 10, True),
        (None, 11, False),
        (12, 11, False),
    ],
)
def test_a_row_is_held_against_its_bars(
    at_most: float | None, at_least: float | None, is_met: bool | None
) -> None:
    assert Row("saves", 10, "ms", at_most=at_most, at_least=at_least).is_met is is_met


def test_a_missed_bar_is_shown() -> None:
    assert "at most 9" in bench.table("saves", [Row("one save", 10, "ms", at_most=9)])
    assert "MISSED" in bench.table("saves", [Row("one save", 10, "ms", at_most=9)])


def test_a_part_measured_alone_leaves_the_others_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "bench.json"
    bench.save(path, {"one": bench.entry([Row("a", 1, "ms")]), "two": bench.entry([Row("b", 2, "ms")])})
    bench.save(path, {"two": bench.entry([Row("b", 3, "ms", at_most=5)])})
    saved = json.loads(path.read_text())["parts"]
    assert saved["one"]["rows"][0]["value"] == 1
    assert (saved["two"]["rows"][0]["value"], saved["two"]["rows"][0]["is_met"]) == (3, True)


def test_every_part_has_a_name_of_its_own() -> None:
    modules = list((ROOT / "tests" / "bench").glob("[!_]*.py"))
    assert len(bench.parts()) == len(modules)
    assert "startup" in bench.parts()


def test_a_part_is_measured_from_the_command_line_and_written_down(tmp_path: Path) -> None:
    path = tmp_path / "bench.json"
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench", "startup", "--output", path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "import evaluation" in done.stdout
    rows = json.loads(path.read_text())["parts"]["startup"]["rows"]
    assert [row["unit"] for row in rows] == ["ms", "MB"] * 4
    assert all(row["value"] > 0 for row in rows)


def test_an_unknown_part_is_refused_with_the_names_of_the_known() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench", "nonsense"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "startup" in done.stderr
