from __future__ import annotations

import ast
import re
import shlex
import shutil
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import get_commands, load_command_class
from django.core.management.base import BaseCommand
from django.urls import resolve

from annotation.command_line.gate import gate_parser
from annotation.command_line.main import main
from annotation.core.tables.columns import HEAD
from annotation.exports.levels import LEVELS, TABLES
from annotation.help.pages import FILE_TYPES, anchor_of, help_page
from annotation.imports.layout import FLAT_OPTIONAL, FLAT_REQUIRED, NESTED
from annotation.models import SCORES
from tests.annotation.judging.processes import manage
from tests.bench import __main__ as bench

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
README = ROOT / "README.md"
RELIABILITY = ROOT / "RELIABILITY.md"
PAGES = [README, RELIABILITY, *sorted(DOCS.glob("*.md"))]
TEXTS = {path: path.read_text(encoding="utf-8") for path in PAGES}
SETTINGS = ROOT / "annotation" / "config" / "settings"

COMMANDS = sorted(
    {
        command.strip()
        for text in TEXTS.values()
        for block in re.findall(r"```(?:sh|console)\n(.*?)```", text, re.DOTALL)
        for line in block.splitlines()
        for command in line.split(" && ")
    }
)
EXAMPLES = [
    pytest.param(example, id=f"{path.stem}-{number}")
    for path, text in TEXTS.items()
    for number, example in enumerate(re.findall(r"```python\n(.*?)```", text, re.DOTALL), 1)
    # Examples of the client need a server, see `tests/annotation/api/test_client.py`. Examples of exports read files,
    # see `test_ratings.py` and `test_weights.py` in `tests/annotation/exports`.
    if "evaluation.client" not in example and "pd.read_parquet" not in example
]
LINKS = [(path, link) for path, text in TEXTS.items() for link in re.findall(r"\]\(([^)\s]+)\)", text)]
FOREIGN_PROGRAMS = {"export", "install", "mv", "runuser", "sqlite3", "systemctl", "tar"}
OWN_COMMANDS = {name for name, app in get_commands().items() if app == "annotation"}


def first_column(name: str, heading: str = "") -> list[str]:
    text = TEXTS[DOCS / f"{name}.md"]
    part = re.split(r"^## ", text.partition(f"## {heading}\n")[2], flags=re.MULTILINE)[0] if heading else text
    return re.findall(r"^\| `([\w-]+)` \|", part, re.MULTILINE)


def parser_of(name: str) -> ArgumentParser:
    command: BaseCommand = load_command_class(get_commands()[name], name)
    return command.create_parser("manage.py", name)


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_gives_the_values_in_its_comments(example: str) -> None:
    names: dict[str, Any] = {}
    exec(example, names)  # the example of the documentation
    told = re.findall(r"^(.*?)  # ([0-9.]+)$", example, re.MULTILINE)
    assert told
    for line, value in told:
        statement = ast.parse(line.strip()).body[0]
        assert isinstance(statement, ast.Expr | ast.Assign), line
        assert eval(ast.unparse(statement.value), names) == pytest.approx(float(value)), line


