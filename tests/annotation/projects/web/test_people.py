from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.core.permissions import roles_in
from annotation.models import Comment, Membership, Role
from annotation.projects.services.invite import invite, revoke_invitation
from annotation.reviewing.services.review import override

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn

ROOM = "/p/harbour/settings/people/"
PASSWORD = "six tall harbours"


def text_of(answer: Any) -> str:
    return html.unescape(answer.content.decode())


def member(world: World, name: str) -> Membership:
    return Membership.objects.get(project=world.project, user__username=name)


def roles_post(client: Client, row: Membership, roles: list[str], seen: str) -> Any:
    return client.post(f"{ROOM}{row.public_id}/roles/", {"roles": roles, "seen": seen})


def test_roles_are_changed_by_checkboxes(olga: Client, world: World) -> None:
    answer = roles_post(olga, member(world, "rex"), ["reviewer", "assessor"], "reviewer")
    assert answer["Location"] == ROOM
    assert roles_in(world.rex, world.project) == {Role.REVIEWER, Role.ASSESSOR}


@pytest.mark.parametrize(
    ("roles", "seen", "status", "told"),
    [
        ([], "reviewer", 422, "Choose at least one role."),
        (["king"], "reviewer", 422, "There is no role"),
        (["viewer"], "manager", 409, "Someone changed the roles of rex"),
    ],
)
def test_what_is_refused_is_said_beside_what_was_chosen(
    olga: Client, world: World, roles: list[str], seen: str, status: int, told: str
) -> None:
    row = member(world, "rex")
    answer = roles_post(olga, row, roles, seen)
    page = text_of(answer)
    assert answer.status_code == status
    part = re.search(rf'id="members-{row.public_id}".*?</tbody>', page, re.DOTALL)
    assert "<details open>" in part[0]
    assert told in part[0]
    assert roles_in(world.rex, world.project) == {Role.REVIEWER}


def test_before_somebody_goes_it_is_told_what_stays(olga: Client, world: World) -> None:
    override(check=world.check("alder", 1), by=world.rex, label="yes")
    Comment.objects.create(
        project=world.project, claim=world.check("alder", 1).claim, author=world.rex, text="Hm."
    )
    row = member(world, "rex")
    page = text_of(olga.get(f"{ROOM}{row.public_id}/remove/"))
    assert re.search(r"Verdicts on checks</dt><dd>1<", page)
    assert "Decisions as adjudicator" not in page
    assert re.search(r"Comments</dt><dd>1<", page)
    olga.post(f"{ROOM}{row.public_id}/remove/")
    assert not Membership.objects.filter(pk=row.pk).exists()
    assert world.check("alder", 1).human_label == "yes"


def test_adding_by_name(olga: Client, world: World) -> None:
    assert olga.post(f"{ROOM}add/", {"name": " dan ", "roles": ["viewer"]})["Location"] == ROOM
    assert roles_in(world.dan, world.project) == {Role.VIEWER}


@pytest.mark.parametrize(("name", "status"), [("nobody", 422), ("rex", 409)])
def test_who_cannot_be_added_stays_in_the_form(olga: Client, name: str, status: int) -> None:
    answer = olga.post(f"{ROOM}add/", {"name": name, "roles": ["viewer"]})
    assert answer.status_code == status
    assert re.search(rf'id="name"[^>]*value="{name}"', text_of(answer))


def link_on(page: str) -> str:
    (address,) = re.findall(r'readonly value="http://testserver(/invitations/[^"]+)"', page)
    return str(address)


def test_the_link_is_shown_once(olga: Client, world: World) -> None:
    answer = olga.post("/p/harbour/settings/invitations/invite/", {"roles": ["reviewer"], "name": "Dan"})
    address = link_on(text_of(answer))
    assert "no-store" in answer["Cache-Control"]
    again = text_of(olga.get(ROOM))
    assert "/invitations/" not in again.replace("/settings/invitations/", "")
    assert "Dan" in again
    assert Client().get(address).status_code == 200


def test_somebody_signed_in_joins_with_one_button(world: World, signed_in: SignIn) -> None:
    address = f"/invitations/{invite(project=world.project, roles=['reviewer'], by=world.olga).secret}/"
    client = signed_in(world.dan)
    assert "Join as dan" in text_of(client.get(address))
    assert client.post(address)["Location"] == "/p/harbour/"
    assert roles_in(world.dan, world.project) == {Role.REVIEWER}


def again(client: Client, address: str, **typed: str) -> Any:
    given = {"username": "eve", "full_name": "Eve Berg", "password": PASSWORD, "again": PASSWORD}
    return client.post(address, {**given, **typed})


def test_a_stranger_makes_an_account_and_is_signed_in(world: World) -> None:
    address = f"/invitations/{invite(project=world.project, roles=['viewer'], by=world.olga).secret}/"
    client = Client()
    assert again(client, address)["Location"] == "/p/harbour/"
    assert client.get("/p/harbour/").status_code == 200
    eve = User.objects.get(username="eve")
    assert (eve.get_full_name(), roles_in(eve, world.project)) == ("Eve Berg", {Role.VIEWER})
    assert again(Client(), address, username="mallory").status_code == 409


@pytest.mark.parametrize(
    ("typed", "status", "fault"),
    [
        ({"again": "another"}, 422, "again"),
        ({"username": "rex"}, 409, "username"),
    ],
)
def test_a_fault_stands_at_its_field_and_no_password_comes_back(
    world: World, typed: dict[str, str], status: int, fault: str
) -> None:
    address = f"/invitations/{invite(project=world.project, roles=['viewer'], by=world.olga).secret}/"
    answer = again(Client(), address, **typed)
    page = text_of(answer)
    assert answer.status_code == status
    assert re.findall(r'id="(\w+)-fault"', page) == [fault]
    assert PASSWORD not in page
    assert 'value="Eve Berg"' in page


def test_names_cannot_be_tried_without_end(world: World) -> None:
    address = f"/invitations/{invite(project=world.project, roles=['viewer'], by=world.olga).secret}/"
    got = [again(Client(), address, username="rex").status_code for _ in range(11)]
    assert got == [*[409] * 10, 403]
    assert again(Client(), address).status_code == 403


def test_what_opens_nothing_says_why(world: World) -> None:
    issued = invite(project=world.project, roles=["viewer"], by=world.olga)
    revoke_invitation(invitation=issued.invitation, by=world.olga)
    assert Client().get(f"/invitations/{issued.secret}/").status_code == 409
    unknown = Client().get("/invitations/nobody-issued-this/")
    assert unknown.status_code == 404
    assert "Harbour" not in text_of(unknown)
