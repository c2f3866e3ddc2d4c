"""An e-mail address counts as somebody's once they have followed a link mailed there, signed in."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
import time_machine
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client

from annotation.accounts.verified_email import MAILS_AN_HOUR, has_verified_email, key_of, mail_verification
from annotation.models import AccountEvent
from annotation.privacy.erase_person import erase_person

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper

    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn

pytestmark = pytest.mark.usefixtures("world", "mailing")

MINE = {"act": "rename", "full_name": "Rex", "email": "Rex@example.org", "known": "rex-secret"}


def link() -> str:
    (path,) = re.findall(r"http://testserver(/account/email/\S+)", mail.outbox[-1].body)
    return str(path)


def verified(world: World) -> bool:
    return has_verified_email(User.objects.get(pk=world.rex.pk))


def test_a_link_is_mailed_to_a_new_address_and_a_button_verifies_it(rex: Client, world: World) -> None:
    assert rex.post("/account/", MINE).status_code == 302
    assert mail.outbox[-1].to == ["Rex@example.org"]
    assert "Not verified" in rex.get("/account/").content.decode()
    # Programs that look into mail open its links.
    assert rex.get(link()).status_code == 200
    assert not verified(world)
    assert rex.post(link()).status_code == 302
    assert verified(world)
    assert "Verified: you followed" in rex.get("/account/").content.decode()
    events = AccountEvent.objects.filter(person=world.rex).order_by("pk")
    assert [(event.kind, event.note) for event in events if "mail" in event.get_kind_display()] == [
        ("email", "none → Rex@example.org"),
        ("verified", "Rex@example.org"),
    ]


def test_the_link_opens_for_its_person_alone(rex: Client, world: World, signed_in: SignIn) -> None:
    """Otherwise somebody could enter a stranger's address and wait for the stranger to click."""
    rex.post("/account/", MINE)
    assert Client().post(link())["Location"].startswith("/sign-in/")
    assert signed_in(world.ana).post(link()).status_code == 404
    assert not verified(world)


@pytest.mark.parametrize("change", ["later", "another address", "garbled"])
def test_a_link_too_old_or_of_another_address_opens_nothing(rex: Client, world: World, change: str) -> None:
    rex.post("/account/", MINE)
    path = link()
    if change == "another address":
        rex.post("/account/", {**MINE, "email": "other@example.org"})
    if change == "garbled":
        path = path[:-3] + "x/"
    with time_machine.travel(timedelta(days=4 if change == "later" else 0)):
        assert rex.post(path).status_code in (302, 404)
    assert not verified(world)


def test_another_address_is_not_verified_and_neither_is_the_old_one_come_back(
    rex: Client, world: World
) -> None:
    rex.post("/account/", MINE)
    rex.post(link())
    rex.post("/account/", {**MINE, "email": "other@example.org"})
    assert not verified(world)
    rex.post("/account/", MINE)
    assert not verified(world)


def test_an_address_is_verified_for_one_account(rex: Client, world: World, signed_in: SignIn) -> None:
    rex.post("/account/", MINE)
    rex.post(link())
    world.ana.email = "rex@example.org"
    world.ana.save()
    assert signed_in(world.ana).post(f"/account/email/{key_of(world.ana)}/").status_code == 409
    assert (has_verified_email(world.ana), verified(world)) == (False, True)


def test_few_mails_are_sent_an_hour(rex: Client) -> None:
    rex.post("/account/", MINE)
    for _ in range(MAILS_AN_HOUR + 2):
        assert rex.post("/account/", {"act": "verify"}).status_code == 302
    assert len(mail.outbox) == MAILS_AN_HOUR


def test_nothing_is_mailed_without_a_mail_server_or_to_an_address_of_before(
    rex: Client, world: World, settings: SettingsWrapper
) -> None:
    assert mail_verification(person_id=world.rex.pk, email="gone@example.org", address="http://x") is False
    settings.EMAIL_URL = ""
    rex.post("/account/", MINE)
    assert "Mail me a link" not in rex.get("/account/").content.decode()
    assert mail.outbox == []


def test_an_erased_person_has_no_address(rex: Client, world: World) -> None:
    rex.post("/account/", MINE)
    rex.post(link())
    assert erase_person(person=world.rex)["account_emailaddress"] == 1