def test_the_example_file_has_every_column_and_is_imported_by_the_commands_that_the_pages_name(
    subprocess_env: dict[str, str], tmp_path: Path
) -> None:
    example = DOCS / "example.csv"
    assert set(example.read_text(encoding="utf-8").splitlines()[0].split(",")) == {
        *FLAT_REQUIRED,
        *FLAT_OPTIONAL,
    }
    shutil.copy(example, tmp_path / "summaries.csv")
    block = TEXTS[DOCS / "commands.md"].partition("## A study from the command line")[2]
    lines = re.findall(r"^\.venv/bin/python manage\.py (.*)$", block.partition("```\n")[0], re.MULTILINE)
    assert len(lines) == 5
    said = []
    for line in lines:
        words = [str(tmp_path / word) if word.endswith(".csv") else word for word in shlex.split(line)]
        done = manage(subprocess_env, *words)
        assert done.returncode == 0, (line, done.stderr)
        said.append(done.stdout)
    ranking = re.findall(r"^ +\d +(\w+) +([\d.]+) +- +([\d.]+) +- +(\d+) ", said[2], re.MULTILINE)
    told = re.findall(
        r"^\| (\w+) \| (\d+) % \| (\d+) % \| (\d+) \|$", TEXTS[DOCS / "tutorial.md"], re.MULTILINE
    )
    # The tutorial shows the page, which has percents.
    in_percent = [
        (name, *(f"{round(100 * float(each))}" for each in means), n) for name, *means, n in ranking
    ]
    assert in_percent == told
    assert len(told) == 2
    assert (tmp_path / "claims.csv").read_text().count("\n") > 10


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_one_that_there_is(command: str) -> None:
    program, *words = shlex.split(command, comments=True)
    if program == ".venv/bin/python" and words[0] == "manage.py":
        # This raises SystemExit for an unknown option or choice, or a wrong number of arguments.
        parser_of(words[1]).parse_args(words[2:])
    elif program == "coverdict":
        if words[0] == "gate":
            gate_parser().parse_args(words[1:])
        else:
            name = words[1] if words[0] == "manage" else words[0]
            parser_of(name).parse_args(words[1 + (words[0] == "manage") :])
    elif program == "make":
        targets = [word for word in words if "=" not in word]
        assert all(f"\n{target}:" in (ROOT / "Makefile").read_text() for target in targets)
    elif program == "curl":
        path = next(word for word in words if word.startswith("http")).split(":8000")[1]
        assert resolve(path).route.startswith("api/v1/")
    elif program.startswith(".venv/bin/"):
        assert (ROOT / program).exists() or shutil.which(Path(program).name)
        module = next((word for word in words if word.startswith("annotation.")), None)
        assert module is None or (ROOT / f"{module.replace('.', '/')}.py").exists()
        if words[0] == "-c":
            ast.parse(words[1])
    else:
        assert program in FOREIGN_PROGRAMS


def test_every_command_of_our_own_is_told_with_all_its_options() -> None:
    text = TEXTS[DOCS / "commands.md"]
    assert set(re.findall(r"^## `(\w+)`$", text, re.MULTILINE)) == OWN_COMMANDS
    common = set(BaseCommand().create_parser("manage.py", "any")._option_string_actions)
    for name in OWN_COMMANDS - {"runserver", "migrate"}:
        part = re.split(r"^## ", text.partition(f"## `{name}`\n")[2], flags=re.MULTILINE)[0]
        told = set(re.findall(r"^\| `(--[\w-]+)` \|", part, re.MULTILINE))
        known = {option for option in parser_of(name)._option_string_actions if option.startswith("--")}
        assert (name, told) == (name, known - common)


def test_every_option_of_the_gate_is_told() -> None:
    part = re.split(
        r"^## ", TEXTS[DOCS / "commands.md"].partition("## `coverdict gate`\n")[2], flags=re.MULTILINE
    )[0]
    known = {option for option in gate_parser()._option_string_actions if option.startswith("--")}
    assert set(re.findall(r"^\| `(--[\w-]+)` \|", part, re.MULTILINE)) == known - {"--help"}


@pytest.mark.parametrize("workflow", re.findall(r"```yaml\n(.*?)```", TEXTS[DOCS / "gate.md"], re.DOTALL))
def test_an_example_workflow_gates_the_example_file(
    workflow: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = yaml.safe_load(workflow)
    steps = (
        [step["run"] for step in whole["jobs"]["gate"]["steps"] if "run" in step]
        if "jobs" in whole
        else whole["summaries"]["script"]
    )
    install, gate = steps
    assert shlex.split(install)[:2] == ["pip", "install"]
    for name in ("summaries.csv", "baseline.csv"):
        shutil.copy(DOCS / "example.csv", tmp_path / name)
    monkeypatch.chdir(tmp_path)
    # One system of the example has a coverage of 0.5, below the minimum of 0.6.
    program, *words = shlex.split(gate)
    assert (program, main(words)) == ("coverdict", 3)
    artifacts = whole.get("summaries", {}).get("artifacts", {}).get("reports", {})
    assert [(tmp_path / path).exists() for path in artifacts.values()] == [True] * len(artifacts)


def test_the_columns_of_files_are_those_that_are_read() -> None:
    assert tuple(first_column("columns", "Needed")) == FLAT_REQUIRED
    assert tuple(first_column("columns", "Optional")) == FLAT_OPTIONAL
    told = re.search(r"^(.*) may stand in a line too\.", TEXTS[DOCS / "columns.md"], re.MULTILINE)
    assert told
    named = {*first_column("columns", "Nested JSONL"), *re.findall(r"`(\w+)`", told[1]), "unit"}
    assert named == {name for held in NESTED.values() for name in held.values()}


def test_the_columns_of_exports_are_those_that_are_written() -> None:
    assert exported_columns("All tables") == [(column.name, column.kind) for column in HEAD]
    for name, level in TABLES.items():
        told = exported_columns(f"`{name}`")
        assert told == [(column.name, column.kind) for column in level.columns[len(HEAD) :]], name
    pairs = [(column.name, column.kind) for column in LEVELS["pairs"].columns]
    assert exported_columns("`pairs`") == pairs


def exported_columns(heading: str) -> list[tuple[str, str]]:
    part = TEXTS[DOCS / "exports.md"].partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`[^|]*`) \| (\w+) \|", part, re.MULTILINE)
    return [(name, kind) for names, kind in rows for name in re.findall(r"`(\w+)`", names)]


