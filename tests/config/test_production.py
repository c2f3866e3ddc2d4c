"""Production settings, each refusal in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[2]
GOOD = {
    "SECRET_KEY": "kq3v8-Zx0pWb7_Tn5rLd9sYf2hGj4mCe6uAo1iXwQzVtRyBnPlKgHs",
    "ALLOWED_HOSTS": "coverdict.example.org",
    "DATABASE_URL": "postgres://coverdict:pw@127.0.0.1/coverdict",
    "CELERY_BROKER_URL": "redis://127.0.0.1:6379/0",
}
KEPT = ("PATH", "HOME", "LANG", "COVERDICT_VAR", "TMPDIR")


SET_UP = "import django; django.setup()"


def start(code: str = SET_UP, /, **changes: str | None) -> subprocess.CompletedProcess[str]:
    own = {name: value for name in KEPT if (value := os.environ.get(name))}
    asked = {name: value for name, value in {**GOOD, **changes}.items() if value is not None}
    environment = {**own, **asked, "DJANGO_SETTINGS_MODULE": "annotation.config.settings.production"}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def test_it_starts_where_all_is_in_order() -> None:
    done = start(ALLOWED_HOSTS="coverdict.example.org,.example.org,[::1]")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"SECRET_KEY": None}, "SECRET_KEY is not set"),
        ({"SECRET_KEY": "django-insecure-" + "k3v8Zx0pWb" * 6}, "default or a placeholder"),
        ({"SECRET_KEY": "change-me-" + "k3v8Zx0pWb" * 6}, "default or a placeholder"),
        ({"SECRET_KEY": "k3v8Zx0pWb"}, "too easy to guess"),
        ({"SECRET_KEY": "abc" * 30}, "too easy to guess"),
        ({"DEBUG": "1"}, "DEBUG is on"),
        ({"DEBUG": "True"}, "DEBUG is on"),
        ({"ALLOWED_HOSTS": None}, "ALLOWED_HOSTS is empty"),
        ({"ALLOWED_HOSTS": "*"}, "open to every host"),
        ({"ALLOWED_HOSTS": "coverdict.example.org,*"}, "open to every host"),
        ({"ALLOWED_HOSTS": "."}, "open to every host"),
        ({"ALLOWED_HOSTS": "https://coverdict.example.org"}, "host names without https:// and port"),
        ({"ALLOWED_HOSTS": "coverdict.example.org:443,[::1]"}, "host names without https:// and port"),
        ({"DATABASE_URL": None}, "DATABASE_URL is not set"),
        (
            {"DATABASE_URL": "postgress://coverdict:pw@127.0.0.1/coverdict"},
            "Write postgres://user:pass@host/name",
        ),
        ({"DATABASE_URL": "sqlite://:memory:"}, "database in memory"),
        ({"CELERY_BROKER_URL": None}, "CELERY_BROKER_URL is not set"),
        ({"CELERY_BROKER_URL": "filesystem://"}, "loses messages"),
        ({"CELERY_BROKER_URL": "memory://"}, "loses messages"),
        ({"TRUST_PROXY_HEADER": "true"}, "TRUSTED_PROXIES is not"),
    ],
    ids=str,
)
def test_it_refuses_what_is_unsafe_and_names_it(changes: dict[str, str | None], complaint: str) -> None:
    done = start(**changes)
    assert done.returncode != 0
    assert "ImproperlyConfigured: Coverdict does not start" in done.stderr
    assert complaint in done.stderr


def test_it_refuses_the_key_that_the_tests_are_known_to_use() -> None:
    from annotation.config.settings import test

    assert "placeholder" in start(SECRET_KEY=test.SECRET_KEY).stderr


def test_it_names_every_fault_at_once_and_no_value() -> None:
    said = start(SECRET_KEY="k3v8Zx0pWb", ALLOWED_HOSTS="*", CELERY_BROKER_URL="filesystem://").stderr
    assert said.count("\n- ") == 3
    assert "k3v8Zx0pWb" not in said
    assert "(chosen because ALLOWED_HOSTS and CELERY_BROKER_URL and DATABASE_URL are set)" in said


@pytest.mark.parametrize("module", ["annotation.config.wsgi", "annotation.config.celery"])
def test_the_ways_in_default_to_production(module: str) -> None:
    own = {name: value for name in KEPT if (value := os.environ.get(name))}
    code = f"import {module}; from django.conf import settings; settings.DEBUG"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=own, capture_output=True, text=True, check=False
    )
    assert "Coverdict does not start with these production settings" in done.stderr


def test_a_server_without_collected_files_is_refused_in_a_sentence(tmp_path: Path) -> None:
    done = start("import annotation.config.wsgi", COVERDICT_VAR=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("Static files are not collected in ")
    assert "Traceback" not in done.stderr


SHOW = "import django; django.setup(); from django.conf import settings as s; print({})"


@pytest.mark.parametrize(
    ("expression", "changes", "expected"),
    [
        ("s.DEBUG, s.DEMO_SIGN_IN", {}, "False False"),
        ("s.SESSION_COOKIE_SECURE, s.CSRF_COOKIE_SECURE", {}, "True True"),
        ("s.SECURE_SSL_REDIRECT", {}, "True"),
        ("s.SECURE_SSL_REDIRECT", {"SECURE_SSL_REDIRECT": "0"}, "False"),
        ("s.SECURE_HSTS_SECONDS", {}, "31536000"),
        ("s.SECURE_HSTS_SECONDS", {"SECURE_HSTS_SECONDS": "60"}, "60"),
        ("s.SECURE_PROXY_SSL_HEADER", {}, "None"),
        (
            "s.SECURE_PROXY_SSL_HEADER[0]",
            {"TRUST_PROXY_HEADER": "1", "TRUSTED_PROXIES": "1"},
            "HTTP_X_FORWARDED_PROTO",
        ),
        ("s.TRUSTED_PROXIES", {}, "0"),
        ("s.TRUSTED_PROXIES", {"TRUSTED_PROXIES": "2"}, "2"),
        ("s.DATABASES['default']['CONN_MAX_AGE']", {}, "60"),
        ("s.DATABASES['default']['CONN_MAX_AGE']", {"CONN_MAX_AGE": "5"}, "5"),
        ("s.DATABASES['default']['DISABLE_SERVER_SIDE_CURSORS']", {"SERVER_SIDE_CURSORS": "0"}, "True"),
        ("s.COVERDICT_JUDGE_URLS", {}, "[]"),
        (
            "s.COVERDICT_JUDGE_URLS",
            {"COVERDICT_JUDGE_URLS": "https://judge.example.org"},
            "['https://judge.example.org']",
        ),
        ("s.PASSWORD_HASHERS[0].rpartition('.')[2]", {}, "Argon2PasswordHasher"),
        (
            "s.STORAGES['staticfiles']['BACKEND'].rpartition('.')[2]",
            {},
            "CompressedManifestStaticFilesStorage",
        ),
    ],
)
def test_it_takes_from_the_environment(expression: str, changes: dict[str, str], expected: str) -> None:
    done = start(SHOW.format(expression), **changes)
    assert done.stdout.strip() == expected, done.stderr


def test_it_logs_one_json_object_per_line_for_both_ways_of_logging() -> None:
    import json

    code = (
        "import django; django.setup(); import logging, structlog;"
        "logging.getLogger('plain').warning('hello %s', 'Ana');"
        "structlog.get_logger('structured').warning('saved', check=7)"
    )
    first, second = (json.loads(line) for line in start(code).stderr.splitlines())
    assert (first["event"], first["level"], first["logger"]) == ("hello Ana", "warning", "plain")
    assert (second["event"], second["check"], second["logger"]) == ("saved", 7, "structured")
