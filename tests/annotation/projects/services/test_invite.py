from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from django.utils import timezone

from annotation.core.permissions import roles_in
from annotation.core.refusals import Conflict, Invalid, NotFound
from annotation.models import Event, Invitation, Membership, Role
from annotation.projects.services import invite as inviting
from annotation.projects.services.accept_invitation import (
    accept_invitation,
    accept_with_new_account,
    open_invitation,
)
from annotation.projects.services.change_members import remove_member, set_roles
from annotation.projects.services.invite import invite, revoke_invitation

if TYPE_CHECKING:
    from tests.annotation.cast import World

PASSWORD = "six tall harbours"


def link(world: World, *roles: str, note: str = "") -> str:
    return invite(project=world.project, roles=roles or ["reviewer"], by=world.olga, note=note).secret


def test_the_secret_is_kept_as_a_hash_alone(world: World) -> None:
    issued = invite(project=world.project, roles=["reviewer"], by=world.olga, note="Dan of the quarry")
    row = Invitation.objects.get()
    assert issued.invitation == row
    assert row.secret_hash == inviting.hash_of(issued.secret)
    stored = [str(value) for value in Invitation.objects.values().get().values()]
    told = str(Event.objects.get(verb="invite").data)
    assert not any(issued.secret in text for text in [*stored, told])


def test_whoever_holds_the_link_comes_in_with_its_roles(world: World) -> None:
    secret = link(world, "assessor", "reviewer", note="Dan")
    membership = accept_invitation(secret=secret, by=world.dan)
    assert membership.role_set == {Role.ASSESSOR, Role.REVIEWER}
    assert roles_in(world.dan, world.project) == membership.role_set
    row = Invitation.objects.get()
    assert (row.accepted_by, row.accepted_at is not None) == (world.dan, True)
    event = Event.objects.get(verb="accept invitation")
    assert (event.actor, event.data["invited_by"], event.data["for"]) == (world.dan, "olga", "Dan")


def test_a_link_runs_out_after_14_days(world: World) -> None:
    secret = link(world)
    row = Invitation.objects.get()
    assert row.expires_at - row.created_at == pytest.approx(timedelta(days=14), abs=timedelta(seconds=5))
    Invitation.objects.update(expires_at=timezone.now())
    with pytest.raises(Conflict) as refused:
        accept_invitation(secret=secret, by=world.dan)
    assert refused.value.code == "expired"


@pytest.mark.parametrize("secret", ["", "nothing", "\ud800", "x" * 5000])
def test_a_secret_that_nobody_issued_is_not_found(world: World, secret: str) -> None:
    link(world)
    with pytest.raises(NotFound):
        open_invitation(secret)


def test_a_member_is_refused_in_words_and_the_link_stays_good(world: World) -> None:
    secret = link(world, "manager")
    with pytest.raises(Conflict) as refused:
        accept_invitation(secret=secret, by=world.rex)
    assert refused.value.code == "is_member"
    assert "Ask an owner" in refused.value.message
    assert roles_in(world.rex, world.project) == {Role.REVIEWER}
    assert open_invitation(secret).accepted_at is None


def test_what_was_accepted_cannot_be_taken_back(world: World) -> None:
    accept_invitation(secret=link(world), by=world.dan)
    with pytest.raises(Conflict) as refused:
        revoke_invitation(invitation=Invitation.objects.get(), by=world.olga)
    assert refused.value.code == "accepted"


@pytest.mark.parametrize(
    ("roles", "note", "field"),
    [
        ([], "", "roles"),
        (["king"], "", "roles"),
        (["viewer"], "x" * 121, "note"),
        (["viewer"], "a\0b", "note"),
    ],
)
def test_what_makes_no_invitation(world: World, roles: list[str], note: str, field: str) -> None:
    with pytest.raises(Invalid) as refused:
        invite(project=world.project, roles=roles, by=world.olga, note=note)
    assert refused.value.field == field


def test_only_so_many_wait_at_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inviting, "MOST_WAITING", 2)
    link(world)
    revoke_invitation(invitation=Invitation.objects.get(), by=world.olga)
    link(world)
    link(world)
    with pytest.raises(Conflict) as refused:
        link(world)
    assert refused.value.code == "too_many"


@pytest.mark.parametrize("way", ["removed", "no owner any more"])
def test_an_owners_links_go_with_their_ownership(world: World, way: str) -> None:
    set_roles(project=world.project, person=world.mona, roles=["owner"], by=world.olga)
    secret = link(world, "owner")
    membership = Membership.objects.get(project=world.project, user=world.olga)
    if way == "removed":
        remove_member(membership=membership, by=world.mona)
    else:
        set_roles(project=world.project, person=world.olga, roles=["viewer"], by=world.mona)
    with pytest.raises(Conflict) as refused:
        accept_invitation(secret=secret, by=world.dan)
    assert refused.value.code == "revoked"
    assert Event.objects.get(verb="revoke invitation").actor == world.mona


@pytest.mark.parametrize(
    ("username", "password", "field"),
    [
        ("eve", "short", "password"),
        ("eve", "1234567890123", "password"),
        ("evelina-berg", "evelina-berg", "password"),
        ("no spaces", PASSWORD, "username"),
        ("", PASSWORD, "username"),
        ("x" * 151, PASSWORD, "username"),
    ],
)
def test_an_account_needs_a_name_and_a_good_password(
    world: World, username: str, password: str, field: str
) -> None:
    secret = link(world)
    with pytest.raises(Invalid) as refused:
        accept_with_new_account(secret=secret, username=username, password=password)
    assert refused.value.field == field
    assert open_invitation(secret).accepted_at is None


@pytest.mark.parametrize("username", ["rex", "Rex"])
def test_a_taken_name_is_refused_whatever_its_case(world: World, username: str) -> None:
    secret = link(world)
    with pytest.raises(Conflict) as refused:
        accept_with_new_account(secret=secret, username=username, password=PASSWORD)
    assert refused.value.code == "name_taken"
    assert open_invitation(secret).accepted_at is None
