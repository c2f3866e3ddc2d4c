"""A second factor holds wherever somebody comes in: pages, administration, tokens. Wrong codes make one wait."""

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
from knox.models import AuthToken
from rest_framework.test import APIClient

from annotation.accounts.lock_out import FAILURES_HERE
from annotation.accounts.second_factor import propose, reset_second_factor, set_up
from annotation.core.refusals import Refusal
from annotation.models import AccountEvent, AccountSession
from annotation.privacy.erase_person import erase_person
from annotation.projects.services.invite import invite
from tests.annotation.accounts.codes import STEP_SECONDS, code_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_django.fixtures import SettingsWrapper

    from tests.annotation.cast import World

Kind = AccountEvent.Kind
CODE_PAGE = "/sign-in/code/"
SET_UP_PAGE = "/account/second-factor/"


@pytest.fixture(autouse=True)
def offered(world: World, settings: SettingsWrapper) -> None:
    settings.SECOND_FACTOR, settings.AXES_ENABLED = "optional", True


@pytest.fixture(autouse=True)
def clock() -> Iterator[time_machine.Coordinates]:
    with time_machine.travel(datetime.fromisoformat("2026-05-04T09:00:00+00:00"), tick=False) as traveller:
        yield traveller


def gives_password(name: str = "rex", *, after: str = "") -> Client:
    client = Client()
    told = client.post("/sign-in/", {"username": name, "password": f"{name}-secret", "next": after})
    assert told.status_code == 302
    return client


def sets_up(client: Client, page: str = SET_UP_PAGE, known: str = "rex-secret") -> tuple[str, list[str]]:
    """The secret of the app, and the recovery codes."""
    shown = client.get(page).content.decode()
    (secret,) = re.findall(r'class="secret">(\w+)<', shown)
    done = client.post(page, {"known": known, "code": code_at(secret)})
    assert done.status_code == 200, done.content.decode()
    assert "no-store" in done["Cache-Control"]
    return secret, re.findall(r"<li><code>(\d+)</code>", done.content.decode())


@pytest.fixture
def secret(world: World, clock: time_machine.Coordinates) -> str:
    """Rex has a second factor, set up a minute ago."""
    found, _ = sets_up(gives_password())
    clock.shift(timedelta(minutes=1))
    return found


def is_in(client: Client) -> bool:
    return client.get("/account/").status_code == 200


def kinds(person: User) -> list[str]:
    return list(AccountEvent.objects.filter(person=person).order_by("pk").values_list("kind", flat=True))


def test_the_code_is_asked_for_after_the_password_and_there_is_no_session_before(
    secret: str, world: World
) -> None:
    before = AccountSession.objects.filter(person=world.rex).count()
    client = gives_password(after="/sample/")
    assert not is_in(client)
    assert AccountSession.objects.filter(person=world.rex).count() == before
    assert client.post(CODE_PAGE, {"code": "000000"}).status_code == 422
    assert not is_in(client)
    assert client.post(CODE_PAGE, {"code": code_at(secret)})["Location"] == "/sample/"
    assert is_in(client)
    events = AccountEvent.objects.filter(person=world.rex).order_by("-pk")[:2]
    assert [(event.kind, event.note) for event in events] == [
        (Kind.SIGN_IN, "code"),
        (Kind.FAILURE, "code of the second factor"),
    ]


def test_a_code_is_good_once_and_near_its_half_minute(secret: str, clock: time_machine.Coordinates) -> None:
    code = code_at(secret)
    assert gives_password().post(CODE_PAGE, {"code": code}).status_code == 302
    assert gives_password().post(CODE_PAGE, {"code": code}).status_code == 422
    # An earlier one neither, which was seen over somebody's shoulder.
    assert gives_password().post(CODE_PAGE, {"code": code_at(secret, steps=-1)}).status_code == 422
    clock.shift(timedelta(seconds=2 * STEP_SECONDS))
    late, old = code_at(secret, steps=-1), code_at(secret, steps=-2)
    assert gives_password().post(CODE_PAGE, {"code": old}).status_code == 422
    assert gives_password().post(CODE_PAGE, {"code": f" {late[:3]} {late[3:]}"}).status_code == 302


def test_a_recovery_code_is_good_once(world: World, clock: time_machine.Coordinates) -> None:
    _, codes = sets_up(gives_password())
    assert len(set(codes)) == 10
    client = gives_password()
    assert client.post(CODE_PAGE, {"code": codes[3]}).status_code == 302
    assert "9 recovery codes" in client.get("/account/").content.decode()
    assert gives_password().post(CODE_PAGE, {"code": codes[3]}).status_code == 422
    assert AccountEvent.objects.filter(kind=Kind.SIGN_IN).latest("pk").note == "recovery code"


