from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.conf import settings
from drf_spectacular.generators import SchemaGenerator

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(settings.BASE_DIR)
SQL = re.compile(r"\b(SELECT|FROM|WHERE|JOIN|VALUES|INSERT|UPDATE|SET|ON)\b")


def of_templates() -> Iterator[str]:
    for path in (ROOT / "templates").rglob("*.html"):
        read_out = re.sub(
            r'<[^>]*?\b(?:title|aria-label|placeholder|alt)="([^"]*)"', r" \1 <", path.read_text()
        )
        yield re.sub(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<[^>]*>", " ", read_out, flags=re.DOTALL)


def of_messages() -> Iterator[str]:
    for path in (ROOT / "annotation").rglob("*.py"):
        # The texts of the sample project are no part of the product's wording.
        if {"migrations", "demo"} & set(path.parts):
            continue
        nodes = list(ast.walk(ast.parse(path.read_text())))
        passed = {
            each for node in nodes if isinstance(node, ast.Expr | ast.Assert) for each in ast.walk(node)
        }
        for node in nodes:
            text = node.value if isinstance(node, ast.Constant) and node not in passed else None
            if isinstance(text, str) and " " in text.strip() and not SQL.search(text):
                yield text


def of_scripts() -> Iterator[str]:
    for path in (ROOT / "static" / "js").rglob("*.js"):
        yield from re.findall(r'"([^"\n]* [^"\n]*)"', path.read_text())


def of_the_api() -> Iterator[str]:
    schema = str(SchemaGenerator().get_schema(request=None, public=True))
    yield from re.findall(r"'(?:description|summary|title)': '([^']*)'", schema)


@pytest.mark.parametrize("said", [of_templates, of_messages, of_scripts, of_the_api])
def test_nothing_that_people_read_says_a_retired_word(said: object) -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text().partition("## Retired words")[2]
    retired = ", ".join(re.findall(r"^\| ([^|]+) \| [^|]+ \|$", page, re.MULTILINE)[1:]).split(", ")
    wanted = re.compile(rf"(?<![\w`-])(?:{'|'.join(map(re.escape, retired))})(?![\w`-])", re.IGNORECASE)
    texts = list(said())  # type: ignore[operator]
    assert len(texts) > 20
    assert [text for text in texts if wanted.search(text)] == []
