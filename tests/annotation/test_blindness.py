"""Every door of the house, tried by somebody who has open assessor work, listens for what they must not know.

Hidden names stand wherever a system, a verdict or another person's word is kept. The walks read the URL map,
the routes of the API and the admin's registry, so that a new door is tried without being named here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from annotation.assessing.services.assign import assign
from annotation.assessing.services.save_acts import judge_unit
from annotation.config.web_urls import project_urls
from annotation.models import Assignment, Check, Comparison, Reading, Role, Summary, System, Verdict
from tests.annotation.api.routes import IN_PROJECT, body_of, ids_of
from tests.annotation.web.places import Ids

if TYPE_CHECKING:
    from django.http import HttpResponse

    from tests.annotation.cast import World

HIDDEN = ("hidden-system", "hidden-reason", "hidden-note", "hidden-reference")
ROLES = {"assessor": ["assessor"], "all": list(Role.values)}
HTMX = {"HX-Request": "true"}


@pytest.fixture
def hidden(world: World) -> World:
    """The world with telling names in it, and Ben's judgments, with notes, beside Ana's open work."""
    for number, system in enumerate(world.systems.values()):
        System.objects.filter(pk=system.pk).update(name=f"hidden-system-{number}")
    Summary.objects.filter(is_model=True).update(external_id="hidden-reference")
    Verdict.objects.update(reason="hidden-reason")
    others = assign(document_set=world.sets["port"], assessor=world.ben, by=None)
    for reading in others.readings.select_related(
        "assignment__document_set__project", "comparison__peer", "comparison__model"
    ):
        for unit in world.units("port"):
            judge_unit(reading=reading, by=world.ben, unit_id=unit.public_id, percent=80, note="hidden-note")
    return world


def telling() -> list[str]:
    """What no answer may hold: hidden names, and public ids that would link summaries across sets.

    Summaries of sets that Ana is not judging have addresses in the list of units to review, without a system.
    """
    rows = (System.objects, Comparison.objects, Check.objects)
    judging = Summary.objects.filter(document_set__assignments__assessor__username="ana")
    ids = [public_id for row in (*rows, judging) for public_id in row.values_list("public_id", flat=True)]
    theirs = Reading.objects.exclude(assignment__assessor__username="ana")
    return [*HIDDEN, *ids, *theirs.values_list("public_id", flat=True)]


def told(answer: HttpResponse, words: list[str], asked: str) -> list[str]:
    """Which of the words an answer holds, in its body or headers, that were not in the question."""
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content  # type: ignore[attr-defined]
    said = body.decode(errors="replace") + str(answer.headers)
    return [word for word in words if word in said and word not in asked]


def taken_back(client: Client, method: str, path: str, **more: Any) -> HttpResponse:
    """The answer to a request whose effect is taken back."""
    with transaction.atomic():
        answer: Any = getattr(client, method)(path, **more)
        transaction.set_rollback(True)
    return answer


@pytest.mark.parametrize("roles", ROLES.values(), ids=ROLES)
@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "htmx"])
def test_no_page_tells(hidden: World, roles: list[str], headers: dict[str, str]) -> None:
    ids = Ids.of(hidden)
    Verdict.objects.update(reason="hidden-reason")
    hidden.ana.memberships.update(roles=roles)
    client, words = Client(), telling()
    client.force_login(hidden.ana, backend="django.contrib.auth.backends.ModelBackend")
    found = {}
    for path in [reverse("projects"), *(ids.address(route) for route in project_urls)]:
        for method in ("get", "post"):
            answer = taken_back(client, method, path, headers=headers)
            assert answer.status_code < 500, (method, path)
            found[method, path] = told(answer, words, path)
    assert {where: what for where, what in found.items() if what} == {}


@pytest.mark.parametrize("roles", ROLES.values(), ids=ROLES)
def test_no_route_tells(hidden: World, roles: list[str]) -> None:
    ids = ids_of(hidden)
    Verdict.objects.update(reason="hidden-reason")
    hidden.ana.memberships.update(roles=roles)
    client, words = Client(), telling()
    client.force_login(hidden.ana, backend="django.contrib.auth.backends.ModelBackend")
    found = {}
    for route in IN_PROJECT:
        path, more = route.address(ids), {}
        if route.method != "get":
            more = {"data": body_of(route, ids), "content_type": "application/json"}
        answer = taken_back(client, route.method, path, **more)
        assert answer.status_code < 500, route
        found[route.method, path] = told(answer, words, f"{path} {more}")
    assert {where: what for where, what in found.items() if what} == {}


def test_the_admin_is_closed(hidden: World) -> None:
    hidden.ana.memberships.update(roles=list(Role.values))
    hidden.ana.is_staff = True
    hidden.ana.save(update_fields=["is_staff"])
    client = Client()
    client.force_login(hidden.ana, backend="django.contrib.auth.backends.ModelBackend")
    assert client.get("/admin/", follow=True).status_code == 200
    assign(document_set=hidden.sets["bridge"], assessor=hidden.ana, by=None)
    paths = ["/admin/", *(reverse(f"admin:annotation_{name}_changelist") for name in ("dispute", "summary"))]
    for path in paths:
        assert client.get(path, follow=True).status_code == 403


@pytest.mark.parametrize("work", ["open", "closed"])
def test_the_deciding_judge_is_named_to_those_who_see(world: World, work: str) -> None:
    world.ana.memberships.update(roles=list(Role.values))
    if work == "open":
        assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    client = Client()
    client.force_login(world.ana, backend="django.contrib.auth.backends.ModelBackend")
    rules = client.get("/api/v1/projects/harbour/").json()
    judges = client.get("/api/v1/projects/harbour/judges/").json()["results"]
    page = client.get(reverse("judges", args=["harbour"])).content.decode()
    form = client.get(reverse("project-settings", args=["harbour"])).content.decode()
    hidden = work == "open"
    assert rules["deciding_judge"] == (None if hidden else "lexical")
    assert [judge["is_deciding"] for judge in judges] == [None if hidden else True]
    assert (">deciding<" in page, "deciding_judge" in form) == (not hidden, not hidden)


def test_a_system_does_not_stand_at_the_same_place_in_every_set(world: World) -> None:
    # With two peers of one length and 20 seeds, one order in all of them has a chance of 2 in 2**20.
    first = set()
    for seed in range(20):
        assignment = assign(document_set=world.sets["port"], assessor=world.ana, by=None, seed=seed)
        row = assignment.readings.select_related("comparison__peer").order_by("position")[0]
        first.add(row.comparison.peer.system_id)
        Assignment.objects.all().delete()
    assert first == {system.pk for system in world.systems.values()}
