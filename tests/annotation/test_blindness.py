"""Requests of people with open assessor work, who must not receive the words of `hidden`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.assessing.services.assign import assign
from annotation.models import Membership, Role
from annotation.reviewing.services.review import override
from tests.annotation.hidden import WORDS, kept_from, plant, told
from tests.annotation.test_permission_matrix import (
    BLIND,
    Ask,
    api_asks,
    client_of,
    verbs_of,
    web_asks,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.annotation.cast import World

HTMX = {"HX-Request": "true"}
AFTER = ("olga", "cleo", "rex")
"""Reviewers, who can give their own answer."""
OF_ANSWERS = ("only=against", "only=disputed", "only=all&label=no", "only=all&label=yes")


@pytest.fixture(params=[web_asks, api_asks], ids=["web", "api"])
def asks(request: pytest.FixtureRequest, world: World) -> list[Ask]:
    reads = [ask for ask in request.param(world) if ask.method == "get"]
    plant(world)
    return reads


def heard(client: Client, asks: list[Ask], words: Callable[[Ask], Sequence[str]]) -> dict[str, list[str]]:
    found = {ask.name: told(client.get(ask.path, headers=HTMX), list(words(ask)), ask.path) for ask in asks}
    return {name: hears for name, hears in found.items() if hears}


@pytest.mark.parametrize("name", ["rex", "ana", BLIND, "root"])
def test_no_fragment_tells(world: World, asks: list[Ask], name: str) -> None:
    if name == "root":
        world.users["root"] = User.objects.create_superuser("root")
        assign(document_set=world.sets["bridge"], assessor=world.users["root"], by=None)
    client = client_of(world, name)
    if name == "rex":
        verbs = verbs_of(name)
        assert heard(client, asks, lambda ask: kept_from(verbs, ask.name, has_answered=False)) == {}
    else:
        assert heard(client, asks, lambda _: WORDS) == {}


@pytest.mark.parametrize("name", AFTER)
def test_ones_own_answer_shows_that_check_alone(world: World, asks: list[Ask], name: str) -> None:
    override(check=world.check("alder", 1), by=world.users[name], label="yes")
    check = next(ask for ask in asks if ask.name in ("check", "projects/{slug}/checks/{check}/"))
    client = client_of(world, name)
    assert "hidden-said" in client.get(check.path).content.decode()
    kept = {ask: kept_from(verbs_of(name), ask.name, has_answered=True) for ask in asks}
    assert heard(client, asks, kept.__getitem__) == {}


@pytest.mark.parametrize("name", AFTER)
def test_no_filter_of_the_queue_tells_what_others_said(world: World, name: str) -> None:
    # Mona, who also reviews, says yes to a check with the judge's no.
    Membership.objects.filter(user=world.mona).update(roles=["manager", "reviewer"])
    override(check=world.check("birch", 1), by=world.mona, label="yes")
    check = world.check("birch", 1).public_id
    client, door = client_of(world, name), "/p/harbour/review/"
    assert check in client.get(f"{door}?only=all").content.decode()
    told_by = [asked for asked in OF_ANSWERS if check in client.get(f"{door}?{asked}").content.decode()]
    assert told_by == []


def test_the_admin_is_closed(world: World) -> None:
    world.ana.memberships.update(roles=list(Role.values))
    world.ana.is_staff = True
    world.ana.save(update_fields=["is_staff"])
    client = Client()
    client.force_login(world.ana)
    assert client.get("/admin/", follow=True).status_code == 200
    assign(document_set=world.sets["bridge"], assessor=world.ana, by=None)
    paths = ["/admin/", *(reverse(f"admin:annotation_{name}_changelist") for name in ("dispute", "summary"))]
    for path in paths:
        assert client.get(path, follow=True).status_code == 403


@pytest.mark.parametrize("work", ["open", "closed"])
def test_the_deciding_judge_is_named_to_those_who_see(world: World, work: str) -> None:
    world.ana.memberships.update(roles=list(Role.values))
    if work == "open":
        assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    client = Client()
    client.force_login(world.ana)
    rules = client.get("/api/v1/projects/harbour/").json()
    judges = client.get("/api/v1/projects/harbour/judges/").json()["results"]
    page = client.get(reverse("judges", args=["harbour"])).content.decode()
    form = client.get(reverse("project-settings", args=["harbour"])).content.decode()
    hidden = work == "open"
    assert rules["deciding_judge"] == (None if hidden else "lexical")
    assert [judge.get("is_deciding") for judge in judges] == [None if hidden else True]
    assert ("is_deciding" in judges[0]) is not hidden
    assert (">deciding<" in page, "deciding_judge" in form) == (not hidden, not hidden)
