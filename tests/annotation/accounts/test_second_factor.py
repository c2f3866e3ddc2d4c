from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from io import StringIO
from typing import TYPE_CHECKING

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from rest_framework.test import APIClient

from annotation.accounts.second_factor import reset_second_factor
from annotation.models import AccountEvent
from tests.annotation.accounts.codes import code_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_django import DjangoCaptureOnCommitCallbacks as Callbacks
    from pytest_django.fixtures import SettingsWrapper

    from tests.annotation.cast import World

Kind = AccountEvent.Kind
CODE_PAGE = "/accounts/2fa/authenticate/"
CONFIRM_PAGE = "/accounts/2fa/reauthenticate/"
SET_UP_PAGE = "/accounts/2fa/totp/activate/"
REMOVE_PAGE = "/accounts/2fa/totp/deactivate/"
GIVEN = {"username": "rex", "password": "rex-secret"}
FAILURES = 5


@pytest.fixture(autouse=True)
def counted(world: World, settings: SettingsWrapper) -> None:
    settings.AXES_ENABLED = True


@pytest.fixture(autouse=True)
def clock() -> Iterator[time_machine.Coordinates]:
    with time_machine.travel(datetime.fromisoformat("2026-05-04T09:00:00+00:00"), tick=False) as traveller:
        yield traveller


def gives_password(name: str = "rex", *, after: str = "") -> Client:
    client = Client()
    told = client.post("/accounts/login/", {"login": name, "password": f"{name}-secret", "next": after})
    assert told.status_code == 302
    return client


def secret_on(page: str) -> str:
    (secret,) = re.findall(r'id="authenticator_secret"[^>]*value="(\w+)"', page)
    return str(secret)


def sets_up(client: Client, password: str = "rex-secret") -> tuple[str, list[str]]:
    if password:
        client.post("/accounts/reauthenticate/", {"password": password})
    secret = secret_on(client.get(SET_UP_PAGE).content.decode())
    done = client.post(SET_UP_PAGE, {"code": code_at(secret)}, follow=True)
    assert "no-store" in done["Cache-Control"]
    return secret, re.findall(r"\b\d{8}\b", done.content.decode())


@pytest.fixture
def secret(world: World, clock: time_machine.Coordinates) -> str:
    found, _ = sets_up(gives_password())
    clock.shift(timedelta(minutes=10))
    return found


def is_in(client: Client) -> bool:
    return client.get("/account/").status_code == 200


def kinds(person: User) -> list[str]:
    return list(AccountEvent.objects.filter(person=person).order_by("pk").values_list("kind", flat=True))


def test_the_code_is_asked_for_after_the_password_and_there_is_no_session_before(
    secret: str, world: World
) -> None:
    client = gives_password(after="/sample/")
    assert not is_in(client)
    client.post(CODE_PAGE, {"code": "000000"})
    assert not is_in(client)
    assert client.post(CODE_PAGE, {"code": code_at(secret)})["Location"] == "/sample/"
    assert is_in(client)
    events = AccountEvent.objects.filter(person=world.rex)[:2]
    assert [(event.kind, event.note) for event in events] == [
        (Kind.SIGN_IN, "second factor"),
        (Kind.FAILURE, ""),
    ]


def test_five_wrong_codes_make_one_wait_and_no_stranger_can_give_them(
    secret: str, world: World, clock: time_machine.Coordinates
) -> None:
    client = gives_password()
    for _ in range(FAILURES):
        client.post(CODE_PAGE, {"code": "123"})
    client.post(CODE_PAGE, {"code": code_at(secret)})
    assert not is_in(client)
    assert kinds(world.rex).count(Kind.FAILURE) == FAILURES
    clock.shift(timedelta(minutes=5, seconds=1))
    client = gives_password()
    client.post(CODE_PAGE, {"code": code_at(secret)})
    assert is_in(client)
    assert Client().post(CODE_PAGE, {"code": "1"})["Location"] == "/accounts/login/"


def test_setting_up_asks_for_the_password_and_ends_other_sessions(
    world: World, django_capture_on_commit_callbacks: Callbacks
) -> None:
    client, other = gives_password(), gives_password()
    assert client.get(SET_UP_PAGE)["Location"].startswith("/accounts/reauthenticate/")
    client.post("/accounts/reauthenticate/", {"password": "rex-secret"})
    page = client.get(SET_UP_PAGE).content.decode()
    assert 'src="data:image/svg+xml;base64,' in page
    again = client.post(SET_UP_PAGE, {"code": "000000"}).content.decode()
    assert secret_on(again) == secret_on(page)
    assert not Authenticator.objects.exists()
    with django_capture_on_commit_callbacks(execute=True):
        client.post(SET_UP_PAGE, {"code": code_at(secret_on(page))})
    assert (is_in(client), is_in(other)) == (True, False)
    assert set(kinds(world.rex)[-2:]) == {Kind.FACTOR, Kind.SESSION_END}


def test_it_is_removed_with_a_code_and_not_with_a_password(
    secret: str,
    world: World,
    clock: time_machine.Coordinates,
    django_capture_on_commit_callbacks: Callbacks,
) -> None:
    client = gives_password()
    client.post(CODE_PAGE, {"code": code_at(secret)})
    clock.shift(timedelta(minutes=1))
    assert client.post(REMOVE_PAGE)["Location"].startswith(CONFIRM_PAGE)
    assert client.post("/accounts/reauthenticate/", GIVEN)["Location"].startswith(CONFIRM_PAGE)
    client.post(CONFIRM_PAGE, {"code": code_at(secret)})
    with django_capture_on_commit_callbacks(execute=True):
        client.post("/accounts/2fa/recovery-codes/generate/")
    client.post(REMOVE_PAGE)
    assert not Authenticator.objects.exists()
    assert is_in(gives_password())
    assert kinds(world.rex)[-3:-1] == [Kind.RECOVERY, Kind.FACTOR_END]


