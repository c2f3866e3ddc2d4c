"""What every door says while the database is away: the driver's own error, of a server that is not there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from annotation.core.refusals import away

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from django.http import HttpResponse

    from tests.annotation.cast import World

HTMX = {"HX-Request": "true"}


@pytest.fixture
def signed_in(transactional_db: None, world: World, tmp_path: Path) -> Iterator[Client]:
    """A member of staff, signed in just before the database went away."""
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
    url = reverse("acts", kwargs={"slug": "harbour", "sitting_id": "abc"})
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


@pytest.mark.parametrize(
    "path", ["/", "/p/harbour/", "/admin/", "/p/harbour/exports/abc/download/", "/notices/"]
)
def test_people_get_a_page(signed_in: Client, path: str) -> None:
    answer = signed_in.get(path, headers={"Accept": "text/html,*/*"})
    page = answer.content.decode()
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "The database is not responding." in page
    assert "Traceback" not in page
    assert "OperationalError" not in page


def test_nobody_is_told_that_their_password_is_wrong(signed_in: Client) -> None:
    answer = Client(raise_request_exception=False).post("/sign-in/", {"username": "olga", "password": "x"})
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
    monkeypatch.setattr("annotation.config.sessions.SessionStore.load", fail)
    answer = ask(client)
    assert (answer.status_code, answer["Content-Type"]) == (500, kind)
    assert "inside" not in answer.content.decode()
    assert "Retry-After" not in answer


def test_an_error_of_ours_is_not_the_databases() -> None:
    assert away(ValueError("no")) is None
