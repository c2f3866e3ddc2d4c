import importlib
import json
from pathlib import Path

import pytest

from tests.bench import Row
from tests.bench import __main__ as bench


@pytest.mark.parametrize(
    ("at_most", "at_least", "is_met"),
    [(None, None, None), (10, None, True), (9, None, False), (None, 10, True), (None, 11, False)],
)
def test_a_row_is_held_against_its_bars(
    at_most: float | None, at_least: float | None, is_met: bool | None
) -> None:
    row = Row("saves", 10, "ms", at_most=at_most, at_least=at_least)
    assert row.is_met is is_met
    assert ("MISSED" in bench.table("saves", [row])) is (is_met is False)


def test_a_part_measured_alone_leaves_the_others_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "bench.json"
    bench.save(path, {"one": bench.entry([Row("a", 1, "ms")]), "two": bench.entry([Row("b", 2, "ms")])})
    bench.save(path, {"two": bench.entry([Row("b", 3, "ms", at_most=5)])})
    saved = json.loads(path.read_text())["parts"]
    assert saved["one"]["rows"][0]["value"] == 1
    assert (saved["two"]["rows"][0]["value"], saved["two"]["rows"][0]["is_met"]) == (3, True)


def test_every_part_can_be_run() -> None:
    assert {"answering", "faults", "intervals"} <= set(bench.parts())
    assert all(callable(importlib.import_module(module).run) for module in bench.parts().values())
