import ast
import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.sources import modules

ROOT = Path(__file__).resolve().parents[1]
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))
# The patterns are concatenated, so that this file does not match itself.
REGISTRIES = re.compile(
    "|".join(("py" + r"pi\.", "python" + "hosted", "npm" + r"js\.", "files.python" + "hosted"))
)
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
    # Only pytest loads Coverdict's plugin, so pytest is installed then. _typeshed exists only for mypy.
    ours = {*sys.stdlib_module_names, "annotation", "evaluation", "pytest", "_typeshed"}
    of_packages = packages_distributions()

    def is_unnamed(top: str) -> bool:
        return top not in ours and not named & {plain_name(name) for name in of_packages.get(top, [top])}

    # A docstring may contain a line that looks like an import, so only matches are parsed.
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


def test_no_file_names_a_package_registry() -> None:
    found = [str(path.relative_to(ROOT)) for path in project_files() if REGISTRIES.search(text_of(path))]
    assert found == []


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


def test_evaluation_reads_no_environment() -> None:
    sources = sorted((ROOT / "evaluation").rglob("*.py"))
    assert sources
    reading = [
        path.name for path in sources if re.search(r"os\.environ|os\.getenv|getenv\(", path.read_text())
    ]
    assert reading == []
