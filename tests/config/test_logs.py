"""What the logs say, and what they must never say."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FAILING = """
import logging, logging.config
from annotation.config import logs
logging.config.dictConfig(logs.{style}("INFO"))
def ask(key):
    raise ValueError("refused")
try:
    ask("".join(["sk-", "very", "private"]))
except ValueError:
    logging.getLogger("judge").exception("asking failed")
"""


@pytest.mark.parametrize("style", ["plain", "json_lines"])
def test_a_logged_exception_shows_the_traceback_and_no_local_variable(style: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FAILING.format(style=style)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "asking failed" in done.stderr
    assert "ValueError: refused" in done.stderr
    assert "sk-veryprivate" not in done.stderr