def test_the_first_half_is_good_for_ten_minutes_and_with_its_password_alone(
    secret: str, world: World, clock: time_machine.Coordinates
) -> None:
    client = gives_password()
    clock.shift(timedelta(minutes=10, seconds=1))
    assert client.get(CODE_PAGE)["Location"] == "/sign-in/"
    client = gives_password()
    world.rex.set_password("changed-meanwhile-41")
    world.rex.save()
    assert client.post(CODE_PAGE, {"code": code_at(secret)})["Location"] == "/sign-in/"
    assert not is_in(client)
    assert Client().get(CODE_PAGE)["Location"] == "/sign-in/"


def test_wrong_codes_make_one_wait_as_wrong_passwords_do(
    secret: str, world: World, clock: time_machine.Coordinates
) -> None:
    client = gives_password()
    wrong = [client.post(CODE_PAGE, {"code": "123"}).status_code for _ in range(FAILURES_HERE)]
    assert wrong == [422] * (FAILURES_HERE - 1) + [429]
    # The right one is not looked at meanwhile, and neither is the password.
    assert client.post(CODE_PAGE, {"code": code_at(secret)}).status_code == 429
    assert Client().post("/sign-in/", {"username": "rex", "password": "rex-secret"}).status_code == 429
    assert kinds(world.rex).count(Kind.FAILURE) == FAILURES_HERE
    assert Kind.LOCK in kinds(world.rex)
    clock.shift(timedelta(minutes=1))
    assert client.post(CODE_PAGE, {"code": code_at(secret)}).status_code == 302


def test_a_password_alone_makes_no_known_device(secret: str, world: World) -> None:
    client = gives_password()
    assert "coverdict_device" not in client.cookies
    assert client.post(CODE_PAGE, {"code": code_at(secret)}).status_code == 302
    assert "coverdict_device" in client.cookies


def test_setting_up_asks_for_the_password_and_ends_other_sessions(world: World) -> None:
    client, other = gives_password(), gives_password()
    (secret,) = re.findall(r'class="secret">(\w+)<', client.get(SET_UP_PAGE).content.decode())
    for wrong in ({"known": "guess", "code": code_at(secret)}, {"known": "rex-secret", "code": "000000"}):
        answer = client.post(SET_UP_PAGE, wrong)
        # The same secret: a wrong code must not ask for another scan.
        assert (answer.status_code, secret in answer.content.decode()) == (422, True)
    assert not Authenticator.objects.exists()
    assert client.post(SET_UP_PAGE, {"known": "rex-secret", "code": code_at(secret)}).status_code == 200
    assert (is_in(client), is_in(other)) == (True, False)
    assert client.get(SET_UP_PAGE).status_code == 409
    assert Kind.FACTOR in kinds(world.rex)


def test_it_is_removed_with_a_code_and_codes_are_replaced(secret: str, world: World) -> None:
    client = gives_password()
    client.post(CODE_PAGE, {"code": code_at(secret)})
    for act in ("remove-factor", "new-codes"):
        assert client.post("/account/", {"act": act, "code": "000000"}).status_code == 422
    fresh = client.post("/account/", {"act": "new-codes", "code": code_at(secret, steps=1)})
    assert len(re.findall(r"<li><code>\d+</code>", fresh.content.decode())) == 10
    assert client.post("/account/", {"act": "remove-factor"}).status_code == 302
    assert not Authenticator.objects.exists()
    assert is_in(gives_password())
    assert kinds(world.rex)[-3:-1] == [Kind.RECOVERY, Kind.FACTOR_END]


def test_the_administration_has_no_door_of_its_own(secret: str, world: World) -> None:
    world.rex.is_staff = world.rex.is_superuser = True
    world.rex.save()
    client = Client()
    assert client.get("/admin/")["Location"] == "/admin/login/?next=/admin/"
    assert client.get("/admin/login/?next=/admin/")["Location"] == "/sign-in/?next=/admin/"
    posted = client.post("/admin/login/", {"username": "rex", "password": "rex-secret"})
    assert posted["Location"].startswith("/sign-in/")
    assert client.get("/admin/").status_code == 302
    client = gives_password(after="/admin/")
    assert client.get("/admin/").status_code == 302
    assert client.post(CODE_PAGE, {"code": code_at(secret)})["Location"] == "/admin/"
    assert client.get("/admin/").status_code == 200
    assert client.get("/admin/login/?next=https://elsewhere.example/")["Location"] == "/"


def test_who_is_not_staff_is_told_so_and_not_led_in_circles(world: World) -> None:
    client = gives_password()
    assert client.get("/admin/", follow=True).status_code == 403


def test_a_token_is_made_with_a_code_shown_lately(
    secret: str, world: World, clock: time_machine.Coordinates
) -> None:
    client = gives_password()
    client.post(CODE_PAGE, {"code": code_at(secret)})
    assert client.post("/account/", {"act": "token"}).status_code == 200
    clock.shift(timedelta(minutes=11))
    assert client.post("/account/", {"act": "token"}).status_code == 422
    assert 'id="token-code"' in client.get("/account/").content.decode()
    assert client.post("/account/", {"act": "token", "code": code_at(secret)}).status_code == 200
    assert AuthToken.objects.filter(user=world.rex).count() == 2


