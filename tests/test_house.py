"""The house itself: locks, commands, the rooms' independence, and what no file of the project may hold."""

import ast
import os
import re
import stat
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.sources import modules

ROOT = Path(__file__).resolve().parents[1]
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))
COMMANDS = [
    "setup",
    "demo",
    "test",
    "test-fast",
    "test-bench",
    "check",
    "bench",
    "lock",
    "clean",
]
# Put together here, so that this file does not hold what it looks for.
REGISTRIES = re.compile(
    "|".join(("py" + r"pi\.", "python" + "hosted", "npm" + r"js\.", "files.python" + "hosted"))
)
HALF_MERGED = re.compile(r"^(?:<{7} |>{7} )", re.MULTILINE)
LIKE_IMPORT = re.compile(r"^\s*(?:from|import) (\w+)", re.MULTILINE)
MACHINE_PATHS = re.compile(r"(?<![\w.)}>*])/(?:tmp|root|work|home/[a-z][\w-]*)/")


def project_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("not a git clone, so nothing says which files are the project's")
    return [path for name in listed.stdout.decode().split("\0") if name and (path := ROOT / name).is_file()]


def text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def in_a_fresh_interpreter(code: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DJANGO")}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_there_is_a_lock_for_every_list_of_requirements() -> None:
    wanted = [path.with_suffix(".txt").name for path in sorted((ROOT / "requirements").glob("*.in"))]
    assert wanted
    assert [path.name for path in LOCKS] == wanted


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_a_lock_names_no_address(lock: Path) -> None:
    assert "://" not in lock.read_text()


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_every_pin_of_a_lock_has_a_hash(lock: Path) -> None:
    pins = re.split(r"\n(?=[a-zA-Z0-9])", lock.read_text())
    assert len(pins) > 10
    assert [pin.split()[0] for pin in pins if "--hash=sha256:" not in pin] == []


@pytest.mark.parametrize("wanted", sorted((ROOT / "requirements").glob("*.in")), ids=lambda path: path.name)
def test_every_requirement_is_pinned_as_in_its_lock(wanted: Path) -> None:
    lock = wanted.with_suffix(".txt").read_text()
    asked = [line for line in wanted.read_text().splitlines() if line and not line.startswith("-")]
    for line in asked:
        name, _, version = line.partition("==")
        plain_name = name.partition("[")[0]
        assert version, f"{line} is not pinned"
        assert re.search(
            rf"^{re.escape(plain_name)}(\[[\w,-]+\])?=={re.escape(version)}\b", lock, re.MULTILINE
        ), line


@pytest.mark.parametrize(
    ("room", "files"),
    [("evaluation", ["library.in"]), ("annotation", ["library.in", "runtime.in"])],
)
def test_every_package_that_a_room_imports_is_named_with_its_pin(room: str, files: list[str]) -> None:
    named = {
        plain_name(re.split(r"[\[=]", line)[0])
        for name in files
        for line in (ROOT / "requirements" / name).read_text().splitlines()
    }
    # The plugin of pytest is loaded by the pytest that somebody has; _typeshed is there for mypy alone.
    ours = {*sys.stdlib_module_names, "annotation", "evaluation", "pytest", "_typeshed"}
    of_packages = packages_distributions()

    def is_unnamed(top: str) -> bool:
        return top not in ours and not named & {plain_name(name) for name in of_packages.get(top, [top])}

    # A docstring may hold a line that looks like an import, so what is found is looked at properly.
    looks = {top for source in (ROOT / room).rglob("*.py") for top in LIKE_IMPORT.findall(source.read_text())}
    assert looks - ours
    suspects = "|".join(filter(is_unnamed, looks))
    found = {
        f"{place}: {top}"
        for place, tree in (modules(room, holding=rf"\b({suspects})\b") if suspects else ())
        for node in ast.walk(tree)
        for top in imported_tops(node)
        if is_unnamed(top)
    }
    assert found == set()


def plain_name(package: str) -> str:
    return package.lower().replace("_", "-")


def imported_tops(node: ast.AST) -> list[str]:
    """The packages that an import names, without their modules."""
    if isinstance(node, ast.Import):
        return [each.name.partition(".")[0] for each in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return [node.module.partition(".")[0]]
    return []


def test_the_runtime_lock_has_no_tool_for_developers() -> None:
    lock = (ROOT / "requirements" / "runtime.txt").read_text()
    assert not re.search(r"^(pytest|ruff|mypy|playwright|hypothesis|pixeltable)", lock, re.MULTILINE)


def test_no_file_names_a_path_of_one_machine() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {hit[0]}"
        for path in project_files()
        for hit in MACHINE_PATHS.finditer(text_of(path))
    ]
    assert found == []


def test_no_file_is_merged_by_half() -> None:
    found = [str(path.relative_to(ROOT)) for path in project_files() if HALF_MERGED.search(text_of(path))]
    assert found == []


def test_no_file_names_a_package_registry() -> None:
    found = [str(path.relative_to(ROOT)) for path in project_files() if REGISTRIES.search(text_of(path))]
    assert found == []


@pytest.mark.parametrize(
    ("text", "is_found"), [("see /" + "tmp/x", True), ("'/" + "root/.venv'", True), ("var/tmp/x", False)]
)
def test_a_path_of_one_machine_is_known_from_a_path_of_ours(text: str, is_found: bool) -> None:
    assert bool(MACHINE_PATHS.search(text)) == is_found


@pytest.mark.parametrize("script", [".ci/run", "manage.py"])
def test_a_script_is_executable(script: str) -> None:
    assert (ROOT / script).stat().st_mode & stat.S_IXUSR


def test_the_ci_script_is_sound_bash() -> None:
    done = subprocess.run(["bash", "-n", ROOT / ".ci" / "run"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_make_alone_lists_every_command() -> None:
    listed = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for command in COMMANDS:
        assert re.search(rf"^ +make {command} +\S", listed, re.MULTILINE), command


def test_no_recipe_calls_make_because_a_dry_run_would_run_it() -> None:
    recipes = [line for line in (ROOT / "Makefile").read_text().splitlines() if line.startswith("\t")]
    assert [line for line in recipes if re.search(r"\$[({]MAKE[)}]", line)] == []


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["demo", "PORT=8123", "BROWSER=0"], "demo --port 8123 --no-browser"),
        (["demo", "PORT=8123"], "demo --port 8123 \n"),
        (["test", "ARGS=-x tests/config"], "pytest -q -n 4 --ignore=tests/test_bench.py -x tests/config"),
        (["test-fast", "ARGS=-x"], "tests/evaluation tests/annotation/"),
        (["bench", "ONLY=startup"], "tests.bench startup"),
    ],
)
def test_a_command_passes_its_arguments_on(arguments: list[str], expected: str) -> None:
    said = subprocess.run(
        ["make", "-n", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert expected in said


def test_an_interpreter_that_is_too_old_is_refused_with_the_way_out(tmp_path: Path) -> None:
    old = tmp_path / "python2"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    done = subprocess.run(
        ["make", "-f", ROOT / "Makefile", "venv", f"PYTHON={old}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "No Python 3.11 or newer" in done.stdout
    assert not (tmp_path / ".venv").exists()


def test_the_project_states_the_apps_version() -> None:
    import annotation

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["tool"]["hatch"]["version"] == {"path": "annotation/__init__.py"}
    assert re.fullmatch(r"\d+\.\d+\.\d+", annotation.__version__)


def test_evaluation_knows_nothing_of_django_or_the_app() -> None:
    loaded = in_a_fresh_interpreter(
        "import sys, evaluation;"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}"
        " & {'django', 'annotation', 'celery', 'rest_framework', 'environ'}))"
    )
    assert loaded == ""


def test_evaluation_reads_no_environment() -> None:
    sources = sorted((ROOT / "evaluation").rglob("*.py"))
    assert sources
    reading = [
        path.name for path in sources if re.search(r"os\.environ|os\.getenv|getenv\(", path.read_text())
    ]
    assert reading == []


PROJECT_CODE = [
    path
    for room in ("annotation", "evaluation")
    for path in sorted((ROOT / room).rglob("*.py"))
    if "migrations" not in path.parts
]
LONGEST_DOCSTRING = 12
# The end of a docstring on a line of its own looks the same, which costs some reading.
LONG_STRING = rf'(?m)^[ \t]*r?"""(?:(?:(?!""")[^\n])*\n){{{LONGEST_DOCSTRING}}}'
LONGEST_TEMPLATE_LINE = 160
MOST_MODULES = 25


def test_a_docstring_is_read_in_one_look() -> None:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found = [
        f"{place}: {getattr(node, 'name', 'the module')}"
        for place, tree in modules("annotation", "evaluation", holding=LONG_STRING)
        for node in ast.walk(tree)
        if isinstance(node, documented)
        and len((ast.get_docstring(node) or "").splitlines()) > LONGEST_DOCSTRING
    ]
    assert found == []


def test_a_line_of_a_template_fits_on_the_screen() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted((ROOT / "templates").rglob("*.html"))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) > LONGEST_TEMPLATE_LINE
    ]
    assert found == []


def test_a_folder_of_code_is_looked_over_at_a_glance() -> None:
    counts = Counter(path.parent for path in PROJECT_CODE if path.parent.name != "models")
    assert {str(folder): count for folder, count in counts.items() if count > MOST_MODULES} == {}


def test_a_class_of_one_subject_has_a_name_of_its_own() -> None:
    subjects: defaultdict[str, set[str]] = defaultdict(set)
    for path in PROJECT_CODE:
        inside = path.relative_to(ROOT).parts
        if inside[0] != "annotation" or len(inside) < 3:
            continue
        for name in re.findall(r"^class ([^_]\w*)", path.read_text(), re.MULTILINE):
            subjects[name].add(inside[1])
    assert {name: where for name, where in subjects.items() if len(where) > 1} == {}
