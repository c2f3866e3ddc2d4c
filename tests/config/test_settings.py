"""Local, demo and test settings, and what they share."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from annotation.settings_choice import LOCAL, PRODUCTION, name_settings

ROOT = Path(__file__).resolve().parents[2]


def show(place: str, expression: str, var: Path, **environment: str) -> str:
    own = {name: value for name in ("PATH", "HOME", "LANG") if (value := os.environ.get(name))}
    names = {"DJANGO_SETTINGS_MODULE": f"annotation.config.settings.{place}", "COVERDICT_VAR": str(var)}
    code = f"from django.conf import settings as s; print({expression})"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**own, **names, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_demo_is_for_this_machine_alone(tmp_path: Path) -> None:
    assert show("demo", "s.DEMO_HOST, s.ALLOWED_HOSTS", tmp_path) == "127.0.0.1 ['127.0.0.1', 'localhost']"


@pytest.mark.parametrize(("place", "expected"), [("demo", "True"), ("local", "False"), ("test", "False")])
def test_one_click_sign_in_exists_in_the_demo_alone(tmp_path: Path, place: str, expected: str) -> None:
    assert show(place, "s.DEMO_SIGN_IN", tmp_path) == expected


def test_manage_py_works_on_the_demos_database(tmp_path: Path) -> None:
    name = "s.DATABASES['default']['NAME']"
    assert (
        show("local", name, tmp_path) == show("demo", name, tmp_path) == str(tmp_path / "coverdict.sqlite3")
    )


def test_local_and_demo_share_one_key_that_is_kept(tmp_path: Path) -> None:
    first = show("demo", "s.SECRET_KEY", tmp_path)
    assert len(first) >= 50
    assert show("local", "s.SECRET_KEY", tmp_path) == first
    assert (tmp_path / "secret_key").stat().st_mode & 0o077 == 0


def test_debug_is_off_unless_asked_for_and_never_on_in_the_demo(tmp_path: Path) -> None:
    assert show("local", "s.DEBUG", tmp_path) == "False"
    assert show("local", "s.DEBUG", tmp_path, DEBUG="1") == "True"
    assert show("demo", "s.DEBUG", tmp_path, DEBUG="1") == "False"


def test_everything_that_is_written_lies_below_var(tmp_path: Path) -> None:
    written = (
        "s.STATIC_ROOT, s.DATABASES['default']['NAME'],"
        "s.CELERY_BROKER_TRANSPORT_OPTIONS['data_folder_in'],"
        "s.CELERY_BROKER_TRANSPORT_OPTIONS['control_folder'],"
        "sep='|'"
    )
    paths = show("local", written, tmp_path).split("|")
    assert [path for path in paths if not Path(path).is_relative_to(tmp_path)] == []


def test_the_environment_names_database_and_broker_everywhere(tmp_path: Path) -> None:
    shown = show(
        "demo",
        "s.DATABASES['default']['ENGINE'], s.CELERY_BROKER_URL",
        tmp_path,
        DATABASE_URL="postgres://ana@127.0.0.1/other",
        CELERY_BROKER_URL="redis://127.0.0.1/3",
    )
    assert shown == "django.db.backends.postgresql redis://127.0.0.1/3"


def test_the_policy_allows_nothing_unsafe() -> None:
    directives = settings.CONTENT_SECURITY_POLICY["DIRECTIVES"]
    assert "unsafe" not in str(directives)
    assert {name: list(sources) for name, sources in directives.items()} == {
        "default-src": ["'self'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "frame-ancestors": ["'none'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "object-src": ["'none'"],
    }


def test_axes_comes_last_among_the_middleware_and_first_among_the_backends() -> None:
    assert settings.MIDDLEWARE[-1] == "axes.middleware.AxesMiddleware"
    assert settings.AUTHENTICATION_BACKENDS[0] == "axes.backends.AxesStandaloneBackend"


def test_no_request_is_one_transaction() -> None:
    assert not settings.DATABASES["default"].get("ATOMIC_REQUESTS")


def test_tests_run_on_the_database_that_was_asked_for() -> None:
    is_sqlite = settings.DATABASES["default"]["ENGINE"].endswith("sqlite3")
    assert is_sqlite == (re.match("sqlite", os.environ.get("DATABASE_URL", "sqlite")) is not None)


def test_a_task_reaches_a_worker_once_and_one_at_a_time() -> None:
    from annotation.config import celery_app

    conf = celery_app.conf
    assert (conf.task_acks_late, conf.worker_prefetch_multiplier) == (False, 1)
    assert (conf.task_ignore_result, conf.result_backend, conf.accept_content) == (True, None, ["json"])


@pytest.mark.parametrize(
    ("environment", "command", "chosen"),
    [
        ({}, "", LOCAL),
        ({"DATABASE_URL": "sqlite:///a.sqlite3", "SECRET_KEY": "k"}, "migrate", LOCAL),
        ({"ALLOWED_HOSTS": ""}, "", LOCAL),
        ({"ALLOWED_HOSTS": "coverdict.example.org"}, "", PRODUCTION),
        ({"CELERY_BROKER_URL": "amqp://host"}, "serve", PRODUCTION),
        ({"DATABASE_URL": "postgres://ana@host/name"}, "", PRODUCTION),
        ({"DATABASE_URL": "postgresql://ana@host/name"}, "", PRODUCTION),
        ({"ALLOWED_HOSTS": "coverdict.example.org"}, "demo", LOCAL),
        ({"ALLOWED_HOSTS": "a.example.org", "DJANGO_SETTINGS_MODULE": "their.own"}, "", "their.own"),
    ],
)
def test_the_environment_chooses_the_settings(
    environment: dict[str, str], command: str, chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "environ", environment)
    name_settings(command)
    assert environment["DJANGO_SETTINGS_MODULE"] == chosen


@pytest.mark.process
@pytest.mark.parametrize("program", [["manage.py"], ["-m", "annotation.command_line"]])
def test_a_partial_set_is_refused_in_sentences_that_name_the_rest(program: list[str], tmp_path: Path) -> None:
    own = {name: value for name in ("PATH", "HOME", "LANG") if (value := os.environ.get(name))}
    done = subprocess.run(
        [sys.executable, *program, "migrate"],
        cwd=ROOT,
        env={**own, "COVERDICT_VAR": str(tmp_path), "ALLOWED_HOSTS": "coverdict.example.org"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    first, *rest = done.stderr.splitlines()
    assert first.endswith("(chosen because ALLOWED_HOSTS is set):")
    assert [line.split()[1] for line in rest] == ["SECRET_KEY", "DATABASE_URL", "CELERY_BROKER_URL"]


@pytest.mark.process
@pytest.mark.parametrize(
    ("database", "told"),
    [
        ("postgres://ada:pass-word@127.0.0.1:1/coverdict", "The database does not respond as it should: "),
        ("sqlite:///{}/empty.sqlite3", "The database's tables are not of this version (no such table"),
    ],
)
def test_a_command_without_its_database_says_so_in_a_sentence(
    database: str, told: str, tmp_path: Path
) -> None:
    own = {name: value for name in ("PATH", "HOME", "LANG") if (value := os.environ.get(name))}
    settings = {"DJANGO_SETTINGS_MODULE": LOCAL, "COVERDICT_VAR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "manage.py", "leaderboard", "harbour"],
        cwd=ROOT,
        env={**own, **settings, "DATABASE_URL": database.format(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    (line,) = done.stderr.splitlines()
    assert (done.returncode, line.startswith(told)) == (1, True), line
    assert "pass-word" not in line
