"""Start the services of the tests before Django reads its settings, and give the fixtures that all tests share.

Environment: `DATABASE_URL` uses that database, `NOPG=1` SQLite; otherwise a PostgreSQL from the wheel is
started. `REQUIRE_PG`, `REQUIRE_BROWSER` and `REQUIRE_REDIS` turn a missing part into a failure; `CHROMIUM`
names a browser; `COVERDICT_DATA` the folder of judged data for the tests that need it.
"""

import atexit
import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
from django.conf import settings

from tests import browser as browsers
from tests import parts, postgres, redis_server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SETTINGS = "annotation.config.settings.test"


def _own_folder() -> None:
    """A var/ of the run's own: no test touches the data of anyone who runs it."""
    folder = tempfile.mkdtemp(prefix="coverdict-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["COVERDICT_VAR"] = folder


def _own_database() -> None:
    if os.environ.get("DATABASE_URL"):
        return
    if os.environ.get("NOPG", "0") not in {"", "0"}:
        if parts.is_required("postgresql"):
            raise pytest.UsageError("NOPG=1 and REQUIRE_PG=1 exclude each other: unset one of them.")
        return
    try:
        server = postgres.start()
    except postgres.NoPostgres as reason:
        raise pytest.UsageError(f"{reason}. NOPG=1 runs the tests on SQLite instead.") from reason
    atexit.register(server.stop)
    os.environ["DATABASE_URL"] = server.url
    # A statement that runs or waits for ever would hold its locks after its test was given up, and the next tests too.
    os.environ["PGOPTIONS"] = "-c statement_timeout=200s"


def _examples() -> None:
    """The same examples in every run: a run fails by what was changed. `--hypothesis-profile=search` seeks new ones."""
    repeatable = hypothesis.settings(derandomize=True, database=None, deadline=None, print_blob=True)
    hypothesis.settings.register_profile("repeatable", repeatable)
    hypothesis.settings.register_profile("search", max_examples=2_000, deadline=None, print_blob=True)
    hypothesis.settings.load_profile("repeatable")


def _heed_interrupts() -> None:
    """A shell has what it starts in the background ignore SIGINT, and children would inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _prepare() -> None:
    _heed_interrupts()
    # The processes of pytest-xdist inherit what their controller prepared, except the folder.
    is_controller = "PYTEST_XDIST_WORKER" not in os.environ
    if is_controller and os.environ.get("DJANGO_SETTINGS_MODULE"):
        raise pytest.UsageError("Unset DJANGO_SETTINGS_MODULE: the tests bring their own settings.")
    os.environ["DJANGO_SETTINGS_MODULE"] = SETTINGS
    # Four processes share the machine: threads of each for matrices would only wait for one another.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _own_folder()
    if is_controller:
        # A broker or a judge of the machine's user is not for tests.
        for name in ("CELERY_BROKER_URL", "COVERDICT_JUDGE_URLS"):
            os.environ.pop(name, None)
        _own_database()
    # pytest-django sets Django up only if it finds the settings loaded.
    assert settings.DATABASES


_prepare()
_examples()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests last: Playwright keeps an event loop running in the main thread; others need none.

    Of these the slow ones first, so that no worker is alone with them at the end.
    """
    for item in items:
        names = getattr(item, "fixturenames", ())
        if "browser" in names:
            item.add_marker(pytest.mark.browser)
        if "redis_url" in names:
            item.add_marker(pytest.mark.redis)
        if "subprocess_env" in names:
            item.add_marker(pytest.mark.process)
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    if item.get_closest_marker("browser") is None:
        return 0
    return 1 if item.get_closest_marker("slow") else 2


def pytest_collection_finish() -> None:
    """Thousands of tests stay to the end, so nothing of them is looked through for garbage again."""
    gc.freeze()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = [report.longrepr[2] for report in skipped if isinstance(report.longrepr, tuple)]
    for line in parts.summary_lines(reasons):
        terminalreporter.write_line(line, yellow=True)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> Iterator[None]:
    """pytest-django's own, with a quick end for tests that commit."""
    # Imported here: this file is read before Django is set up.
    from tests.emptying import only_what_is_filled

    with only_what_is_filled():
        yield


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    """The run's one Chromium."""
    # The loop that Playwright runs in this thread makes Django take every query for one inside a coroutine.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    try:
        with browsers.running() as chromium:
            yield chromium
    except browsers.NoBrowser as reason:
        parts.missing("browser", str(reason))
    finally:
        os.environ.pop("DJANGO_ALLOW_ASYNC_UNSAFE", None)


@pytest.fixture
def desk(browser: "Browser", live_server: Any) -> Iterator[browsers.Desk]:
    """Pages for several people: `ana, ben = desk(), desk(viewport=PHONE)`.

    The test fails at its end if any of them complained: a console error, an exception, content that the
    policy refused, a script or image that was not there, an answer of 5xx. `desk.watch.expect(text)` takes
    back what the test caused on purpose.
    """
    # Imported here: this file is read before Django is set up.
    from tests.traffic import Traffic

    with Traffic():
        opened = browsers.Desk(browser=browser, address=live_server.url)
        yield opened
        opened.close()
    if opened.watch.complaints:
        pytest.fail("The pages complained:\n" + "\n".join(opened.watch.complaints), pytrace=False)


@pytest.fixture
def page(desk: Callable[[], "Page"]) -> "Page":
    """A page for one person on the live server."""
    return desk()


@pytest.fixture
def redis_url() -> Iterator[str]:
    """A Redis of this test's own, empty."""
    try:
        with redis_server.running() as url:
            yield url
    except redis_server.NoRedis as reason:
        parts.missing("redis", str(reason))


@pytest.fixture
def subprocess_env(transactional_db: None, tmp_path: Path) -> dict[str, str]:
    """Environment for a process that works beside the test, on its database, with a queue of its own.

    Add CELERY_BROKER_URL for another broker than files.
    """
    from urllib.parse import quote

    from django.db import connection

    database = connection.settings_dict
    if connection.vendor == "sqlite":
        url = f"sqlite:///{database['NAME']}"
    else:
        user, host = database["USER"], quote(database["HOST"], safe="")
        secret = f":{quote(database['PASSWORD'], safe='')}" if database["PASSWORD"] else ""
        port = f":{database['PORT']}" if database["PORT"] else ""
        url = f"postgres://{user}{secret}@{host}{port}/{database['NAME']}"
    return {
        **os.environ,
        "DATABASE_URL": url,
        "COVERDICT_VAR": str(tmp_path / "var"),
        "DJANGO_SETTINGS_MODULE": SETTINGS,
    }


@pytest.fixture(scope="session")
def judged_data() -> Path:
    """The folder of judged data that COVERDICT_DATA names; the test is skipped where it names none."""
    folder = os.environ.get("COVERDICT_DATA")
    if not folder:
        pytest.skip("COVERDICT_DATA names no folder of judged data")
    if not Path(folder).is_dir():
        pytest.fail(f"COVERDICT_DATA={folder} is not a folder", pytrace=False)
    return Path(folder)
