"""The examples of the README do what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

README = Path(__file__).parent.parent / "README.md"
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
