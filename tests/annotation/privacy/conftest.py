"""A journal of erasures of each test's own."""

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def journal(settings: Any, tmp_path: Path) -> Path:
    settings.COVERDICT_ERASURES = tmp_path / "erasures.jsonl"
    return tmp_path / "erasures.jsonl"
