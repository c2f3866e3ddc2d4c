"""Accounts of pipelines: a token and roles in one project, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.contrib.auth.models import User
from django.test import Client
from knox.models import AuthToken
from rest_framework.test import APIClient

from annotation.accounts.own_account import reset_path
from annotation.core.refusals import Conflict, Invalid, NotAllowed
from annotation.models import AccountEvent, Event, Membership, Project, Role
from annotation.projects.services.change_members import add_member, change_roles, remove_member
from annotation.projects.services.service_accounts import MadeService, make_service, renew_token

if TYPE_CHECKING:
    from tests.annotation.cast import World


@pytest.fixture
def nightly(world: World) -> MadeService:
    return make_service(project=world.project, name="nightly", roles=[Role.MANAGER], by=world.olga)


def with_token(token: str) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {token}")
    return client


def test_its_token_opens_its_project_with_its_roles_and_nothing_else(
    world: World, nightly: MadeService
) -> None:
    Project.objects.create(slug="elsewhere", name="Elsewhere")
    program = with_token(nightly.token)
    assert program.get("/api/v1/projects/harbour/runs/").status_code == 200
    # A manager does not manage members, and tokens for one project make none.
    assert program.get("/api/v1/projects/harbour/members/").status_code == 403
    assert program.get("/api/v1/projects/elsewhere/runs/").status_code == 404
    assert program.post("/api/v1/account/tokens/", {}, format="json").status_code == 403
    told = {"secret": "s"}
    assert program.post("/api/v1/invitations/accept/", told, format="json").status_code == 403


def test_nobody_signs_in_as_it_nor_gives_it_a_password(nightly: MadeService) -> None:
    user = nightly.membership.user
    assert user.username == "nightly@harbour"
    assert not user.has_usable_password()
    assert Client().post("/sign-in/", {"username": user.username, "password": ""}).status_code == 422
    with pytest.raises(Conflict, match="service"):
        reset_path(person=user, by=None)


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADJUDICATOR, Role.REVIEWER, Role.ASSESSOR])
def test_it_never_gets_a_role_that_answers(world: World, nightly: MadeService, role: Role) -> None:
    with pytest.raises(Invalid, match="answers nothing"):
        make_service(project=world.project, name="other", roles=[role], by=world.olga)
    with pytest.raises(Invalid, match="answers nothing"):
        change_roles(membership=nightly.membership, roles=[role], by=world.olga)
    assert not User.objects.filter(username__startswith="other").exists()


def test_it_belongs_to_no_other_project(world: World, nightly: MadeService) -> None:
    other = Project.objects.create(slug="elsewhere", name="Elsewhere")
    Membership.objects.create(project=other, user=world.olga, roles=["owner"])
    with pytest.raises(Invalid, match="another project"):
        add_member(project=other, username="nightly@harbour", roles=["viewer"], by=world.olga)


def test_owners_alone_make_one(world: World, nightly: MadeService) -> None:
    with pytest.raises(NotAllowed):
        make_service(project=world.project, name="mine", roles=["viewer"], by=world.mona)
    with pytest.raises(NotAllowed):
        renew_token(membership=nightly.membership, by=world.mona)


def test_another_token_ends_the_one_before(world: World, nightly: MadeService) -> None:
    again = renew_token(membership=nightly.membership, by=world.olga, days=7)
    assert with_token(nightly.token).get("/api/v1/projects/harbour/runs/").status_code == 401
    assert with_token(again.token).get("/api/v1/projects/harbour/runs/").status_code == 200
    assert AuthToken.objects.filter(user=nightly.membership.user).count() == 1
    kinds = AccountEvent.objects.filter(person=nightly.membership.user).order_by("pk")
    assert [(row.kind, row.by) for row in kinds] == [
        ("token", world.olga),
        ("token end", world.olga),
        ("token", world.olga),
    ]
    assert Event.objects.filter(verb="renew service token", actor=world.olga).count() == 1
    kept = repr([*AccountEvent.objects.values(), *Event.objects.values()])
    assert again.token not in kept


def test_a_persons_token_is_their_own_matter(world: World) -> None:
    with pytest.raises(Conflict, match="not a service"):
        renew_token(membership=world.project.memberships.get(user=world.rex), by=world.olga)


def test_it_ends_with_its_membership_and_comes_back_under_its_name(
    world: World, nightly: MadeService
) -> None:
    remove_member(membership=nightly.membership, by=world.olga)
    assert with_token(nightly.token).get("/api/v1/projects/harbour/runs/").status_code == 401
    assert not User.objects.get(username="nightly@harbour").is_active
    again = make_service(project=world.project, name="nightly", roles=["viewer"], by=world.olga)
    assert again.membership.user == nightly.membership.user
    assert with_token(again.token).get("/api/v1/projects/harbour/runs/").status_code == 200


@pytest.mark.parametrize("name", ["", "two words", "-dash", "x" * 41, "näme"])
def test_a_name_that_will_not_do_makes_nothing(world: World, name: str) -> None:
    with pytest.raises(Invalid, match="name has at most"):
        make_service(project=world.project, name=name, roles=["viewer"], by=world.olga)


def test_a_name_is_used_once(world: World, nightly: MadeService) -> None:
    with pytest.raises(Conflict, match="has a service"):
        make_service(project=world.project, name="Nightly", roles=["viewer"], by=world.olga)


def test_the_page_shows_the_token_once_and_lists_the_service(world: World) -> None:
    client = Client()
    client.force_login(world.olga)
    made = client.post(
        "/p/harbour/settings/people/services/add/", {"name": "nightly", "roles": "viewer", "days": "30"}
    )
    page = made.content.decode()
    assert (made.status_code, "no-store" in made["Cache-Control"]) == (200, True)
    assert "nightly@harbour" in page
    [row] = AuthToken.objects.filter(user__username="nightly@harbour")
    assert row.token_key in page
    listed = client.get("/p/harbour/settings/people/").content.decode()
    assert row.token_key not in listed
    assert '<span class="chip">service</span>' in listed
    refused = client.post(
        "/p/harbour/settings/people/services/add/", {"name": "weekly", "roles": "viewer", "days": "366"}
    )
    assert refused.status_code == 422
    assert "valid for 1 to 365 days" in refused.content.decode()
    assert not User.objects.filter(username="weekly@harbour").exists()


def test_the_api_makes_one_and_says_which_members_are(world: World) -> None:
    client = APIClient()
    client.force_login(world.olga)
    address = "/api/v1/projects/harbour/services/"
    made = client.post(address, {"name": "nightly", "roles": ["viewer"], "days": 30}, format="json")
    assert made.status_code == 201, made.content
    assert made.json()["member"]["is_service"] is True
    assert with_token(made.json()["token"]).get("/api/v1/projects/harbour/").status_code == 200
    listed = client.get("/api/v1/projects/harbour/members/").json()["results"]
    assert {row["username"] for row in listed if row["is_service"]} == {"nightly@harbour"}
