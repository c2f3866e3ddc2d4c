"""One's own account: name, password, tokens, and the way back in."""

from __future__ import annotations

import re
from functools import partial
from io import StringIO
from typing import TYPE_CHECKING

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from knox.models import AuthToken

from annotation.accounts.own_account import MOST_TOKENS, reset_password, reset_path
from annotation.core.refusals import Conflict
from tests.annotation.at_once import codes_of

if TYPE_CHECKING:
    from tests.annotation.cast import World

NEW = "a-longer-secret-41"
CHANGE = {"act": "password", "old": "rex-secret", "password": NEW, "again": NEW}


@pytest.fixture
def rex(world: World) -> Client:
    client = Client()
    assert client.login(username="rex", password="rex-secret")
    return client


def can_sign_in(password: str) -> bool:
    return Client().post("/sign-in/", {"username": "rex", "password": password}).status_code == 302


def test_name_and_address_are_changed(rex: Client, world: World) -> None:
    rex.post("/account/", {"act": "rename", "full_name": " Rex  Moss Hall ", "email": "rex@example.org"})
    world.rex.refresh_from_db()
    assert (world.rex.get_full_name(), world.rex.email) == ("Rex Moss Hall", "rex@example.org")
    answer = rex.post("/account/", {"act": "rename", "full_name": "Rex", "email": "nowhere"})
    assert answer.status_code == 422
    assert b"valid email address" in answer.content
    world.rex.refresh_from_db()
    assert world.rex.first_name == "Rex"
    assert world.rex.last_name == "Moss Hall"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_theme_is_kept_by_the_browser_and_let_go_again(rex: Client, theme: str) -> None:
    assert "data-theme" not in rex.get("/account/").content.decode()
    rex.post("/account/", {"act": "theme", "theme": theme})
    assert f'<html lang="en" data-theme="{theme}">' in rex.get("/account/").content.decode()
    rex.post("/sign-out/")
    assert f'data-theme="{theme}"' in rex.get("/sign-in/").content.decode()
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
    assert rex.post("/account/", CHANGE).status_code == 302
    assert (rex.get("/account/").status_code, other.get("/account/").status_code) == (200, 302)
    assert list(AuthToken.objects.values_list("user__username", flat=True)) == ["ana"]
    assert (can_sign_in("rex-secret"), can_sign_in(NEW)) == (False, True)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"old": "guess"}, "That is not your password."),
        ({"password": "short", "again": "short"}, "too short"),
        ({"again": "another-secret-41"}, "The passwords do not match."),
    ],
)
def test_what_will_not_do_changes_nothing(rex: Client, change: dict[str, str], told: str) -> None:
    answer = rex.post("/account/", CHANGE | change)
    assert answer.status_code == 422
    assert told in answer.content.decode()
    assert can_sign_in("rex-secret")


def test_a_token_is_shown_once_opens_the_api_and_is_revoked(rex: Client) -> None:
    page = rex.post("/account/", {"act": "token"})
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
    assert rex.post("/account/", {"act": "token"}).status_code == 409
    assert AuthToken.objects.filter(user=world.ana).count() == 1


def test_a_reset_link_is_good_for_one_new_password(world: World) -> None:
    told = StringIO()
    call_command("reset_link", "rex", "--address", "https://coverdict.example/", stdout=told)
    path = told.getvalue().strip().removeprefix("https://coverdict.example")
    page = Client().get(path)
    assert (page.status_code, page["Referrer-Policy"]) == (200, "no-referrer")
    assert Client().post(path, {"password": "short", "again": "short"}).status_code == 422
    assert Client().post(path, {"password": NEW, "again": NEW})["Location"] == "/sign-in/"
    assert (can_sign_in("rex-secret"), can_sign_in(NEW)) == (False, True)
    assert Client().get(path).status_code == 404
    assert Client().post(path, {"password": NEW, "again": NEW}).status_code == 404


@pytest.mark.parametrize(
    "path", ["/reset/MQ/no-token/", "/reset/%C3%A9/x/", "/reset/OTk5OTk5OTk5OTk5OTk5OTk5OTk5/x/"]
)
def test_a_link_that_nobody_made_opens_nothing(world: World, path: str) -> None:
    assert Client().get(path).status_code == 404


@pytest.mark.django_db(transaction=True)
def test_of_two_who_use_a_reset_link_at_once_one_gets_in(world: World) -> None:
    _, _, key, token, _ = reset_path(world.rex).split("/")
    words = (NEW, NEW[::-1])
    codes = codes_of(*(partial(reset_password, key=key, token=token, new=word, again=word) for word in words))
    assert sorted(codes) == ["", "not_found"]
    assert can_sign_in(words[codes.index("")])


def test_a_closed_account_gets_no_reset_link(world: World) -> None:
    world.rex.is_active = False
    world.rex.save()
    with pytest.raises(Conflict, match="closed"):
        reset_path(world.rex)
    for name, why in (("rex", "closed"), ("nobody-here", "no account 'nobody-here'")):
        with pytest.raises(CommandError, match=why):
            call_command("reset_link", name)