def test_the_metrics_are_those_of_the_scores() -> None:
    assert tuple(first_column("metrics")) == SCORES


def test_the_settings_are_those_that_are_read_from_the_environment() -> None:
    sources = {
        name: (SETTINGS / f"{name}.py").read_text() for name in ("base", "local", "demo", "production")
    }
    read = {name for text in sources.values() for name in re.findall(r"""env\.\w+\(\s*["'](\w+)["']""", text)}
    assert len(read) > 15
    assert set(first_column("settings")) == read
    at_its_top = sources["production"].split('"""')[1]
    required = re.findall(r"[A-Z_]+", at_its_top.split("Required: ")[1].split(". Optional:")[0])
    assert first_column("settings", "Needed in production") == required
    assert {name for name in read if name not in at_its_top} == set()


def test_the_servers_are_those_that_the_app_proposes() -> None:
    rows = re.findall(
        r"^\| ([^|]*) \| `(http[^`]*)` \| `([^`]*)` \|(.*)\|$", TEXTS[DOCS / "llm-server.md"], re.MULTILINE
    )
    told = [(name, url, model, key.strip(" `")) for name, url, model, key in rows]
    form = (ROOT / "templates" / "judging" / "judges" / "judge.html").read_text(encoding="utf-8")
    shown = re.findall(
        r"<dt>([^<]*)</dt><dd><code>([^<]*)</code></dd>\s*<dd class=\"muted\">Model <code>([^<]*)</code> · "
        r"(?:key <code>([^<]*)</code>|no key)",
        form,
    )
    assert told == shown


@pytest.mark.parametrize(
    ("path", "link"), LINKS, ids=lambda part: part.name if isinstance(part, Path) else part
)
def test_a_link_leads_somewhere(path: Path, link: str) -> None:
    if "://" in link:
        return
    name, _, anchor = link.partition("#")
    target = (path.parent / name).resolve() if name else path
    assert target.is_file()
    if path.parent == DOCS:
        # The application serves only this folder.
        assert target.parent == DOCS
        assert target.suffix in {".md", *FILE_TYPES}
    if anchor:
        headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
        assert anchor in {anchor_of(heading.replace("`", "")) for heading in headings}


def test_every_page_is_reached_from_the_first() -> None:
    linked = {link.partition("#")[0] for path, link in LINKS if path == DOCS / "README.md"}
    assert linked == {path.name for path in DOCS.glob("*.md")} - {"README.md"}


def test_every_page_is_one_that_the_app_can_show() -> None:
    for path in DOCS.glob("*.md"):
        assert help_page(path.stem) is not None, path.name


def test_every_promise_names_tests_and_measurements_that_there_are() -> None:
    rows = re.findall(
        r"^\| (.*) \| (.*) \|$", TEXTS[RELIABILITY].partition("## What is promised")[2], re.MULTILINE
    )
    promises = [told for promise, told in rows if promise.endswith(".")]
    assert promises
    for told in promises:
        tests, measured = re.findall(r"`(tests/[\w/]+\.py)`", told), re.findall(r"ONLY=(\w+)", told)
        assert tests or measured, told
        assert [name for name in tests if not (ROOT / name).is_file()] == []
        assert [name for name in measured if name not in bench.parts()] == []
