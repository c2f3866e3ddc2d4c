"""The Celery app: queued by a web process, received by a worker."""

import tempfile
from pathlib import Path
from typing import Any

import pytest

from annotation.config import celery


@pytest.fixture
def kept_tempdir() -> Any:
    before = tempfile.tempdir
    yield
    tempfile.tempdir = before


def test_a_worker_on_files_receives_messages_on_their_own_file_system(
    kept_tempdir: None, settings: Any, tmp_path: Path
) -> None:
    settings.VAR_DIR = tmp_path
    celery.receive_on_the_queues_file_system(conf=celery.app.conf)
    assert Path(tempfile.gettempdir()) == tmp_path / "tmp"
    assert (tmp_path / "tmp").is_dir()
