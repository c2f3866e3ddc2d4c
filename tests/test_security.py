import ast
import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
CLASSES = re.findall(r"^\| ([^|]+) \| `(tests/[\w/]+\.py)::(\w+)` \|$", TEXT, re.MULTILINE)


def test_every_row_of_the_table_is_read_and_every_class_stands_once() -> None:
    assert len(CLASSES) == TEXT.count("| `tests/") > 40
    names = [name for name, _, _ in CLASSES]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(("path", "name"), [row[1:] for row in CLASSES], ids=[row[0] for row in CLASSES])
def test_the_test_of_a_class_exists(path: str, name: str) -> None:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_its_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", TEXT)
    assert links
    assert [link for link in links if not (ROOT / link).is_file()] == []


def audit_of(report: dict[str, object], control: dict[str, object]) -> int:
    spec = importlib.util.spec_from_file_location("audit", ROOT / "requirements" / "audit.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    code, words = module.judged(report, control)
    assert words
    assert ("SKIPPED" in words[0]) == (code == 3)
    return int(code)


# The format of pip-audit 2.10
ADVISORY = {"id": "PYSEC-2019-217", "fix_versions": ["2.10.1"], "aliases": [], "description": ""}
BAD = {"dependencies": [{"name": "jinja2", "version": "2.4.1", "vulns": [ADVISORY]}]}
GOOD = {"dependencies": [{"name": "amqp", "version": "5.4.2", "vulns": []}]}
UNSEEN = {"dependencies": [{"name": "amqp", "skip_reason": "Dependency not found on PyPI: amqp (5.4.2)"}]}
NOTHING: dict[str, object] = {"dependencies": []}


@pytest.mark.parametrize(
    ("report", "control", "code"),
    [
        (GOOD, BAD, 0),
        (BAD, BAD, 1),
        (BAD, UNSEEN, 1),
        (GOOD, GOOD, 3),
        (UNSEEN, BAD, 3),
        (UNSEEN, UNSEEN, 3),
        (NOTHING, BAD, 3),
    ],
)
def test_an_audit_is_clean_only_where_everything_was_looked_up(
    report: dict[str, object], control: dict[str, object], code: int
) -> None:
    assert audit_of(report, control) == code
