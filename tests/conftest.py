"""The database and the fixtures that all tests share.

Environment: `DATABASE_URL` uses that database, `NOPG=1` SQLite; otherwise a PostgreSQL from the wheel is started.
`REQUIRE_PG`, `REQUIRE_BROWSER` and `REQUIRE_REDIS` turn a missing part into a failure. `CHROMIUM` names a browser,
`COVERDICT_DATA` the folder of judged data.
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
    # Without this limit, a statement that hangs would keep its locks after its test and disturb the next tests.
    os.environ["PGOPTIONS"] = "-c statement_timeout=200s"


def _examples() -> None:
    """Use the same examples in every run; `--hypothesis-profile=search` uses new ones."""
    repeatable = hypothesis.settings(derandomize=True, database=None, deadline=None, print_blob=True)
    hypothesis.settings.register_profile("repeatable", repeatable)
    hypothesis.settings.register_profile("search", max_examples=2_000, deadline=None, print_blob=True)
    hypothesis.settings.load_profile("repeatable")


def _heed_interrupts() -> None:
    """Restore SIGINT, because a shell lets background processes ignore it and children would inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _prepare() -> None:
    _heed_interrupts()
    # The processes of pytest-xdist inherit the preparations of their controller, except the folder.
    is_controller = "PYTEST_XDIST_WORKER" not in os.environ
    if is_controller and os.environ.get("DJANGO_SETTINGS_MODULE"):
        raise pytest.UsageError("Unset DJANGO_SETTINGS_MODULE: the tests bring their own settings.")
    os.environ["DJANGO_SETTINGS_MODULE"] = SETTINGS
    # Several test processes share the machine, so several threads per process would slow each other down.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _own_folder()
    if is_controller:
        # Tests must not use a broker or a judge of the user.
        for name in ("CELERY_BROKER_URL", "COVERDICT_JUDGE_URLS"):
            os.environ.pop(name, None)
        _own_database()
    # Load the settings now, because pytest-django sets Django up only if they are loaded.
    assert settings.DATABASES


_prepare()
_examples()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by their fixtures, and run browser tests last: Playwright keeps an event loop in this thread."""
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
    """Exclude the collected tests from garbage collection."""
    gc.freeze()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = [report.longrepr[2] for report in skipped if isinstance(report.longrepr, tuple)]
    for line in parts.summary_lines(reasons):
        terminalreporter.write_line(line, yellow=True)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> Iterator[None]:
    # Import it here, because this file is read before Django is set up.
    from tests.emptying import only_what_is_filled

    with only_what_is_filled():
        yield


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    # Playwright runs an event loop in this thread, so Django would refuse queries as calls from a coroutine.
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
    """Return a function that opens pages for several people: `ana, ben = desk(), desk(viewport=PHONE)`.

    The test fails at its end if a page had a problem: a console error, an exception, refused content, a missing script
    or image, or a 5xx response. `desk.watch.expect(text)` removes problems that the test caused on purpose.
    """
    # Import it here, because this file is read before Django is set up.
    from tests.traffic import Traffic

    with Traffic():
        opened = browsers.Desk(browser=browser, address=live_server.url)
        yield opened
        opened.close()
    if opened.watch.complaints:
        pytest.fail("The pages complained:\n" + "\n".join(opened.watch.complaints), pytrace=False)


@pytest.fixture
def page(desk: Callable[[], "Page"]) -> "Page":
    return desk()


@pytest.fixture
def redis_url() -> Iterator[str]:
    try:
        with redis_server.running() as url:
            yield url
    except redis_server.NoRedis as reason:
        parts.missing("redis", str(reason))


@pytest.fixture
def subprocess_env(transactional_db: None, tmp_path: Path) -> dict[str, str]:
    """The environment for a process that runs during the test, with its database and a queue of its own.

    Set CELERY_BROKER_URL to use a broker other than files.
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
    folder = os.environ.get("COVERDICT_DATA")
    if not folder:
        pytest.skip("COVERDICT_DATA names no folder of judged data")
    if not Path(folder).is_dir():
        pytest.fail(f"COVERDICT_DATA={folder} is not a folder", pytrace=False)
    return Path(folder)
