from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
import time_machine
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from knox.models import AuthToken
from rest_framework.test import APIClient

from annotation.accounts.tokens import make_token
from annotation.core.refusals import Invalid
from tests.annotation.api.routes import PREFIX
from tests.annotation.cast import World

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper


HARBOUR, QUARRY = f"{PREFIX}projects/harbour/", f"{PREFIX}projects/quarry/"


def with_token(token: str) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {token}")
    return client


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_a_token_reaches_no_further_than_its_person(world: World) -> None:
    _, token = make_token(person=world.vic)
    assert code(with_token(token).patch(HARBOUR, {"description": "D"})) == (403, "not_allowed")
    assert code(with_token(token).get(QUARRY)) == (404, "not_found")


def test_a_token_ends_when_it_was_made_to(world: World) -> None:
    row, token = make_token(person=world.olga, days=1)
    assert row.expiry - timezone.now() <= timedelta(days=1)
    AuthToken.objects.update(expiry=timezone.now() - timedelta(seconds=1))
    answer = with_token(token).get(HARBOUR)
    assert (answer.status_code, "expired. Make another one" in answer.json()["error"]["message"]) == (
        401,
        True,
    )
    answer = APIClient().get(HARBOUR, headers={"Authorization": f"Bearer {token}"})
    assert (answer.status_code, "Authorization: Token" in answer.json()["error"]["message"]) == (401, True)
    for days in (0, 366):
        with pytest.raises(Invalid):
            make_token(person=world.olga, days=days)


def test_the_account_page_says_what_days_it_takes(world: World, client: Client) -> None:
    client.force_login(world.olga)
    client.post("/accounts/reauthenticate/", {"password": "olga-secret"})
    page = client.post("/account/tokens/", {"days": "7"}).content.decode()
    assert f"<code>{AuthToken.objects.get().token_key}…</code>" in page
    wrong = client.post("/account/tokens/", {"days": "none"})
    assert (wrong.status_code, "1 to 365 days" in wrong.content.decode()) == (422, True)


@time_machine.travel(timezone.now().replace(second=30), tick=False)
def test_each_token_has_so_many_calls_a_minute(world: World, settings: SettingsWrapper) -> None:
    settings.TOKEN_CALLS_PER_MINUTE = 2
    cache.clear()
    first, second = (with_token(make_token(person=world.olga)[1]) for _ in range(2))
    assert [first.get(HARBOUR).status_code for _ in range(3)] == [200, 200, 429]
    assert second.get(HARBOUR).status_code == 200
    assert 1 <= int(first.get(HARBOUR)["Retry-After"]) <= 60
