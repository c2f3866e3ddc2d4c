from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.test import Client, override_settings

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from tests.annotation.cast import World


@pytest.fixture
def ana(world: World) -> User:
    return world.ana


@pytest.mark.parametrize("name", ["ana", "Ana"])
def test_name_in_any_case_and_password_lead_to_the_projects(ana: User, name: str) -> None:
    answer = Client().post("/accounts/login/", {"login": name, "password": "ana-secret"})
    assert (answer.status_code, answer["Location"]) == (302, "/")


@override_settings(DEMO_SIGN_IN=True)
def test_the_demo_lets_one_step_in_as_its_people(ana: User) -> None:
    client = Client()
    assert b'value="ana"' in client.get("/accounts/login/").content
    front = client.get("/").content
    assert b'value="ana"' in front
    assert b"make demo" not in front
    assert client.post("/accounts/demo/", {"person": "ana"})["Location"] == "/"
    assert client.get("/").status_code == 200


@override_settings(DEMO_SIGN_IN=True)
@pytest.mark.parametrize("name", ["olga", "nobody", ""])
def test_the_demo_lets_one_step_in_as_nobody_else(world: World, name: str) -> None:
    assert Client().post("/accounts/demo/", {"person": name}).status_code == 404


@override_settings(DEMO_SIGN_IN=True)
def test_the_demo_sends_nobody_to_another_site(ana: User) -> None:
    answer = Client().post("/accounts/demo/", {"person": "ana", "next": "//elsewhere.example/"})
    assert answer["Location"] == "/"


def test_without_the_demo_there_is_no_such_address(ana: User) -> None:
    client = Client()
    assert client.post("/accounts/demo/", {"person": "ana"}).status_code == 404
    assert b"/accounts/demo/" not in client.get("/accounts/login/").content


def test_the_rules_of_a_new_password_are_a_list(world: World, client: Client) -> None:
    client.force_login(world.rex)
    page = client.get("/accounts/password/change/").content.decode()
    assert "&lt;li&gt;" not in page
    assert "<li>" in page[page.index("helptext") :]