def test_the_administration_has_no_door_of_its_own(secret: str, world: World) -> None:
    world.rex.is_staff = world.rex.is_superuser = True
    world.rex.save()
    client = Client()
    assert client.get("/admin/")["Location"] == "/admin/login/?next=/admin/"
    assert client.get("/admin/login/?next=/admin/")["Location"] == "/accounts/login/?next=%2Fadmin%2F"
    posted = client.post("/admin/login/", GIVEN)
    assert posted["Location"].startswith("/accounts/login/")
    assert client.get("/admin/").status_code == 302
    client = gives_password(after="/admin/")
    assert client.get("/admin/").status_code == 302
    assert client.post(CODE_PAGE, {"code": code_at(secret)})["Location"] == "/admin/"
    assert client.get("/admin/").status_code == 200
    # The admin's own sign-in form asks for no code, so it must not exist.
    assert client.post("/admin/login/", {"username": "ana", "password": "ana-secret"}).status_code == 302
    assert client.get("/admin/login/?next=https://elsewhere.example/")["Location"] == "/admin/"


def test_who_is_not_staff_is_told_so_and_not_led_in_circles(world: World) -> None:
    client = gives_password()
    assert client.get("/admin/", follow=True).status_code == 403


def test_the_api_asks_for_a_code_with_the_password(secret: str, world: World) -> None:
    said = APIClient().post("/api/v1/tokens/", GIVEN)
    assert (said.status_code, said.json()["error"]["code"]) == (422, "code_needed")
    said = APIClient().post("/api/v1/tokens/", {**GIVEN, "code": "000000"})
    assert (said.status_code, said.json()["error"]["code"]) == (422, "wrong_code")
    made = APIClient().post("/api/v1/tokens/", {**GIVEN, "code": code_at(secret)})
    assert made.status_code == 201
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {made.json()['token']}")
    assert client.get("/api/v1/projects/").status_code == 200


def test_codes_over_the_api_are_counted_with_those_of_the_page(secret: str, world: World) -> None:
    for _ in range(FAILURES):
        assert APIClient().post("/api/v1/tokens/", {**GIVEN, "code": "1"}).status_code == 422
    assert APIClient().post("/api/v1/tokens/", {**GIVEN, "code": code_at(secret)}).status_code == 422
    client = gives_password()
    client.post(CODE_PAGE, {"code": code_at(secret)})
    assert not is_in(client)


@pytest.mark.parametrize(
    ("asked", "is_staff", "must"),
    [("staff", True, True), ("staff", False, False), ("everybody", False, True)],
)
def test_who_must_have_one_sets_it_up_before_anything_else(
    world: World, settings: SettingsWrapper, asked: str, is_staff: bool, must: bool
) -> None:
    client = gives_password()
    world.rex.is_staff = is_staff
    world.rex.save()
    settings.SECOND_FACTOR = asked
    # The requirement also holds for earlier sessions, on pages, in the admin and in the API.
    assert is_in(client) is not must
    assert (client.get("/api/v1/projects/").status_code == 200) is not must
    assert (client.get("/account/", headers={"HX-Request": "true"}).status_code == 403) is must
    if not must:
        return
    assert client.get("/admin/")["Location"] == SET_UP_PAGE
    assert "You need a second factor here." in client.get("/", follow=True).content.decode()
    assert client.post("/account/", {"act": "rename", "full_name": "R"}).status_code == 403
    said = APIClient().post("/api/v1/tokens/", GIVEN)
    assert (said.status_code, said.json()["error"]["code"]) == (403, "second_factor_needed")
    _secret, codes = sets_up(client)
    assert (is_in(client), len(codes)) == (True, 10)
    client.post(CONFIRM_PAGE, {"code": codes[0]})
    client.post(REMOVE_PAGE)
    assert Authenticator.objects.count() == 2


def test_the_operator_takes_away_a_lost_one(secret: str, world: World) -> None:
    told = StringIO()
    call_command("reset_second_factor", "rex", stdout=told)
    assert told.getvalue() == "The second factor of rex is reset.\n"
    for name in ("rex", "nobody"):
        with pytest.raises(CommandError):
            call_command("reset_second_factor", name)
    assert is_in(gives_password())
    assert AccountEvent.objects.get(kind=Kind.FACTOR_END).person == world.rex


def test_secrets_are_encrypted_and_useless_with_another_key(
    secret: str, world: World, settings: SettingsWrapper
) -> None:
    kept = json.dumps(list(Authenticator.objects.values_list("data", flat=True)))
    assert secret not in kept
    before, settings.SECRET_KEY = (
        settings.SECRET_KEY,
        "another key, as after a restore without its environment",
    )
    client = gives_password()
    # Neither the right code nor the code of an empty secret, which anybody could compute, is accepted.
    for code in (code_at(secret), code_at("")):
        client.post(CODE_PAGE, {"code": code})
        assert not is_in(client)
    settings.SECRET_KEY_FALLBACKS = [before]
    client = gives_password()
    client.post(CODE_PAGE, {"code": code_at(secret)})
    assert is_in(client)
    settings.SECRET_KEY_FALLBACKS = []
    reset_second_factor(world.rex)
    assert is_in(gives_password())
