"""Archiving, deleting and restoring a project over the API."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor

HARBOUR = "/api/v1/projects/harbour/"
CLOSED = "/api/v1/closed-projects/"


def test_an_archived_project_is_listed_apart_and_opened_again(world: World, client_of: ApiDoor) -> None:
    olga = client_of("olga")
    assert olga.post(f"{HARBOUR}archive/").json()["archived_at"] is not None
    assert olga.get("/api/v1/projects/").json()["results"] == []
    assert [each["slug"] for each in olga.get(CLOSED).json()["results"]] == ["harbour"]
    refused = olga.patch(HARBOUR, {"description": "D"}, format="json")
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "archived")
    assert olga.post(f"{HARBOUR}unarchive/").json()["archived_at"] is None
    assert olga.get(CLOSED).json()["results"] == []


def test_a_project_is_deleted_by_its_name_and_restored(world: World, client_of: ApiDoor) -> None:
    olga = client_of("olga")
    wrong = olga.post(f"{HARBOUR}delete/", {"name": "harbour"}, format="json")
    assert (wrong.status_code, wrong.json()["error"]["field"]) == (422, "name")
    deleted = olga.post(f"{HARBOUR}delete/", {"name": "Harbour study"}, format="json").json()
    assert deleted["removed_at"] > deleted["deleted_at"]
    assert olga.get(HARBOUR).status_code == 404
    assert client_of("mona").get(CLOSED).json()["results"] == []
    restore = f"{CLOSED}{deleted['id']}/restore/"
    assert client_of("mona").post(restore).status_code == 404
    assert olga.post(restore).json()["deleted_at"] is None
    assert olga.get(HARBOUR).status_code == 200
