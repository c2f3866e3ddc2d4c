from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
import time_machine
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client

from annotation.models import AccountEvent

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper

    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn

pytestmark = pytest.mark.usefixtures("world", "mailing")

PAGE = "/accounts/email/"
MINE = {"email": "rex@example.org", "action_add": ""}


@pytest.fixture
def rex(world: World, signed_in: SignIn) -> Client:
    client = signed_in(world.rex)
    assert client.post("/accounts/reauthenticate/", {"password": "rex-secret"}).status_code == 302
    return client


def link() -> str:
    (path,) = re.findall(r"http://testserver(/accounts/confirm-email/\S+)", mail.outbox[-1].body)
    return str(path)


def address_of(world: World) -> str:
    world.rex.refresh_from_db()
    return world.rex.email


def test_a_link_is_mailed_to_a_new_address_and_a_button_verifies_it(rex: Client, world: World) -> None:
    assert rex.post(PAGE, MINE).status_code == 302
    assert mail.outbox[-1].to == ["rex@example.org"]
    assert "rex@example.org is not verified" in rex.get(PAGE).content.decode()
    # Programs that scan mails open the links in them, so a GET request must verify nothing.
    assert rex.get(link()).status_code == 200
    assert address_of(world) == ""
    assert rex.post(link()).status_code == 302
    assert address_of(world) == "rex@example.org"
    assert "rex@example.org is verified" in rex.get(PAGE).content.decode()
    assert AccountEvent.objects.filter(person=world.rex, kind="verified").exists()


def test_another_address_asks_for_the_password_and_counts_when_it_is_verified(
    world: World, signed_in: SignIn, rex: Client
) -> None:
    rex.post(PAGE, MINE)
    rex.post(link())
    thief = {"email": "thief@example.org", "action_add": ""}
    assert signed_in(world.rex).post(PAGE, thief)["Location"].startswith("/accounts/reauthenticate/")
    assert rex.post(PAGE, thief).status_code == 302
    assert address_of(world) == "rex@example.org"
    rex.post(link())
    assert address_of(world) == "thief@example.org"


def test_the_link_opens_for_its_person_alone(rex: Client, world: World, signed_in: SignIn) -> None:
    """Otherwise somebody could enter a stranger's address and wait for the stranger's click."""
    rex.post(PAGE, MINE)
    assert Client().post(link())["Location"].startswith("/accounts/login/")
    assert signed_in(world.ana).post(link()).status_code == 404
    assert not EmailAddress.objects.filter(verified=True).exists()


def test_nothing_is_mailed_without_a_mail_server(rex: Client, settings: SettingsWrapper) -> None:
    settings.EMAIL_URL = ""
    assert rex.post(PAGE, MINE).status_code == 403
    assert "action_add" not in rex.get(PAGE).content.decode()
    assert mail.outbox == []


@pytest.mark.parametrize("change", ["later", "garbled"])
def test_a_link_too_old_or_garbled_opens_nothing(rex: Client, world: World, change: str) -> None:
    rex.post(PAGE, MINE)
    path = link()[:-3] + "x/" if change == "garbled" else link()
    with time_machine.travel(timedelta(days=4 if change == "later" else 0)):
        assert rex.post(path).status_code == 404
    assert address_of(world) == ""
