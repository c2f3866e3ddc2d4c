from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from allauth.usersessions.models import UserSession
from django.test import Client

from annotation.models import AccountEvent

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper

    from tests.annotation.cast import World

PAGE = "/accounts/sessions/"
HERE, ELSEWHERE = "203.0.113.7", "198.51.100.4"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
SAFARI = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1"


@pytest.fixture(autouse=True)
def logging_in(world: World, settings: SettingsWrapper) -> None:
    settings.AXES_ENABLED = True


def signs_in(agent: str, at: str, name: str = "rex") -> Client:
    client = Client(headers={"User-Agent": agent}, REMOTE_ADDR=at)
    said = client.post("/accounts/login/", {"login": name, "password": f"{name}-secret"})
    assert said.status_code == 302
    return client


def is_in(client: Client) -> bool:
    return client.get("/account/").status_code == 200


def test_sessions_are_listed_with_browser_address_and_time() -> None:
    desk = signs_in(FIREFOX, HERE)
    signs_in(SAFARI, ELSEWHERE)
    signs_in(SAFARI, ELSEWHERE, "ana")
    page = desk.get(PAGE).content.decode()
    rows = re.findall(r"<th scope=\"row\">((?:Firefox|Safari)[^<]*)(<span class=\"chip\">this one)?", page)
    assert sorted((browser.strip(), bool(this)) for browser, this in rows) == [
        ("Firefox on Linux", True),
        ("Safari on iPhone", False),
    ]
    assert HERE in page
    assert ELSEWHERE in page
    keys = UserSession.objects.values_list("session_key", flat=True)
    assert not [key for key in keys if key in page]


def test_all_others_are_ended_at_once() -> None:
    desk, phone, tablet = signs_in(FIREFOX, HERE), signs_in(SAFARI, ELSEWHERE), signs_in(SAFARI, HERE)
    ana = signs_in(FIREFOX, HERE, "ana")
    desk.post(PAGE)
    assert [is_in(each) for each in (desk, phone, tablet, ana)] == [True, False, False, True]
    assert AccountEvent.objects.filter(kind="session end", person__username="rex").count() == 2


def test_people_see_what_happened_to_their_own_account_alone() -> None:
    Client(REMOTE_ADDR=ELSEWHERE).post("/accounts/login/", {"login": "rex", "password": "guess"})
    desk = signs_in(FIREFOX, HERE)
    page = desk.get("/account/").content.decode()
    assert "Wrong password" in page
    assert ELSEWHERE in page
    assert "Wrong password" not in signs_in(FIREFOX, HERE, "ana").get("/account/").content.decode()
