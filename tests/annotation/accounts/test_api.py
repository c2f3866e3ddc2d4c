from __future__ import annotations

from typing import Any

import pytest
import time_machine
from knox.models import AuthToken
from rest_framework.test import APIClient

from tests.annotation.cast import World

TOKENS = "/api/v1/tokens/"
GOOD = {"username": "rex", "password": "rex-secret"}


def make(client: APIClient, **changes: str) -> Any:
    return client.post(TOKENS, GOOD | changes, format="json")


def with_token(token: str) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {token}")
    return client


def test_a_token_opens_what_its_owner_may_see(world: World) -> None:
    made = make(APIClient())
    assert made.status_code == 201
    listed = with_token(made.json()["token"]).get("/api/v1/projects/").json()["results"]
    assert [project["slug"] for project in listed] == ["harbour"]


def test_a_revoked_token_opens_nothing(world: World) -> None:
    first, second = (make(APIClient()).json()["token"] for _ in range(2))
    assert with_token(first).delete(f"{TOKENS}current/").status_code == 204
    assert with_token(first).get("/api/v1/projects/").status_code == 401
    assert with_token(second).get("/api/v1/projects/").status_code == 200


def test_a_session_has_no_token_to_revoke(world: World) -> None:
    client = APIClient()
    client.force_login(world.rex)
    answer = client.delete(f"{TOKENS}current/")
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "no_token")


@pytest.mark.parametrize("wrong", [{"password": "wrong"}, {"username": "nobody"}])
def test_wrong_credentials_are_refused_in_the_same_words(world: World, wrong: dict[str, str]) -> None:
    answer = make(APIClient(), **wrong)
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "bad_credentials")
    assert answer.json()["error"]["message"] == "Wrong username or password."
    assert not AuthToken.objects.exists()


@pytest.mark.parametrize("header", ["Token", "Token a b", "Token nothing", "Token \xff\xfe"])
def test_a_garbled_token_is_no_sign_in_and_no_crash(world: World, header: str) -> None:
    answer = APIClient().get("/api/v1/projects/", HTTP_AUTHORIZATION=header)
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "authentication_failed")


@time_machine.travel("2026-03-01 12:00:30Z", tick=False)
def test_attempts_from_one_address_are_limited_whatever_a_header_claims(world: World) -> None:
    statuses = [
        make(APIClient(HTTP_X_FORWARDED_FOR=f"1.1.1.{number}"), username=f"guess-{number}").status_code
        for number in range(61)
    ]
    assert statuses == [401] * 60 + [429]
