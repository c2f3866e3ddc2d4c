from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.db import transaction
from rest_framework.test import APIClient

from annotation.assessing.services.assign import assign
from annotation.models import Comparison, Membership, Role, Summary
from tests.annotation.api.routes import IN_PROJECT, Route, body_of
from tests.annotation.cast import World
from tests.says import says

if TYPE_CHECKING:
    from tests.annotation.conftest import ApiDoor

FORGED = (
    "claim__claim_set__summary__system__name=alder",
    "summary__system__name=alder",
    "project__memberships__user__password__startswith=a",
    "verdicts__person__password__startswith=m",
    "order=-summary__system__name",
    "sort=-summary__system__name",
    "order=project__memberships__user__password",
    "side__in=summary",
    "label__startswith=y",
    "after__gt=1",
)


def send(client: APIClient, route: Route, ids: dict[str, str], *, slug: str = "harbour") -> Any:
    call = getattr(client, route.method)
    if route.method == "get":
        return call(route.address(ids, slug=slug))
    return call(route.address(ids, slug=slug), body_of(route, ids), format="json")


def trial(client: APIClient, route: Route, ids: dict[str, str]) -> Any:
    with transaction.atomic():
        answer = send(client, route, ids)
        transaction.set_rollback(True)
    return answer


def said(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_a_missing_project_answers_in_the_same_words(
    world: World, ids: dict[str, str], client_of: ApiDoor
) -> None:
    client = client_of("dan")
    for route in IN_PROJECT:
        there, nowhere = send(client, route, ids), send(client, route, ids, slug="nowhere")
        assert there.json() == nowhere.json(), route


def test_what_a_blind_person_may_read_names_no_system_and_no_id_that_tells(
    world: World, ids: dict[str, str], client_of: ApiDoor
) -> None:
    Membership.objects.filter(user=world.ana).update(roles=list(Role.values))
    assign(document_set=world.sets["port"], assessor=world.ana, by=world.mona, seed=2)
    telling = ["alder", "birch", *Comparison.objects.values_list("public_id", flat=True)]
    telling += Summary.objects.values_list("public_id", flat=True)
    client = client_of("ana")
    for route in IN_PROJECT:
        answer = trial(client, route, ids).content.decode()
        assert [word for word in telling if says(answer, word)] == [], route


@pytest.mark.parametrize("path", ["checks/", "summaries/", "claims/", "scores/", "document-sets/", "runs/"])
def test_no_parameter_reaches_the_database_by_its_name(world: World, client_of: ApiDoor, path: str) -> None:
    client = client_of("olga")
    for query in FORGED:
        status, code = said(client.get(f"/api/v1/projects/harbour/{path}?{query}"))
        assert (status in (400, 422), code) == (True, "invalid"), query


def test_a_session_needs_the_csrf_token_to_write(world: World) -> None:
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(world.mona)
    answer = client.patch("/api/v1/projects/harbour/", {"description": "x"}, format="json")
    assert answer.status_code == 403
    world.project.refresh_from_db()
    assert world.project.description == ""


def test_answers_are_not_kept_by_caches(world: World, client_of: ApiDoor) -> None:
    answer = client_of("vic").get("/api/v1/projects/harbour/scores/")
    assert {"private", "no-store"} <= set(answer.headers["Cache-Control"].split(", "))


def test_no_answer_holds_a_primary_key(world: World, ids: dict[str, str], client_of: ApiDoor) -> None:
    client = client_of("olga")

    def keys(value: Any) -> Any:
        if isinstance(value, dict):
            for name, inner in value.items():
                yield name, inner
                yield from keys(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from keys(inner)

    for route in IN_PROJECT:
        if route.method == "get" and not route.owner:
            answer = send(client, route, ids)
            if "json" not in answer.headers["Content-Type"]:
                continue  # a file: the tests of exports check its columns
            for name, value in keys(answer.json()):
                assert name not in ("pk", "_id"), route
                assert not (name == "id" or name.endswith("_pk")) or isinstance(value, str), route
