from __future__ import annotations

import re
from io import StringIO
from typing import TYPE_CHECKING

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from knox.models import AuthToken

from annotation.accounts.services import reset_path
from annotation.accounts.tokens import MOST_TOKENS
from annotation.core.refusals import Conflict

if TYPE_CHECKING:
    from tests.annotation.cast import World

NEW = "a-longer-secret-41"
CHANGE = {"oldpassword": "rex-secret", "password1": NEW, "password2": NEW}
PASSWORD = "/accounts/password/change/"


@pytest.fixture
def rex(world: World) -> Client:
    client = Client()
    assert client.login(username="rex", password="rex-secret")
    return client


def can_sign_in(password: str) -> bool:
    return Client().post("/accounts/login/", {"login": "rex", "password": password}).status_code == 302


def confirms(client: Client, password: str = "rex-secret") -> None:
    assert client.post("/accounts/reauthenticate/", {"password": password}).status_code == 302


def test_the_name_is_changed(rex: Client, world: World) -> None:
    rex.post("/account/", {"act": "rename", "full_name": " Rex  Moss Hall "})
    world.rex.refresh_from_db()
    assert world.rex.get_full_name() == "Rex Moss Hall"
    assert rex.post("/account/", {"act": "rename", "full_name": "Rex " + 151 * "x"}).status_code == 422


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_theme_is_kept_by_the_browser_and_let_go_again(rex: Client, theme: str) -> None:
    assert "data-theme" not in rex.get("/account/").content.decode()
    rex.post("/account/", {"act": "theme", "theme": theme})
    assert f'<html lang="en" data-theme="{theme}">' in rex.get("/account/").content.decode()
    rex.post("/accounts/logout/")
    assert f'data-theme="{theme}"' in rex.get("/accounts/login/").content.decode()
    assert rex.login(username="rex", password="rex-secret")
    rex.post("/account/", {"act": "theme", "theme": ""})
    assert "data-theme" not in rex.get("/account/").content.decode()


def test_no_other_theme_is_kept(rex: Client) -> None:
    rex.post("/account/", {"act": "theme", "theme": '"><b>'})
    assert "data-theme" not in rex.get("/account/").content.decode()
    rex.cookies["coverdict_theme"] = "x'y<b"
    assert "<b" not in rex.get("/account/").content.decode().split(">", 3)[1]


def test_a_new_password_ends_other_sessions_and_tokens(rex: Client, world: World) -> None:
    other = Client()
    assert other.login(username="rex", password="rex-secret")
    AuthToken.objects.create(user=world.rex)
    AuthToken.objects.create(user=world.ana)
    assert rex.post(PASSWORD, CHANGE).status_code == 302
    assert (rex.get("/account/").status_code, other.get("/account/").status_code) == (200, 302)
    assert list(AuthToken.objects.values_list("user__username", flat=True)) == ["ana"]
    assert (can_sign_in("rex-secret"), can_sign_in(NEW)) == (False, True)


def test_an_account_without_a_password_gets_none_by_a_session(rex: Client, world: World) -> None:
    world.ana.set_unusable_password()
    world.ana.save()
    client = Client()
    client.force_login(world.ana)
    page = client.post("/accounts/password/set/", {"password1": NEW, "password2": NEW})
    assert page.status_code == 403
    assert "/accounts/password/" not in client.get("/account/").content.decode()


def test_a_token_asks_for_the_password_again(rex: Client) -> None:
    asked = rex.post("/account/tokens/", {"days": "7"})
    assert asked["Location"] == "/accounts/reauthenticate/?next=%2Faccount%2Ftokens%2F"
    # The form that was sent is stored until the password is confirmed.
    page = rex.post(asked["Location"], {"password": "rex-secret", "next": "/account/tokens/"})
    assert 'class="secret"' in page.content.decode()
    assert AuthToken.objects.get().expiry is not None


def test_a_token_is_shown_once_opens_the_api_and_is_revoked(rex: Client) -> None:
    confirms(rex)
    page = rex.post("/account/tokens/")
    [token] = re.findall(r'class="secret"[^>]*>([^<]+)<', page.content.decode())
    assert "no-store" in page["Cache-Control"]
    assert token not in rex.get("/account/").content.decode()
    headers = {"Authorization": f"Token {token}"}
    assert Client().get("/api/v1/projects/", headers=headers).status_code == 200
    rex.post("/account/", {"act": "revoke", "key": AuthToken.objects.get().token_key})
    assert Client().get("/api/v1/projects/", headers=headers).status_code == 401


def test_tokens_are_ones_own_and_not_without_end(rex: Client, world: World) -> None:
    theirs, _ = AuthToken.objects.create(user=world.ana)
    assert rex.post("/account/", {"act": "revoke", "key": theirs.token_key}).status_code == 404
    for _ in range(MOST_TOKENS):
        AuthToken.objects.create(user=world.rex)
    confirms(rex)
    assert rex.post("/account/tokens/").status_code == 409
    assert AuthToken.objects.filter(user=world.ana).count() == 1


def test_an_operator_prints_a_reset_link(world: World) -> None:
    told = StringIO()
    call_command("reset_link", "rex", "--address", "https://coverdict.example/", stdout=told)
    path = told.getvalue().strip().removeprefix("https://coverdict.example")
    client = Client()
    form = client.get(path)["Location"]
    assert path.split("-", 1)[1] not in form
    client.post(form, {"password1": "short", "password2": "short"})
    assert can_sign_in("rex-secret") is True


def test_a_closed_account_gets_no_reset_link(world: World) -> None:
    world.rex.is_active = False
    world.rex.save()
    with pytest.raises(Conflict, match="closed"):
        reset_path(world.rex)
    for name, why in (("rex", "closed"), ("nobody-here", "no account 'nobody-here'")):
        with pytest.raises(CommandError, match=why):
            call_command("reset_link", name)
