"""Forgotten passwords: the mailed link does not reveal who has an account."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from django.core import mail
from django.test import Client
from knox.models import AuthToken

from annotation.accounts.own_account import ASKED_FROM_ONE_PLACE_AN_HOUR, RESETS_AN_HOUR, mail_reset_links

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper

    from tests.annotation.cast import World

PAGE = "/forgotten-password/"
NEW = "a-longer-secret-41"


@pytest.fixture(autouse=True)
def reachable(world: World, mailing: None) -> None:
    """Rex has an address."""
    world.rex.email = "Rex@example.org"
    world.rex.save()


def ask(email: str = "rex@example.org") -> str:
    return Client().post(PAGE, {"email": email}, follow=True).content.decode()


def test_the_mailed_link_gives_a_new_password_and_ends_sessions_and_tokens(world: World) -> None:
    session = Client()
    assert session.login(username="rex", password="rex-secret")
    AuthToken.objects.create(user=world.rex)
    assert "a reset link has been mailed to it" in ask()
    (sent,) = mail.outbox
    assert (sent.to, sent.from_email) == (["Rex@example.org"], "coverdict@example.org")
    [path] = re.findall(r"http://testserver(/reset/\S+)", str(sent.body))
    assert Client().post(path, {"password": NEW, "again": NEW})["Location"] == "/sign-in/"
    assert session.get("/account/").status_code == 302
    assert not AuthToken.objects.exists()
    assert Client().login(username="rex", password=NEW)
    assert Client().get(path).status_code == 404


def test_nobody_learns_who_has_an_account() -> None:
    known, unknown = (
        re.sub(r"[A-Za-z0-9]{64}", "", ask(email)) for email in ("rex@example.org", "nobody@example.org")
    )
    assert known == unknown
    assert len(mail.outbox) == 1


@pytest.mark.parametrize("change", [{"is_active": False}, {"password": "!unusable"}])
def test_a_closed_account_and_one_without_a_password_get_no_mail(
    world: World, change: dict[str, object]
) -> None:
    for name, value in change.items():
        setattr(world.rex, name, value)
    world.rex.save()
    assert mail_reset_links(email="rex@example.org", address="http://testserver/") == 0
    assert mail.outbox == []


def test_an_address_gets_few_mails_an_hour_however_it_is_written() -> None:
    for spelt in ["rex@example.org", "REX@example.org"] * RESETS_AN_HOUR:
        assert "a reset link has been mailed to it" in ask(spelt)
    assert len(mail.outbox) == RESETS_AN_HOUR


def test_one_place_asks_for_few_addresses_an_hour() -> None:
    for number in range(ASKED_FROM_ONE_PLACE_AN_HOUR):
        ask(f"person{number}@example.org")
    assert "a reset link has been mailed to it" in ask()
    assert mail.outbox == []


def test_what_is_no_address_is_refused() -> None:
    assert Client().post(PAGE, {"email": "rex"}).status_code == 422


def test_without_a_mail_server_an_administrator_is_named(settings: SettingsWrapper) -> None:
    settings.EMAIL_URL = ""
    page = Client().get(PAGE).content.decode()
    assert "Ask its administrator" in page
    assert 'name="email"' not in page
    assert Client().post(PAGE, {"email": "rex@example.org"}).status_code == 404
    assert mail.outbox == []
    assert PAGE in Client().get("/sign-in/").content.decode()


def test_another_address_asks_for_the_password_where_links_are_mailed(
    world: World, settings: SettingsWrapper
) -> None:
    rex = Client()
    rex.login(username="rex", password="rex-secret")
    change = {"act": "rename", "full_name": "Rex", "email": "thief@example.org"}
    answer = rex.post("/account/", change)
    assert answer.status_code == 422
    assert "That is not your password." in answer.content.decode()
    assert rex.post("/account/", {**change, "email": "Rex@example.org"}).status_code == 302
    assert rex.post("/account/", {**change, "known": "rex-secret"}).status_code == 302
    world.rex.refresh_from_db()
    assert world.rex.email == "thief@example.org"
