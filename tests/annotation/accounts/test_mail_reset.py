from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from django.core import mail
from django.test import Client
from knox.models import AuthToken

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper

    from tests.annotation.cast import World

PAGE = "/accounts/password/reset/"
NEW = "a-longer-secret-41"


@pytest.fixture(autouse=True)
def reachable(world: World, mailing: None) -> None:
    world.rex.email = "rex@example.org"
    world.rex.save()


def ask(email: str = "rex@example.org") -> str:
    return Client().post(PAGE, {"email": email}, follow=True).content.decode()


def test_the_mailed_link_gives_a_new_password_and_ends_sessions_and_tokens(world: World) -> None:
    session = Client()
    assert session.login(username="rex", password="rex-secret")
    AuthToken.objects.create(user=world.rex)
    assert "a reset link has been mailed to it" in ask()
    (sent,) = mail.outbox
    assert (sent.to, sent.from_email) == (["rex@example.org"], "coverdict@example.org")
    [path] = re.findall(r"http://testserver(/accounts/password/reset/key/\S+)", str(sent.body))
    client = Client()
    form = client.get(path)["Location"]
    assert client.post(form, {"password1": NEW, "password2": NEW}).status_code == 302
    assert session.get("/account/").status_code == 302
    assert not AuthToken.objects.exists()
    assert Client().login(username="rex", password=NEW)
    assert "password1" not in Client().get(path).content.decode()


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
    assert "a reset link has been mailed to it" in ask()
    assert mail.outbox == []


def test_an_address_gets_three_mails_an_hour_whoever_asks() -> None:
    said = [
        Client(REMOTE_ADDR=f"192.0.2.{number}").post(PAGE, {"email": "rex@example.org"})
        for number in range(5)
    ]
    assert [each.status_code for each in said] == [302] * 3 + [429] * 2
    assert len(mail.outbox) == 3


def test_one_place_asks_for_thirty_addresses_an_hour() -> None:
    said = [Client().post(PAGE, {"email": f"person{number}@example.org"}).status_code for number in range(31)]
    assert said == [302] * 30 + [429]


def test_without_a_mail_server_an_administrator_is_named(settings: SettingsWrapper) -> None:
    settings.EMAIL_URL = ""
    page = Client().get(PAGE).content.decode()
    assert "Ask its administrator" in page
    assert 'name="email"' not in page
    assert Client().post(PAGE, {"email": "rex@example.org"}).status_code == 403
    assert mail.outbox == []
    assert PAGE in Client().get("/accounts/login/").content.decode()
