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


class Looks:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seen: list[str] = []

    def __json__(self) -> str:
        self.seen = [each.name for each in self.folder.iterdir() if each.name.endswith(".msg")]
        return "whole"


def test_a_message_on_the_file_system_appears_whole(tmp_path: Path) -> None:
    looks = Looks(tmp_path)
    folders = {name: str(tmp_path) for name in ("data_folder_in", "data_folder_out", "control_folder")}
    with celery.app.connection_for_write("filesystem://", transport_options=folders) as connection:
        channel = connection.default_channel
        channel._put("work", {"what": looks})
        assert looks.seen == []
        assert [each.suffix for each in tmp_path.iterdir()] == [".msg"]
        assert channel._get("work") == {"what": "whole"}
