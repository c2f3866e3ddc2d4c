from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PLUGIN = "annotation.command_line.pytest_plugin"
TESTS = """
DOCUMENT = "It rained on Monday. The mayor left the town hall."

def test_good(assert_summary):
    assert assert_summary(DOCUMENT, "It rained on Monday.", alignment=.9)["alignment"] == 1.0

def test_bad(assert_summary):
    assert_summary(DOCUMENT, "It rained on Monday.", coverage=.9)
"""


def run_pytest(folder: Path, *words: str) -> str:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        PLUGIN,
        "-p",
        "no:cacheprovider",
        *words,
        str(folder),
    ]
    done = subprocess.run(
        command, cwd=folder, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


@pytest.mark.process
def test_a_summary_that_is_too_low_fails_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "test_summaries.py").write_text(TESTS)
    said = run_pytest(tmp_path)
    assert "1 failed, 1 passed" in said
    assert "AssertionError: coverage is 0.5000, not 0.9 or more. 1 of 2 claims of the document are" in said


@pytest.mark.process
def test_the_judge_is_a_fixture_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "import pytest\nfrom evaluation import LexicalJudge\n\n"
        "@pytest.fixture(scope='session')\ndef coverdict_judge():\n    print('mine')\n    return LexicalJudge()\n"
    )
    (tmp_path / "test_summaries.py").write_text(TESTS)
    assert "mine" in run_pytest(tmp_path, "-s")


@pytest.mark.process
def test_the_plugin_costs_other_tests_nothing(tmp_path: Path) -> None:
    (tmp_path / "test_others.py").write_text(
        "import sys\n\ndef test_it():\n    assert not {'numpy', 'evaluation', 'django'} & set(sys.modules)\n"
    )
    assert "1 passed" in run_pytest(tmp_path)
