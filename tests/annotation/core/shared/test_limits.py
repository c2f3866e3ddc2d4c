from __future__ import annotations

import logging
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
import time_machine
from django.core.cache import cache
from django.db import connection

from annotation.accounts.tokens import make_token
from annotation.config import environment
from annotation.core.shared.limits import count
from tests.annotation.cast import World
from tests.annotation.gunicorn_server import Server
from tests.annotation.judging.processes import wait_until

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper

POSTGRESQL = {"ENGINE": "django.db.backends.postgresql"}
AWAY = "redis://127.0.0.1:1/0"


@pytest.fixture
def table(transactional_db: None, settings: SettingsWrapper) -> None:
    settings.CACHES = environment.caches("", broker="amqp://host", database=POSTGRESQL)
    cache.clear()


@time_machine.travel("2026-03-01 12:00:30Z", tick=False)
def test_a_stretch_of_the_clock_is_counted_by_itself(table: None) -> None:
    assert [count("door", seconds=60) for _ in range(3)] == [1, 2, 3]
    assert count("window", seconds=60) == 1
    with time_machine.travel("2026-03-01 12:00:59Z", tick=False):
        assert count("door", seconds=60) == 4
    with time_machine.travel("2026-03-01 12:01:00Z", tick=False):
        assert count("door", seconds=60) == 1


def test_many_who_count_at_once_are_each_counted_once(table: None) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("SQLite lets one write at a time, whatever is written")

    def ask(_: int) -> int:
        try:
            return count("door", seconds=10**9)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        assert sorted(threads.map(ask, range(80))) == list(range(1, 81))


def test_a_cache_that_is_away_limits_nobody_and_the_log_says_so(
    settings: SettingsWrapper, caplog: pytest.LogCaptureFixture
) -> None:
    settings.CACHES = environment.caches(AWAY, broker="", database=POSTGRESQL)
    with caplog.at_level(logging.WARNING):
        assert [count("door", seconds=60) for _ in range(2)] == [0, 0]
    assert "the cache does not answer" in caplog.text


def status(address: str, token: str) -> int:
    request = urllib.request.Request(address, headers={"Authorization": f"Token {token}"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        return refused.code


@pytest.fixture(params=["table", "redis"])
def cache_url(request: pytest.FixtureRequest) -> str:
    if request.param == "redis":
        return str(request.getfixturevalue("redis_url"))
    if request.param == "table" and connection.vendor == "sqlite":
        pytest.skip("on SQLite each process counts for itself")
    return ""


def test_a_limit_is_one_for_two_processes_of_the_server(
    cache_url: str, subprocess_env: dict[str, str], world: World
) -> None:
    environ = {
        **subprocess_env,
        "DJANGO_SETTINGS_MODULE": "annotation.config.settings.local",
        "CACHE_URL": cache_url,
        "TOKEN_CALLS_PER_MINUTE": "5",
        "LOG_LEVEL": "ERROR",
    }
    token = make_token(person=world.olga)[1]
    servers = [Server(environ), Server(environ)]
    try:
        for server in servers:
            server.start()
        # All requests are within one minute of the clock.
        wait_until(lambda: time.time() % 60 < 40)
        told = [status(f"{server.address}/api/v1/projects/", token) for _ in range(4) for server in servers]
    finally:
        for server in servers:
            server.kill()
    # Each of two processes gets 4 of the 8 calls, of which 5 are allowed.
    assert told == [200] * 5 + [429] * 3
