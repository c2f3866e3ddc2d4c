"""The words of the interface: no template, message or description uses a word that docs/words.md has retired."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from drf_spectacular.generators import SchemaGenerator

ROOT = Path(settings.BASE_DIR)
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
MODULES = sorted(
    path
    for path in (ROOT / "annotation").rglob("*.py")
    # Migrations keep the words of their day; the sample project's stories are texts, not ours.
    if not {"migrations", "demo"} & set(path.relative_to(ROOT).parts)
)
VERBS = {
    "cancel sample",
    "close assignment",
    "sample checks",
    "lapse",
}
NOT_FOR_PEOPLE = {*VERBS, *(model.__name__ for model in apps.get_app_config("annotation").get_models())}
"""Verbs as the log stores them, and names of rows."""
SQL = re.compile(r"\b(SELECT|FROM|WHERE|JOIN|VALUES|INSERT|UPDATE|AND|SET|WITH|ON)\b")
READ_OUT = re.compile(r'\b(?:title|aria-label|placeholder|alt|value|data-name)="([^"]*)"')


def retired_words() -> list[str]:
    page = (ROOT / "docs" / "words.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \|$", page.partition("## Retired words")[2], re.MULTILINE)
    return [word for row in rows[1:] for word in row.split(", ")]


RETIRED_WORDS = retired_words()
RETIRED = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, RETIRED_WORDS))})(?![\w-])", re.IGNORECASE)


def may_say_one(module: str) -> bool:
    """True if all parts of a retired word occur in a module; others need no parsing."""
    parts = set(re.findall(r"[a-z]+", module.lower()))
    return any(parts >= set(word.lower().split()) for word in RETIRED_WORDS)


def shown(template: str) -> str:
    """The text that people see or hear of a template: its text, read-out attributes and the words given to its tags."""
    text = re.sub(r"\{#.*?#\}|\{% *comment.*?endcomment *%\}", " ", template, flags=re.DOTALL)
    text = re.sub(
        r"\{%.*?%\}", lambda tag: " ".join(["", *_worded(tag[0]), ""]) or " ", text, flags=re.DOTALL
    )
    text = re.sub(r"\{\{.*?\}\}", "…", text, flags=re.DOTALL)
    text = re.sub(
        r"<[^>]*>", lambda tag: " ".join(["", *READ_OUT.findall(tag[0]), ""]), text, flags=re.DOTALL
    )
    return re.sub(r"\s+", " ", text)


def _worded(tag: str) -> list[str]:
    """The strings of a template tag that are more than a name."""
    return [text for text in re.findall(r'"([^"]*)"', tag) if " " in text]


def sentences(module: str) -> Iterator[str]:
    """The strings of a module that are words for people: neither docstrings, names, SQL nor what an assert says."""
    tree = ast.parse(module)
    passed: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr | ast.Assert | ast.JoinedStr):
            held = (
                node.values
                if isinstance(node, ast.JoinedStr)
                else ast.walk(node)
                if isinstance(node, ast.Assert) or isinstance(node.value, ast.Constant)
                else ()
            )
            passed.update(part for part in held if isinstance(part, ast.Constant))
        if isinstance(node, ast.JoinedStr) and node not in passed:
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in passed:
            text = node.value
        else:
            continue
        is_words = " " in text.strip() or text[:1].isupper()
        if is_words and text not in NOT_FOR_PEOPLE and not SQL.search(text):
            yield re.sub(r"\s+", " ", text)


def descriptions(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        for name, value in schema.items():
            if name in ("description", "summary", "title") and isinstance(value, str):
                yield value
            else:
                yield from descriptions(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from descriptions(value)


def found_in(text: str) -> list[str]:
    """The retired words in a text, with the text around each; text in backquotes is a name."""
    text = re.sub(r"`(\w+)` - \1\b|`[^`]*`", "", text)
    return [text[max(0, hit.start() - 40) : hit.end() + 40] for hit in RETIRED.finditer(text)]


def test_no_template_shows_a_retired_word() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {hit}"
        for path in TEMPLATES
        for hit in found_in(shown(path.read_text(encoding="utf-8")))
    ]
    assert len(TEMPLATES) > 150
    assert found == []


def test_no_message_says_a_retired_word() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {hit}"
        for path in MODULES
        if may_say_one(module := path.read_text(encoding="utf-8"))
        for text in sentences(module)
        for hit in found_in(text)
    ]
    assert len(MODULES) > 150
    assert found == []


def test_no_script_says_a_retired_word() -> None:
    scripts = sorted((ROOT / "static" / "js").rglob("*.js"))
    found = [
        f"{path.relative_to(ROOT)}: {hit}"
        for path in scripts
        for text in re.findall(r'"([^"\n]* [^"\n]*)"', path.read_text(encoding="utf-8"))
        for hit in found_in(text)
    ]
    assert len(scripts) > 20
    assert found == []


def test_no_description_of_the_api_says_a_retired_word() -> None:
    told = list(descriptions(SchemaGenerator().get_schema(request=None, public=True)))
    assert len(told) > 150
    assert [hit for text in told for hit in found_in(text)] == []
