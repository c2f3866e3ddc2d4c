from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest
import time_machine
from axes.models import AccessAttempt
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.models import AccountEvent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_django.fixtures import SettingsWrapper

    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn

HERE, ELSEWHERE = "203.0.113.7", "198.51.100.4"
Kind = AccountEvent.Kind
FAILURES = 5


@pytest.fixture(autouse=True)
def counting(world: World, settings: SettingsWrapper) -> None:
    settings.AXES_ENABLED = True


@pytest.fixture
def clock() -> Iterator[time_machine.Coordinates]:
    with time_machine.travel(datetime.fromisoformat("2026-05-04T09:00:00+00:00"), tick=False) as traveller:
        yield traveller


def tries(password: str, *, client: Client | None = None, at: str = HERE, name: str = "rex") -> int:
    client = client or Client()
    said = client.post("/accounts/login/", {"login": name, "password": password}, REMOTE_ADDR=at)
    return said.status_code


def test_five_wrong_passwords_make_one_wait_five_minutes(clock: time_machine.Coordinates) -> None:
    assert [tries("wrong") for _ in range(FAILURES)] == [200] * 4 + [429]
    assert tries("rex-secret") == 429
    # An attempt during the lock does not prolong it.
    clock.shift(timedelta(minutes=4, seconds=59))
    assert tries("rex-secret") == 429
    clock.shift(timedelta(seconds=2))
    assert tries("rex-secret") == 302
    # A successful sign-in resets the count.
    assert [tries("wrong") for _ in range(FAILURES)] == [200] * 4 + [429]


def test_a_lock_is_for_one_account_at_one_address() -> None:
    for _ in range(FAILURES):
        tries("wrong")
    assert tries("rex-secret") == 429
    assert tries("rex-secret", at=ELSEWHERE) == 302
    assert tries("ana-secret", name="ana") == 302


def test_a_name_is_one_however_it_is_written() -> None:
    for spelt in ("rex", "REX", "Rex", "rEx", "reX"):
        tries("wrong", name=spelt)
    assert tries("rex-secret") == 429


def test_a_name_that_nobody_has_is_locked_alike() -> None:
    said = [tries("wrong", name="nobody") for _ in range(FAILURES)]
    assert said == [200] * 4 + [429]


def test_strangers_do_not_lock_an_account() -> None:
    for number in range(100):
        assert tries("wrong", at=f"192.0.2.{number}") == 200
    assert tries("rex-secret") == 302


def test_an_ipv6_client_cannot_take_another_address_of_its_network() -> None:
    said = [tries("wrong", at=f"2001:db8:1:2::{number}") for number in range(FAILURES)]
    assert said == [200] * 4 + [429]
    assert tries("rex-secret", at="2001:db8:1:2:ffff::1") == 429
    assert tries("rex-secret", at="2001:db8:1:3::1") == 302


def test_one_network_may_not_try_every_account() -> None:
    said = [tries("wrong", name=f"guess-{number}") for number in range(61)]
    assert said == [200] * 60 + [429]
    assert tries("ana-secret", name="ana", at=ELSEWHERE) == 302


def test_the_token_door_counts_with_the_page_and_says_when_to_come_back() -> None:
    for _ in range(FAILURES):
        tries("wrong")
    program = APIClient(REMOTE_ADDR=HERE)
    said = program.post("/api/v1/tokens/", {"username": "rex", "password": "rex-secret"}, format="json")
    assert (said.status_code, said.json()["error"]["code"]) == (429, "locked_out")
    assert said.headers["Retry-After"] == "300"


def test_confirming_counts_wrong_passwords_too() -> None:
    client = Client()
    assert tries("rex-secret", client=client) == 302
    page = "/accounts/reauthenticate/"
    said = [client.post(page, {"password": "guess"}, REMOTE_ADDR=HERE).status_code for _ in range(FAILURES)]
    assert said == [200] * 4 + [429]


def test_what_happened_is_written_down_without_what_was_typed(
    world: World, caplog: pytest.LogCaptureFixture, signed_in: SignIn
) -> None:
    caplog.set_level(logging.INFO)
    client = Client(headers={"User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"})
    tries("my-guess-1", client=client)
    tries("my-guess-2", client=client, name="a-password-typed-as-name")
    tries("rex-secret", client=client)
    client.post("/accounts/reauthenticate/", {"password": "rex-secret"}, REMOTE_ADDR=HERE)
    client.post("/account/tokens/", REMOTE_ADDR=HERE)
    client.post("/accounts/logout/", REMOTE_ADDR=HERE)
    rows = AccountEvent.objects.order_by("pk")
    assert [(row.kind, row.person) for row in rows] == [
        (Kind.FAILURE, world.rex),
        (Kind.FAILURE, None),
        (Kind.SIGN_IN, world.rex),
        (Kind.TOKEN, world.rex),
        (Kind.SIGN_OUT, world.rex),
    ]
    assert {row.address for row in rows} == {HERE}
    assert timezone.now() - rows[0].at < timedelta(minutes=1)
    kept = repr([*rows.values(), *AccessAttempt.objects.values()])
    assert not [word for word in ("my-guess", "typed-as-name", "rex-secret") if word in kept + caplog.text]
    assert f"Wrong password or code: account rex from {HERE}" in caplog.text
    assert AccessAttempt.objects.exists()
    assert f"Signed in: account rex from {HERE}" in caplog.text
