"""Wrong passwords make who types them wait, longer each time, and keep nobody out whom the server knows."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest
import time_machine
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.accounts.lock_out import FAILURES_HERE, FAILURES_OF_ACCOUNT, FAILURES_OF_NETWORK
from annotation.models import AccountEvent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_django.fixtures import SettingsWrapper

    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn

HERE, ELSEWHERE = "203.0.113.7", "198.51.100.4"
Kind = AccountEvent.Kind


@pytest.fixture(autouse=True)
def counting(world: World, settings: SettingsWrapper) -> None:
    settings.AXES_ENABLED = True


@pytest.fixture
def clock() -> Iterator[time_machine.Coordinates]:
    with time_machine.travel(datetime.fromisoformat("2026-05-04T09:00:00+00:00"), tick=False) as traveller:
        yield traveller


def tries(password: str, *, client: Client | None = None, at: str = HERE, name: str = "rex") -> int:
    """The status of the answer: 302 in, 422 wrong, 429 wait."""
    client = client or Client()
    said = client.post("/sign-in/", {"username": name, "password": password}, REMOTE_ADDR=at)
    return said.status_code


def stranger(number: int) -> str:
    return f"192.0.2.{number}"


def test_five_wrong_passwords_make_one_wait_and_each_further_one_twice_as_long(
    clock: time_machine.Coordinates,
) -> None:
    assert [tries("wrong") for _ in range(FAILURES_HERE)] == [422] * 4 + [429]
    assert tries("rex-secret") == 429
    # What is tried meanwhile does not prolong the minute.
    clock.shift(timedelta(seconds=59))
    assert tries("rex-secret") == 429
    clock.shift(timedelta(seconds=1))
    assert tries("wrong") == 429
    # Two minutes after the sixth.
    clock.shift(timedelta(seconds=119))
    assert tries("rex-secret") == 429
    clock.shift(timedelta(seconds=1))
    assert tries("rex-secret") == 302
    # Having come in, one starts over.
    assert tries("wrong") == 422


def test_the_wait_ends_at_an_hour(clock: time_machine.Coordinates) -> None:
    # 1 minute after the fifth, then 2, 4, 8, 16, 32, and 60 rather than 64.
    waits = [1, 2, 4, 8, 16, 32, 60, 60]
    for _ in range(FAILURES_HERE - 1):
        tries("wrong")
    for minutes in waits:
        said = Client().post("/sign-in/", {"username": "rex", "password": "wrong"}, REMOTE_ADDR=HERE)
        assert (said.status_code, said["Retry-After"]) == (429, str(minutes * 60))
        clock.shift(timedelta(minutes=minutes))
    assert tries("rex-secret") == 302


def test_a_lock_is_for_one_account_at_one_address() -> None:
    for _ in range(FAILURES_HERE):
        tries("wrong")
    assert tries("rex-secret") == 429
    assert tries("rex-secret", at=ELSEWHERE) == 302
    assert tries("ana-secret", name="ana") == 302


def test_a_name_is_one_however_it_is_written() -> None:
    for spelt in ("rex", "REX", "Rex", "rEx", "reX"):
        tries("wrong", name=spelt)
    assert tries("rex-secret") == 429


def test_a_name_that_nobody_has_is_locked_alike() -> None:
    said = [tries("wrong", name="nobody") for _ in range(FAILURES_HERE)]
    assert said == [422] * 4 + [429]


def test_many_addresses_slow_others_and_not_the_browser_nor_the_network_that_rex_came_from() -> None:
    browser = Client()
    assert tries("rex-secret", client=browser) == 302
    browser.post("/sign-out/")
    said = [tries("wrong", at=stranger(number)) for number in range(FAILURES_OF_ACCOUNT)]
    assert said == [422] * (FAILURES_OF_ACCOUNT - 1) + [429]
    assert tries("rex-secret", at=stranger(99)) == 429
    # The browser travels, and a new browser sits in the known network.
    assert tries("rex-secret", client=browser, at=ELSEWHERE) == 302
    assert tries("rex-secret", at=HERE) == 302


def test_a_colleague_behind_the_same_address_cannot_keep_rex_out_of_their_own_browser() -> None:
    browser = Client()
    assert tries("rex-secret", client=browser) == 302
    browser.post("/sign-out/")
    for _ in range(FAILURES_HERE):
        tries("wrong")
    assert tries("rex-secret") == 429
    assert tries("rex-secret", client=browser) == 302


def test_somebody_elses_device_is_not_known_at_rexs_account() -> None:
    browser = Client()
    assert tries("ana-secret", client=browser, name="ana", at=ELSEWHERE) == 302
    browser.post("/sign-out/")
    for number in range(FAILURES_OF_ACCOUNT):
        tries("wrong", at=stranger(number))
    assert tries("rex-secret", client=browser, at=ELSEWHERE) == 429


def test_one_network_may_not_try_every_account() -> None:
    said = [tries("wrong", name=f"guess-{number}") for number in range(FAILURES_OF_NETWORK)]
    assert said == [422] * (FAILURES_OF_NETWORK - 1) + [429]
    assert tries("ana-secret", name="ana") == 429
    assert tries("ana-secret", name="ana", at=ELSEWHERE) == 302


def test_the_token_door_counts_with_the_page_and_says_when_to_come_back() -> None:
    for _ in range(FAILURES_HERE):
        tries("wrong")
    program = APIClient(REMOTE_ADDR=HERE)
    said = program.post("/api/v1/tokens/", {"username": "rex", "password": "rex-secret"}, format="json")
    assert (said.status_code, said.json()["error"]["code"]) == (429, "locked_out")
    assert said.headers["Retry-After"] in {"59", "60"}


def test_the_account_page_counts_wrong_passwords_too(world: World) -> None:
    client = Client()
    assert tries("rex-secret", client=client) == 302
    change = {
        "act": "password",
        "old": "guess",
        "password": "a-longer-secret-41",
        "again": "a-longer-secret-41",
    }
    said = [client.post("/account/", change, REMOTE_ADDR=HERE).status_code for _ in range(FAILURES_HERE)]
    assert said == [422] * 4 + [429]


def test_what_happened_is_written_down_without_what_was_typed(
    world: World, caplog: pytest.LogCaptureFixture, signed_in: SignIn
) -> None:
    caplog.set_level(logging.INFO)
    client = Client(headers={"User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"})
    tries("my-guess-1", client=client)
    tries("my-guess-2", client=client, name="a-password-typed-as-name")
    tries("rex-secret", client=client)
    client.post("/account/", {"act": "token"}, REMOTE_ADDR=HERE)
    client.post("/sign-out/", REMOTE_ADDR=HERE)
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
    kept = repr(list(rows.values()))
    assert not [word for word in ("my-guess", "typed-as-name", "rex-secret") if word in kept + caplog.text]
    assert f"Wrong password or code: account rex from {HERE}" in caplog.text
    assert f"Signed in: account rex from {HERE}" in caplog.text
