"""Members, invitations, comments over the API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rest_framework.test import APIClient

from annotation.core.permissions import roles_in
from annotation.reviewing.services.review import override

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.annotation.cast import World

    ClientOf = Callable[[str], APIClient]

HERE = "/api/v1/projects/harbour/"


def code_of(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_members_come_change_and_go(world: World, client_of: ClientOf) -> None:
    olga = client_of("olga")
    made = olga.post(f"{HERE}members/", {"username": "dan", "roles": ["viewer"]})
    assert made.status_code == 201
    address = f"{HERE}members/{made.json()['id']}/"
    assert olga.patch(address, {"roles": ["reviewer"], "seen": ["viewer"]}).json()["roles"] == ["reviewer"]
    assert code_of(olga.patch(address, {"roles": ["owner"], "seen": ["viewer"]})) == (409, "newer_roles")
    override(check=world.check("alder", 1), by=world.dan, label="yes")
    assert olga.get(address).json()["stays"]["verdicts"] == 1
    assert olga.delete(address).status_code == 204
    assert roles_in(world.dan, world.project) == frozenset()
    names = [row["username"] for row in olga.get(f"{HERE}members/").json()["results"]]
    assert names == ["ana", "ben", "cleo", "mona", "olga", "rex", "vic"]


def test_an_invitation_by_a_program(world: World, client_of: ClientOf) -> None:
    issued = client_of("olga").post(f"{HERE}invitations/", {"roles": ["reviewer"], "note": "Dan"}).json()
    assert issued["address"].endswith(f"/invitations/{issued['secret']}/")
    joined = client_of("dan").post("/api/v1/invitations/accept/", {"secret": issued["secret"]})
    assert (joined.status_code, joined.json()) == (
        201,
        {"project": "harbour", "username": "dan", "roles": ["reviewer"]},
    )
    (row,) = client_of("olga").get(f"{HERE}invitations/").json()["results"]
    assert (row["state"], row["accepted_by"]) == ("accepted", "dan")
    assert "secret" not in row
    again = client_of("rex").post("/api/v1/invitations/accept/", {"secret": issued["secret"]})
    assert code_of(again) == (409, "used")


def test_a_new_account_by_an_invitation(world: World, client_of: ClientOf) -> None:
    secret = client_of("olga").post(f"{HERE}invitations/", {"roles": ["viewer"]}).json()["secret"]
    given = {"secret": secret, "username": "eve", "password": "six tall harbours"}
    weak = APIClient().post("/api/v1/invitations/account/", {**given, "password": "short"}, format="json")
    assert code_of(weak) == (422, "invalid")
    joined = APIClient().post("/api/v1/invitations/account/", given, format="json")
    assert joined.json()["username"] == "eve"
    token = APIClient().post(
        "/api/v1/tokens/", {"username": "eve", "password": "six tall harbours"}, format="json"
    )
    assert token.status_code == 201


def test_an_invitation_taken_back(world: World, client_of: ClientOf) -> None:
    olga = client_of("olga")
    issued = olga.post(f"{HERE}invitations/", {"roles": ["viewer"]}).json()
    assert olga.delete(f"{HERE}invitations/{issued['invitation']['id']}/").status_code == 204
    answer = client_of("dan").post("/api/v1/invitations/accept/", {"secret": issued["secret"]})
    assert code_of(answer) == (409, "revoked")


def test_comments(world: World, client_of: ClientOf) -> None:
    claim = world.check("alder", 1).claim.public_id
    made = client_of("rex").post(f"{HERE}claims/{claim}/comments/", {"text": "April?"}).json()
    cleo = client_of("cleo")
    (row,) = cleo.get(f"{HERE}claims/{claim}/comments/").json()["comments"]
    assert (row["by"], row["text"], row["is_withdrawn"]) == ("rex", "April?", False)
    assert cleo.delete(f"{HERE}comments/{made['id']}/").status_code == 404
    assert client_of("rex").delete(f"{HERE}comments/{made['id']}/").status_code == 204
    (row,) = cleo.get(f"{HERE}claims/{claim}/comments/").json()["comments"]
    assert (row["text"], row["is_withdrawn"]) == ("", True)


def test_a_reviewer_gets_no_comments_of_others_before_an_answer(world: World, client_of: ClientOf) -> None:
    claim = world.check("alder", 1).claim.public_id
    client_of("cleo").post(f"{HERE}claims/{claim}/comments/", {"text": "Clearly no."})
    thread = client_of("rex").get(f"{HERE}claims/{claim}/comments/").json()
    assert thread == {"comments": [], "hidden": 1}
