from __future__ import annotations

import html
import logging
from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client

from annotation.assessing.services.assign import assign
from annotation.models import Guideline
from tests.annotation.conftest import HTMX

if TYPE_CHECKING:
    from tests.annotation.cast import World

WRITE = "/p/harbour/settings/guidelines/write/"
LARGE = "x" * (3 * 1024 * 1024)


def text_of(answer: Any) -> str:
    return html.unescape(answer.content.decode()).replace("\xa0", " ")


def tracebacks(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.exc_info]


def test_a_form_of_three_megabytes_is_told_the_limit(mona: Client, caplog: pytest.LogCaptureFixture) -> None:
    form = f"text={LARGE}"
    answer = mona.post(WRITE, form, content_type="application/x-www-form-urlencoded")
    assert answer.status_code == 413
    assert "more than the limit of 2.5 MB" in text_of(answer)
    assert '<a class="btn quiet" href="/p/harbour/">Back</a>' in text_of(answer)
    assert not Guideline.objects.exists()
    assert tracebacks(caplog) == []


def test_it_is_told_before_the_forms_token_is_asked_for(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.mona)
    assert client.post(WRITE, {"text": LARGE}).status_code == 413
    assert client.post(WRITE, {"text": "short"}).status_code == 403
    assert tracebacks(caplog) == []


def test_where_htmx_asked_it_is_a_notice_and_what_was_typed_stays(mona: Client) -> None:
    answer = mona.post(WRITE, {"text": LARGE}, headers=HTMX)
    assert (answer.status_code, answer["HX-Retarget"]) == (413, "#notices")
    assert "<html" not in text_of(answer)


def test_too_many_inputs_are_told(mona: Client, caplog: pytest.LogCaptureFixture) -> None:
    # A form may have a thousand fields.
    answer = mona.post(WRITE, {f"name-{number}": "" for number in range(1001)})
    assert answer.status_code == 413
    assert "more than the limit of 1,000 inputs" in text_of(answer)
    assert tracebacks(caplog) == []


@pytest.mark.parametrize(
    "kind",
    ["multipart/form-data", "application/x-www-form-urlencoded; charset=latin-1"],
)
def test_a_form_that_is_none_gets_a_page(mona: Client, caplog: pytest.LogCaptureFixture, kind: str) -> None:
    caplog.set_level(logging.INFO)
    answer = mona.post(WRITE, b"text=a", content_type=kind)
    assert answer.status_code == 400
    assert "Invalid input" in text_of(answer)
    assert tracebacks(caplog) == []


def test_the_admin_says_it_as_well(world: World, mona: Client) -> None:
    world.mona.is_staff = world.mona.is_superuser = True
    world.mona.save(update_fields=["is_staff", "is_superuser"])
    assert mona.post("/admin/annotation/dispute/", {"action": LARGE}).status_code == 413


@pytest.fixture
def acts(world: World) -> str:
    assignment = assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    return f"/p/harbour/work/sets/{assignment.public_id}/acts/"


def test_a_script_is_told_in_json(ana: Client, acts: str, caplog: pytest.LogCaptureFixture) -> None:
    answer = ana.post(acts, f'"{LARGE}"', content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert tracebacks(caplog) == []


@pytest.mark.parametrize("body", ['{"acts": NaN}', "[" * 3000, '{"client": "\\ud800", "acts": []}'])
def test_json_of_a_script_that_makes_no_sense_is_refused(ana: Client, acts: str, body: str) -> None:
    assert ana.post(acts, body, content_type="application/json").status_code == 422


def test_a_form_in_the_place_of_json_is_refused(ana: Client, acts: str) -> None:
    answer = ana.post(acts, {"client": "tab"})
    assert (answer.status_code, answer.json()["message"]) == (422, "The body of the request is not JSON.")


@pytest.mark.parametrize("path", ["review/?after=%00", "units/?system=a%00b"])
def test_an_address_with_a_nul_is_refused_in_words(mona: Client, path: str) -> None:
    answer = mona.get(f"/p/harbour/{path}")
    assert answer.status_code == 400
    assert "This address contains an invalid character" in text_of(answer)


def test_a_form_with_a_nul_is_refused_in_words(mona: Client) -> None:
    answer = mona.post(WRITE, {"text": "a\x00b"})
    assert answer.status_code == 400
    assert "This form contains an invalid character (NUL, U+0000)" in text_of(answer)
    assert not Guideline.objects.exists()
