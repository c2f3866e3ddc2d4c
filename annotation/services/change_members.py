"""An owner lets people into a project, changes their roles, or lets them go."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from django.db import transaction

from annotation.models import Membership, Project, Role
from annotation.permissions import Verb, require
from annotation.refusals import Conflict, Invalid, NotFound
from annotation.services.events import log

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@transaction.atomic
def set_roles(*, project: Project, person: User, roles: Collection[str], by: User | None) -> Membership:
    """Make the person a member with exactly these roles, or change the roles of a member.

    Setting what is set is no act. Raises Invalid for an unknown role, Conflict (code `last_owner`) where
    the project would be left without an owner.
    """
    project = _locked(project, by)
    unknown = sorted(set(roles) - set(Role.values))
    if unknown:
        raise Invalid(f"There is no role {unknown[0]!r}; roles are {', '.join(Role.values)}.", field="roles")
    membership = Membership.objects.filter(project=project, user=person).first()
    before = sorted(membership.roles) if membership else []
    wanted = sorted(set(roles))
    if membership is not None and before == wanted:
        return membership
    if membership is None:
        membership, verb = Membership.objects.create(project=project, user=person, roles=wanted), "add member"
    else:
        if Role.OWNER not in wanted:
            _keep_an_owner(membership)
        membership.roles, verb = wanted, "change member"
        membership.save(update_fields=["roles"])
    _log(membership, by, verb, before, wanted)
    return membership


@transaction.atomic
def remove_member(*, membership: Membership, by: User | None) -> None:
    """End a membership; what the person has judged stays.

    Raises Conflict (code `last_owner`) where the project would be left without an owner, NotFound where
    somebody was quicker.
    """
    _locked(membership.project, by)
    if not Membership.objects.filter(pk=membership.pk).exists():
        raise NotFound("That person is no longer a member.")
    _keep_an_owner(membership)
    _log(membership, by, "remove member", sorted(membership.roles), [])
    membership.delete()


def is_last_owner(membership: Membership) -> bool:
    """Whether the project would be left without an owner if this member were one no more."""
    others = Membership.objects.filter(project_id=membership.project_id).exclude(pk=membership.pk)
    return Role.OWNER in membership.role_set and not any(Role.OWNER in other.role_set for other in others)


def _locked(project: Project, by: User | None) -> Project:
    """The project with its row locked: of two owners who let each other go, one is told to stay."""
    require(by, project, Verb.MANAGE_MEMBERS)
    return Project.objects.select_for_update(of=("self",)).get(pk=project.pk)


def _keep_an_owner(membership: Membership) -> None:
    if is_last_owner(membership):
        raise Conflict("A project keeps an owner: make somebody else one first.", code="last_owner")


def _log(membership: Membership, by: User | None, verb: str, before: list[str], after: list[str]) -> None:
    log(
        project=membership.project,
        actor=by,
        verb=verb,
        target=membership,
        data={"person": membership.user.get_username(), "roles": [before, after]},
    )
