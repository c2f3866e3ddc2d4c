import pytest

from tests import forking

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
    done = forking.run(FAILING.format(style=style), DJANGO_SETTINGS_MODULE="annotation.config.settings.local")
    assert done.returncode == 0
    assert "asking failed" in done.stderr
    assert "ValueError: refused" in done.stderr
    assert "sk-veryprivate" not in done.stderr