def test_the_api_asks_for_a_code_with_the_password(secret: str, world: World) -> None:
    given = {"username": "rex", "password": "rex-secret"}
    said = APIClient().post("/api/v1/tokens/", given)
    assert (said.status_code, said.json()["error"]["code"]) == (422, "code_needed")
    said = APIClient().post("/api/v1/tokens/", {**given, "code": "000000"})
    assert (said.status_code, said.json()["error"]["code"]) == (422, "wrong_code")
    # A browser in which somebody else has shown a code lends it to nobody.
    made = APIClient().post("/api/v1/tokens/", {**given, "code": code_at(secret)})
    assert made.status_code == 201
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {made.json()['token']}")
    assert client.get("/api/v1/projects/").status_code == 200


def test_codes_over_the_api_are_counted_like_passwords(secret: str, world: World) -> None:
    given = {"username": "rex", "password": "rex-secret", "code": "1"}
    said = [APIClient().post("/api/v1/tokens/", given).status_code for _ in range(FAILURES_HERE)]
    assert said == [422] * (FAILURES_HERE - 1) + [429]
    # The door of the pages is closed by them, too.
    assert Client().post("/sign-in/", {"username": "rex", "password": "rex-secret"}).status_code == 429


@pytest.mark.parametrize(
    ("asked", "is_staff", "must"),
    [("staff", True, True), ("staff", False, False), ("everybody", False, True)],
)
def test_who_must_have_one_sets_it_up_before_coming_in(
    world: World, settings: SettingsWrapper, asked: str, is_staff: bool, must: bool
) -> None:
    before = gives_password()
    world.rex.is_staff = is_staff
    world.rex.save()
    settings.SECOND_FACTOR = asked
    # Sessions of before end, for pages, the administration and the API alike.
    assert is_in(before) is not must
    assert (before.get("/api/v1/projects/").status_code == 200) is not must
    client = gives_password()
    assert is_in(client) is not must
    if not must:
        return
    said = APIClient().post("/api/v1/tokens/", {"username": "rex", "password": "rex-secret"})
    assert (said.status_code, said.json()["error"]["code"]) == (403, "second_factor_needed")
    _secret, codes = sets_up(client, CODE_PAGE)
    assert (is_in(client), len(codes)) == (True, 10)
    refused = client.post("/account/", {"act": "remove-factor", "code": codes[0]})
    assert (refused.status_code, Authenticator.objects.count()) == (403, 2)
    assert "remove-factor" not in client.get("/account/").content.decode()


def test_a_new_account_of_an_invitation_sets_it_up_first(world: World, settings: SettingsWrapper) -> None:
    settings.SECOND_FACTOR = "everybody"
    issued = invite(project=world.project, roles=["viewer"], by=world.olga)
    client = Client()
    form = {"username": "zoe", "password": "six tall harbours", "again": "six tall harbours"}
    assert client.post(f"/invitations/{issued.secret}/", form)["Location"] == CODE_PAGE
    assert not is_in(client)
    sets_up(client, CODE_PAGE)
    assert is_in(client)


def test_switched_off_nothing_of_it_is_there(secret: str, settings: SettingsWrapper) -> None:
    settings.SECOND_FACTOR = "off"
    client = gives_password()
    assert is_in(client)
    assert "Second factor" not in client.get("/account/").content.decode().split("Recent events")[0]
    assert client.get(SET_UP_PAGE).status_code == 404
    assert client.post("/account/", {"act": "token"}).status_code == 200


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
    settings.SECRET_KEY = "another key, as after a restore without its environment"
    client = gives_password()
    assert client.post(CODE_PAGE, {"code": code_at(secret)}).status_code == 422
    reset_second_factor(world.rex)
    assert is_in(gives_password())


def test_an_erased_person_has_none(secret: str, world: World) -> None:
    gone = erase_person(person=world.rex)
    assert gone["mfa_authenticator"] == 2
    assert not Authenticator.objects.exists()


def test_the_qr_code_is_of_the_secret(world: World) -> None:
    proposal = propose(world.rex)
    assert proposal.picture.startswith("data:image/svg+xml;base64,")
    assert propose(world.rex, proposal.secret) == proposal
    assert "rex" in proposal.address
    assert "issuer=Coverdict" in proposal.address


def test_two_at_once_set_up_one(world: World, secret: str) -> None:
    client = gives_password()
    client.post(CODE_PAGE, {"code": code_at(secret)})
    request = client.get("/account/").wsgi_request
    other = propose(world.rex).secret
    with pytest.raises(Refusal, match="already"):
        set_up(person=world.rex, secret=other, code=code_at(other), request=request)
