from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from annotation.api.errors import outage
from tests import parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from django.http import HttpResponse

    from tests.annotation.cast import World

ROOT = Path(__file__).parents[2]
STRUCK = ("web server killed", "PostgreSQL stopped at once", "all workers killed")
HTMX = {"HX-Request": "true"}


@pytest.fixture
def signed_in(transactional_db: None, world: World, tmp_path: Path) -> Iterator[Client]:
    person = world.olga
    person.is_staff = True
    person.save(update_fields=["is_staff"])
    client = Client(raise_request_exception=False)
    client.force_login(person)
    settings = connection.settings_dict
    before = dict(settings)
    connection.close()
    settings.update(
        {"NAME": tmp_path / "nowhere" / "db"}
        if connection.vendor == "sqlite"
        else {"HOST": "127.0.0.1", "PORT": "1"}
    )
    yield client
    connection.close()
    settings.update(before)


def acts(client: Client) -> HttpResponse:
    url = reverse("acts", kwargs={"slug": "harbour", "assignment_id": "abc"})
    return client.post(url, "{}", content_type="application/json")


def test_the_see_form_is_told_in_json(signed_in: Client) -> None:
    answer = acts(signed_in)
    assert (answer.status_code, answer["Content-Type"], answer["Retry-After"]) == (
        503,
        "application/json",
        "5",
    )
    assert answer.json()["code"] == "database_away"


@pytest.mark.parametrize("method", ["get", "post", "patch"])
def test_programs_get_the_envelope(signed_in: Client, method: str) -> None:
    answer = getattr(signed_in, method)("/api/v1/projects/harbour/", content_type="application/json")
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    error = answer.json()["error"]
    assert (error["code"], error["field"], error["details"]) == ("database_away", None, {})


def test_a_token_is_not_called_wrong(signed_in: Client) -> None:
    headers = {"Authorization": f"Token {'a' * 64}"}
    answer = Client(raise_request_exception=False).get("/api/v1/projects/", headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "database_away")


def test_a_page_that_is_open_gets_a_notice(signed_in: Client) -> None:
    answer = signed_in.get(reverse("scores", kwargs={"slug": "harbour"}), headers=HTMX)
    assert (answer.status_code, answer["HX-Retarget"]) == (503, "#notices")
    assert answer.content.decode().startswith('<div class="notice error">')


@pytest.mark.parametrize("path", ["/", "/p/harbour/", "/admin/", "/p/harbour/exports/abc/download/"])
def test_people_get_a_page(signed_in: Client, path: str) -> None:
    answer = signed_in.get(path, headers={"Accept": "text/html,*/*"})
    page = answer.content.decode()
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "The database is not responding." in page
    assert "Traceback" not in page
    assert "OperationalError" not in page


def test_nobody_is_told_that_their_password_is_wrong(signed_in: Client) -> None:
    answer = Client(raise_request_exception=False).post(
        "/accounts/login/", {"login": "olga", "password": "x"}
    )
    assert answer.status_code == 503


def test_a_program_that_fetches_a_file_gets_text(signed_in: Client) -> None:
    answer = signed_in.get("/p/harbour/exports/abc/download/", headers={"Accept": "text/csv"})
    assert answer.status_code == 503
    assert answer["Content-Type"].startswith("text/plain")


@pytest.mark.parametrize(
    ("ask", "kind"),
    [
        (acts, "application/json"),
        (lambda client: client.get("/api/v1/projects/harbour/"), "application/json"),
        (lambda client: client.get("/p/harbour/"), "text/html; charset=utf-8"),
    ],
)
def test_other_errors_keep_the_format_and_tell_nothing(
    world: World, ask: Callable[[Client], HttpResponse], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ValueError("what the inside looks like")

    client = Client(raise_request_exception=False)
    client.force_login(world.olga)
    monkeypatch.setattr("django.contrib.sessions.backends.db.SessionStore.load", fail)
    answer = ask(client)
    assert (answer.status_code, answer["Content-Type"]) == (500, kind)
    assert "inside" not in answer.content.decode()
    assert "Retry-After" not in answer


def test_an_error_of_ours_is_not_the_databases() -> None:
    assert outage(ValueError("no")) is None


@pytest.mark.process
@pytest.mark.redis
@pytest.mark.slow
def test_nothing_is_lost_or_doubled_where_parts_die(tmp_path: Path) -> None:
    """A short `make bench ONLY=faults`: parts fail during a run, while people save and answer."""
    short = {"FAULTS_SETS": "24", "FAULTS_ONLY": ",".join(STRUCK), "JOB_LEASE_SECONDS": "3"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench", "faults", "--output", tmp_path / "bench.json"],
        env=os.environ | short,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "bench.json").read_text())["parts"]["faults"]["rows"]
    if not rows:
        parts.missing("redis", done.stderr.strip().splitlines()[-1])
    counts = {row["what"]: (row["value"], row["note"]) for row in rows if row["unit"] != "s"}
    assert [what for what in STRUCK if f"{what}: lost" not in counts] == []
    assert {what: told for what, told in counts.items() if told[0]} == {}
    # The benchmark measures how soon the work continues; this test only checks that it does.
    assert {row["what"]: row["value"] for row in rows if row["unit"] == "s" and row["value"] > 120} == {}
