"""Who may take which route: made from the URL configuration and the table of role x verb.

Each test walks all routes and collects what is wrong, so that one small world serves them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.db import transaction
from rest_framework.test import APIClient

from annotation.models import Comparison, Membership, Role, Summary
from annotation.permissions import BLIND_VERBS, ROLE_VERBS
from annotation.services.assign import assign
from tests.annotation.api.routes import IN_PROJECT, OUTSIDE, Route, as_pattern, body_of, walked
from tests.annotation.cast import MEMBERS, World

if TYPE_CHECKING:
    from tests.annotation.api.conftest import Client

CARRIED_OUT = (200, 201, 204)
REFUSED_FOR_ANOTHER_REASON = (409, 422)
"""An unfinished export, a sitting that is not complete, a run that is over."""

FORGED = (
    "claim__claim_set__summary__system__name=alder",
    "peer__system__name=alder",
    "project__memberships__user__password__startswith=a",
    "verdicts__person__password__startswith=m",
    "order=-peer__system__name",
    "order=project__memberships__user__password",
    "side__in=peer",
    "label__startswith=y",
    "cursor__gt=1",
)


def send(client: APIClient, route: Route, ids: dict[str, str], *, slug: str = "harbour") -> Any:
    call = getattr(client, route.method)
    if route.method == "get":
        return call(route.address(ids, slug=slug))
    return call(route.address(ids, slug=slug), body_of(route, ids), format="json")


def trial(client: APIClient, route: Route, ids: dict[str, str]) -> Any:
    """The answer to a request whose effect is taken back."""
    with transaction.atomic():
        answer = send(client, route, ids)
        transaction.set_rollback(True)
    return answer


def said(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_every_route_has_an_entry_here_and_every_entry_a_route() -> None:
    assert {as_pattern(route) for route in (*IN_PROJECT, *OUTSIDE)} == walked()


def test_outsiders_find_nothing_on_any_route(world: World, ids: dict[str, str], client_of: Client) -> None:
    client = client_of("dan")
    found = {route: said(send(client, route, ids)) for route in IN_PROJECT}
    assert set(found.values()) == {(404, "not_found")}


def test_a_missing_project_answers_in_the_same_words(
    world: World, ids: dict[str, str], client_of: Client
) -> None:
    client = client_of("dan")
    for route in IN_PROJECT:
        there, nowhere = send(client, route, ids), send(client, route, ids, slug="nowhere")
        assert there.json() == nowhere.json(), route


def test_the_anonymous_are_asked_to_sign_in(world: World, ids: dict[str, str]) -> None:
    for route in (*IN_PROJECT, OUTSIDE[0], OUTSIDE[2]):
        answer = send(APIClient(), route, ids)
        assert said(answer) == (401, "not_authenticated"), route
        assert answer.headers["WWW-Authenticate"] == "Token"


def test_ids_of_another_project_are_not_found_in_ones_own(
    world: World, ids: dict[str, str], client_of: Client
) -> None:
    # Dan owns "quarry" and may do everything in it; the ids are those of "harbour".
    client = client_of("dan")
    nested = [route for route in IN_PROJECT if route.path.count("{") > 1]
    found = {route: send(client, route, ids, slug="quarry").status_code for route in nested}
    assert set(found.values()) == {404}


@pytest.mark.parametrize("name", MEMBERS)
def test_members_may_do_what_their_role_holds(
    world: World, ids: dict[str, str], client_of: Client, name: str
) -> None:
    (role,) = MEMBERS[name]
    client = client_of(name)
    for route in IN_PROJECT:
        answer = trial(client, route, ids)
        if not ROLE_VERBS[role] & set(route.verbs):
            assert said(answer) == (403, "not_allowed"), route
        elif route.owner and route.owner != name:
            assert answer.status_code in (403, 404), route
        else:
            assert answer.status_code in CARRIED_OUT + REFUSED_FOR_ANOTHER_REASON, (route, answer.content)


def test_open_assessor_work_closes_what_would_tell(
    world: World, ids: dict[str, str], client_of: Client
) -> None:
    Membership.objects.filter(user=world.ana).update(roles=list(Role.values))
    client = client_of("ana")
    for route in IN_PROJECT:
        answer = trial(client, route, ids)
        if set(route.verbs) & BLIND_VERBS:
            assert answer.status_code in CARRIED_OUT + REFUSED_FOR_ANOTHER_REASON, (route, answer.content)
        else:
            assert said(answer) == (403, "blind"), route


def test_what_a_blind_person_may_read_names_no_system_and_no_id_that_tells(
    world: World, ids: dict[str, str], client_of: Client
) -> None:
    Membership.objects.filter(user=world.ana).update(roles=list(Role.values))
    assign(document_set=world.sets["port"], assessor=world.ana, by=world.mona, seed=2)
    telling = ["alder", "birch", *Comparison.objects.values_list("public_id", flat=True)]
    telling += Summary.objects.values_list("public_id", flat=True)
    client = client_of("ana")
    for route in IN_PROJECT:
        answer = trial(client, route, ids).content.decode()
        assert [word for word in telling if word in answer] == [], route


@pytest.mark.parametrize("path", ["checks/", "summaries/", "claims/", "scores/", "document-sets/", "runs/"])
def test_no_parameter_reaches_the_database_by_its_name(world: World, client_of: Client, path: str) -> None:
    client = client_of("olga")
    for query in FORGED:
        assert said(client.get(f"/api/v1/projects/harbour/{path}?{query}")) == (400, "invalid"), query


def test_a_session_needs_the_csrf_token_to_write(world: World) -> None:
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(world.mona)
    answer = client.patch("/api/v1/projects/harbour/", {"description": "x"}, format="json")
    assert answer.status_code == 403
    world.project.refresh_from_db()
    assert world.project.description == ""


def test_answers_are_not_kept_by_caches(world: World, client_of: Client) -> None:
    answer = client_of("vic").get("/api/v1/projects/harbour/scores/")
    assert {"private", "no-store"} <= set(answer.headers["Cache-Control"].split(", "))


def test_no_answer_holds_a_primary_key(world: World, ids: dict[str, str], client_of: Client) -> None:
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
            for name, value in keys(send(client, route, ids).json()):
                assert name not in ("pk", "_id"), route
                assert not (name == "id" or name.endswith("_pk")) or isinstance(value, str), route
