import ast
import os
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from annotation.settings_choice import LOCAL, PRODUCTION, SETTINGS, name_settings
from tests import forking

NAME = "s.DATABASES['default']['NAME']"


def show(place: str, *expressions: str, var: Path, **environment: str) -> list[Any]:
    code = f"from django.conf import settings as s; print([{', '.join(expressions)}])"
    names = {"DJANGO_SETTINGS_MODULE": f"{SETTINGS}{place}", "COVERDICT_VAR": str(var)}
    done = forking.run(code, **names, **environment)
    assert done.returncode == 0, done.stderr
    shown = ast.literal_eval(done.stdout)
    assert isinstance(shown, list)
    return shown


@pytest.mark.process
def test_the_demo_is_for_this_machine_alone(tmp_path: Path) -> None:
    hosts = show("demo", "s.DEMO_HOST", "s.ALLOWED_HOSTS", var=tmp_path)
    assert hosts == ["127.0.0.1", ["127.0.0.1", "localhost"]]


@pytest.mark.process
def test_local_and_demo_share_a_database_and_a_kept_key_but_not_one_click_sign_in(tmp_path: Path) -> None:
    shared = (f"str({NAME})", "s.SECRET_KEY")
    *demo, demo_signs_in = show("demo", *shared, "s.DEMO_SIGN_IN", var=tmp_path)
    *local, local_signs_in = show("local", *shared, "s.DEMO_SIGN_IN", var=tmp_path)
    assert local == demo
    assert demo[0] == str(tmp_path / "coverdict.sqlite3")
    assert len(demo[1]) >= 50
    assert (tmp_path / "secret_key").stat().st_mode & 0o077 == 0
    assert (demo_signs_in, local_signs_in, settings.DEMO_SIGN_IN) == (True, False, False)


@pytest.mark.process
def test_debug_is_off_unless_asked_for_and_never_on_in_the_demo(tmp_path: Path) -> None:
    assert show("local", "s.DEBUG", var=tmp_path) == [False]
    assert show("local", "s.DEBUG", var=tmp_path, DEBUG="1") == [True]
    assert show("demo", "s.DEBUG", var=tmp_path, DEBUG="1") == [False]


@pytest.mark.process
def test_everything_that_is_written_lies_below_var(tmp_path: Path) -> None:
    written = (
        "s.STATIC_ROOT",
        NAME,
        "s.CELERY_BROKER_TRANSPORT_OPTIONS['data_folder_in']",
        "s.CELERY_BROKER_TRANSPORT_OPTIONS['control_folder']",
    )
    paths = show("local", *(f"str({each})" for each in written), var=tmp_path)
    assert [path for path in paths if not Path(path).is_relative_to(tmp_path)] == []


@pytest.mark.process
def test_the_environment_names_database_and_broker_everywhere(tmp_path: Path) -> None:
    named = {"DATABASE_URL": "postgres://ana@127.0.0.1/other", "CELERY_BROKER_URL": "redis://127.0.0.1/3"}
    shown = show("demo", "s.DATABASES['default']['ENGINE']", "s.CELERY_BROKER_URL", var=tmp_path, **named)
    assert shown == ["django.db.backends.postgresql", "redis://127.0.0.1/3"]


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


PROGRAMS = {
    "manage.py": "import runpy; runpy.run_path('manage.py', run_name='__main__')",
    "coverdict": "import runpy; runpy.run_module('annotation.command_line', run_name='__main__')",
}


@pytest.mark.process
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_partial_set_is_refused_in_sentences_that_name_the_rest(program: str, tmp_path: Path) -> None:
    set_so_far = {"COVERDICT_VAR": str(tmp_path), "ALLOWED_HOSTS": "coverdict.example.org"}
    done = forking.run(PROGRAMS[program], "migrate", **set_so_far)
    assert done.returncode == 1
    first, *rest = done.stderr.splitlines()
    assert first.endswith("(chosen because ALLOWED_HOSTS is set):")
    assert [line.split()[1] for line in rest] == ["SECRET_KEY", "DATABASE_URL", "CELERY_BROKER_URL"]


@pytest.mark.process
@pytest.mark.parametrize(
    ("database", "told"),
    [
        ("postgres://ada:pass-word@127.0.0.1:1/coverdict", "The database does not respond as it should: "),
        ("sqlite:///{}/empty.sqlite3", "The database has no tables yet"),
    ],
)
def test_a_command_without_its_database_says_so_in_a_sentence(
    database: str, told: str, tmp_path: Path
) -> None:
    names = {"DJANGO_SETTINGS_MODULE": LOCAL, "COVERDICT_VAR": str(tmp_path)}
    url = database.format(tmp_path)
    done = forking.run(PROGRAMS["manage.py"], "leaderboard", "harbour", **names, DATABASE_URL=url)
    (line,) = done.stderr.splitlines()
    assert (done.returncode, line.startswith(told)) == (1, True), line
    assert "pass-word" not in line
