import ast
import json
import subprocess
from pathlib import Path

import pytest

from tests import forking

pytestmark = pytest.mark.process

PRODUCTION = "annotation.config.settings.production"
GOOD = {
    "SECRET_KEY": "kq3v8-Zx0pWb7_Tn5rLd9sYf2hGj4mCe6uAo1iXwQzVtRyBnPlKgHs",
    "ALLOWED_HOSTS": "coverdict.example.org",
    "DATABASE_URL": "postgres://coverdict:pw@127.0.0.1/coverdict",
    "CELERY_BROKER_URL": "redis://127.0.0.1:6379/0",
}
SET_UP = "import django; django.setup()"
READ = "from django.conf import settings as s; s.DEBUG"


def start(code: str = READ, /, **changes: str | None) -> subprocess.CompletedProcess[str]:
    return forking.run(code, **{**GOOD, "DJANGO_SETTINGS_MODULE": PRODUCTION, **changes})


def test_it_starts_where_all_is_in_order() -> None:
    done = start(SET_UP, ALLOWED_HOSTS="coverdict.example.org,.example.org,[::1]")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "faults",
    [
        [
            ("SECRET_KEY", None, "SECRET_KEY is not set"),
            ("DEBUG", "1", "DEBUG is on"),
            ("ALLOWED_HOSTS", None, "ALLOWED_HOSTS is empty"),
            ("DATABASE_URL", None, "DATABASE_URL is not set"),
            ("CELERY_BROKER_URL", None, "CELERY_BROKER_URL is not set"),
            ("TRUST_PROXY_HEADER", "true", "TRUSTED_PROXIES is not"),
        ],
        [
            ("SECRET_KEY", "django-insecure-" + "k3v8Zx0pWb" * 6, "default or a placeholder"),
            ("DEBUG", "True", "DEBUG is on"),
            ("ALLOWED_HOSTS", "*", "open to every host"),
            ("DATABASE_URL", "sqlite://:memory:", "database in memory"),
            ("CELERY_BROKER_URL", "filesystem://", "loses messages"),
        ],
        [
            ("SECRET_KEY", "change-me-" + "k3v8Zx0pWb" * 6, "default or a placeholder"),
            ("ALLOWED_HOSTS", "coverdict.example.org,*", "open to every host"),
            ("CELERY_BROKER_URL", "memory://", "loses messages"),
        ],
        [("SECRET_KEY", "k3v8Zx0pWb", "too easy to guess"), ("ALLOWED_HOSTS", ".", "open to every host")],
        [
            ("ALLOWED_HOSTS", "https://coverdict.example.org", "host names without https:// and port"),
            (
                "DATABASE_URL",
                "postgress://coverdict:pw@127.0.0.1/coverdict",
                "Write postgres://user:pass@host/name",
            ),
        ],
        # A single unsafe value is enough.
        [("SECRET_KEY", "abc" * 30, "too easy to guess")],
        [("ALLOWED_HOSTS", "coverdict.example.org:443,[::1]", "host names without https:// and port")],
    ],
    ids=["left out", "defaults", "placeholders", "short", "schemes", "one alone", "a port"],
)
def test_it_refuses_what_is_unsafe_and_names_every_fault(faults: list[tuple[str, str | None, str]]) -> None:
    done = start(**{name: value for name, value, _ in faults})
    assert done.returncode != 0
    assert "ImproperlyConfigured: Coverdict does not start" in done.stderr
    told = [line for line in done.stderr.splitlines() if line.startswith("- ")]
    assert len(told) == len(faults), done.stderr
    assert [complaint for _, _, complaint in faults if complaint not in "\n".join(told)] == []


def test_it_refuses_the_key_that_the_tests_are_known_to_use() -> None:
    from annotation.config.settings import test

    assert "placeholder" in start(SECRET_KEY=test.SECRET_KEY).stderr


def test_it_names_no_value() -> None:
    said = start(SECRET_KEY="k3v8Zx0pWb").stderr
    assert "too easy to guess" in said
    assert "k3v8Zx0pWb" not in said
    assert "(chosen because ALLOWED_HOSTS and CELERY_BROKER_URL and DATABASE_URL are set)" in said


@pytest.mark.parametrize("module", ["annotation.config.wsgi", "annotation.config.celery"])
def test_the_ways_in_default_to_production(module: str) -> None:
    done = forking.run(f"import {module}; {READ}")
    assert "Coverdict does not start with these production settings" in done.stderr


def test_a_server_without_collected_files_is_refused_in_a_sentence(tmp_path: Path) -> None:
    done = start("import annotation.config.wsgi", COVERDICT_VAR=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("Static files are not collected in ")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {},
            {
                "s.DEBUG, s.DEMO_SIGN_IN": (False, False),
                "s.SESSION_COOKIE_SECURE, s.CSRF_COOKIE_SECURE": (True, True),
                "s.SECURE_SSL_REDIRECT": True,
                "s.SECURE_HSTS_SECONDS": 31536000,
                "s.SECURE_PROXY_SSL_HEADER": None,
                "s.TRUSTED_PROXIES": 0,
                "s.DATABASES['default']['CONN_MAX_AGE']": 60,
                "s.COVERDICT_JUDGE_URLS": [],
                "s.PASSWORD_HASHERS[0].rpartition('.')[2]": "Argon2PasswordHasher",
                "s.STORAGES['staticfiles']['BACKEND'].rpartition('.')[2]": "CompressedManifestStaticFilesStorage",
            },
        ),
        (
            {
                "SECURE_SSL_REDIRECT": "0",
                "SECURE_HSTS_SECONDS": "60",
                "TRUST_PROXY_HEADER": "1",
                "TRUSTED_PROXIES": "2",
                "CONN_MAX_AGE": "5",
                "SERVER_SIDE_CURSORS": "0",
                "COVERDICT_JUDGE_URLS": "https://judge.example.org",
            },
            {
                "s.SECURE_SSL_REDIRECT": False,
                "s.SECURE_HSTS_SECONDS": 60,
                "s.SECURE_PROXY_SSL_HEADER[0]": "HTTP_X_FORWARDED_PROTO",
                "s.TRUSTED_PROXIES": 2,
                "s.DATABASES['default']['CONN_MAX_AGE']": 5,
                "s.DATABASES['default']['DISABLE_SERVER_SIDE_CURSORS']": True,
                "s.COVERDICT_JUDGE_URLS": ["https://judge.example.org"],
            },
        ),
    ],
    ids=["nothing", "all of it"],
)
def test_it_takes_from_the_environment(changes: dict[str, str], expected: dict[str, object]) -> None:
    done = start(f"{READ}; print([{', '.join(f'({each})' for each in expected)}])", **changes)
    assert done.returncode == 0, done.stderr
    assert dict(zip(expected, ast.literal_eval(done.stdout), strict=True)) == expected


def test_it_logs_one_json_object_per_line_for_both_ways_of_logging() -> None:
    code = (
        "import django; django.setup(); import logging, structlog;"
        "logging.getLogger('plain').warning('hello %s', 'Ana');"
        "structlog.get_logger('structured').warning('saved', check=7)"
    )
    first, second = (json.loads(line) for line in start(code).stderr.splitlines())
    assert (first["event"], first["level"], first["logger"]) == ("hello Ana", "warning", "plain")
    assert (second["event"], second["check"], second["logger"]) == ("saved", 7, "structured")
