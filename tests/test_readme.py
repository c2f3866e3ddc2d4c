"""The examples of the README do what it says, and what CONTRIBUTING names is there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
RECIPES = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Recipe")[2]
SETTINGS = ROOT / "annotation" / "config" / "settings"
EXAMPLES = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_gives_the_values_in_its_comments(example: str) -> None:
    told = re.findall(r"^(.*?)  # ([0-9.]+)$", example, re.MULTILINE)
    assert told
    names: dict[str, Any] = {}
    exec(example, names)  # the project's own words, read from its own file
    for line, value in told:
        expression = line.split(" = ")[-1]
        assert eval(expression, names) == pytest.approx(float(value)), line


def test_the_files_that_it_links_to_exist() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README.read_text(encoding="utf-8"))
    assert "docs/formats.md" in links
    assert [link for link in links if not (README.parent / link).exists()] == []


def test_what_production_takes_from_the_environment_is_told() -> None:
    production, base = (
        (SETTINGS / name).read_text(encoding="utf-8") for name in ("production.py", "base.py")
    )
    read = set(re.findall(r"""env\.\w+\(\s*["'](\w+)["']""", production + base))
    rows = set(re.findall(r"^\| `([A-Z_]+)` \|", README.read_text(encoding="utf-8"), re.MULTILINE))
    at_its_top = production.split('"""')[1]
    assert {"SECRET_KEY", "TRUST_PROXY_HEADER", "COVERDICT_VAR"} <= read & rows
    assert {name for name in read if name not in at_its_top} == set()
    assert {name for name in rows if name not in at_its_top} == set()
    required = re.findall(r"[A-Z_]+", at_its_top.split("Required: ")[1].split(". Optional:")[0])
    assert set(required) <= rows


def test_every_file_that_a_recipe_names_is_there() -> None:
    folder, missing = ROOT, []
    for name in re.findall(r"`([\w/<>]+(?:\.(?:py|js|css|html|md)|/))`", RECIPES):
        # A bare name stands in the folder of the file named before it, or at the top.
        folder = (ROOT / name).parent if "/" in name else folder
        wanted = re.sub("<.*?>", "*", Path(name).name)
        if not [*folder.glob(wanted), *ROOT.glob(wanted)]:
            missing.append(name)
    assert folder != ROOT
    assert missing == []
