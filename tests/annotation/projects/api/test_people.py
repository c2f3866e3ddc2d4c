from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rest_framework.test import APIClient

from annotation.core.permissions import roles_in

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
    assert olga.delete(address).status_code == 204
    assert roles_in(world.dan, world.project) == frozenset()
    names = [row["username"] for row in olga.get(f"{HERE}members/").json()["results"]]
    assert names == ["ana", "ben", "cleo", "mona", "olga", "rex", "vic"]


def test_comments(world: World, client_of: ClientOf) -> None:
    claim = world.check("alder", 1).claim.public_id
    made = client_of("rex").post(f"{HERE}comments/", {"claim": claim, "text": "April?"}).json()
    cleo, address = client_of("cleo"), f"{HERE}comments/?claim={claim}"
    (row,) = cleo.get(address).json()["results"]
    assert row == made
    assert (row["by"], row["text"], row["withdrawn_at"]) == ("rex", "April?", None)
    assert cleo.delete(f"{HERE}comments/{made['id']}/").status_code == 404
    assert client_of("rex").delete(f"{HERE}comments/{made['id']}/").status_code == 204
    (row,) = cleo.get(address).json()["results"]
    assert (row["text"], row["withdrawn_at"] is None) == ("", False)
    assert cleo.get(f"{HERE}comments/?claim=another").json()["results"] == []
