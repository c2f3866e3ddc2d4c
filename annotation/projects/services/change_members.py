"""Adding members, changing their roles, and removing them.

When somebody stops being an owner or a member, their open invitations are revoked.
"""

from __future__ import annotations

from collections.abc import Collection

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict, Invalid, NotFound
from annotation.models import Invitation, Membership, Project, Role


@transaction.atomic
def add_member(*, project: Project, username: str, roles: Collection[str], by: User | None) -> Membership:
    """Make an existing account a member, by user name.

    Raises Invalid if no role is given or there is no active account with this name. Raises Conflict (code `is_member`)
    if the person is a member, and the errors of `set_roles`.
    """
    project = _locked(project, by)
    person = User.objects.filter(username=username.strip(), is_active=True).first()
    if person is None:
        raise Invalid(
            f"Nobody here is called {username.strip()!r}. Invite them by link instead.", field="username"
        )
    if Membership.objects.filter(project=project, user=person).exists():
        raise Conflict(f"{person.username} is a member already: change their roles.", code="is_member")
    return set_roles(project=project, person=person, roles=checked_roles(roles), by=by)


@transaction.atomic
def change_roles(
    *, membership: Membership, roles: Collection[str], by: User | None, seen: Collection[str] | None = None
) -> Membership:
    """Replace the roles of a member.

    `seen` are the roles on the caller's screen. If the roles have changed meanwhile, nothing is written, and Conflict
    (code `newer_roles`) is raised with both versions in its details. Raises NotFound if the person is no longer a
    member, and the errors of `set_roles`.
    """
    project = _locked(membership.project, by)
    now = Membership.objects.filter(pk=membership.pk).select_related("user", "project").first()
    if now is None:
        raise NotFound("That person is no longer a member.")
    wanted = checked_roles(roles)
    if seen is not None and set(seen) != set(now.roles):
        raise Conflict(
            f"Someone changed the roles of {now.user.username} after you opened the page. Yours are not saved.",
            code="newer_roles",
            details={"yours": wanted, "theirs": sorted(now.roles)},
        )
    return set_roles(project=project, person=now.user, roles=wanted, by=by)


@transaction.atomic
def set_roles(*, project: Project, person: User, roles: Collection[str], by: User | None) -> Membership:
    """Make the person a member with these roles, or change the roles of a member.

    Setting the same roles changes and logs nothing. Raises Invalid for an unknown role or a new member with a closed
    account, and Conflict (code `last_owner`) if no owner would remain.
    """
    project = _locked(project, by)
    _refuse_unknown(roles)
    membership = Membership.objects.filter(project=project, user=person).first()
    before = sorted(membership.roles) if membership else []
    wanted = sorted(set(roles))
    if membership is not None and before == wanted:
        return membership
    if membership is None:
        if not person.is_active:
            raise Invalid(f"The account of {person.get_username()} is closed.", field="username")
        membership, verb = Membership.objects.create(project=project, user=person, roles=wanted), "add member"
    else:
        if Role.OWNER not in wanted:
            _keep_an_owner(membership)
        membership.roles, verb = wanted, "change member"
        membership.save(update_fields=["roles"])
        if Role.OWNER in before and Role.OWNER not in wanted:
            _revoke_invitations(membership, by)
    _log(membership, by, verb, before, wanted)
    return membership


@transaction.atomic
def remove_member(*, membership: Membership, by: User | None) -> None:
    """Remove a member and keep their answers.

    Raises Conflict (code `last_owner`) if no owner would remain, and NotFound if the member was removed already.
    """
    _locked(membership.project, by)
    if not Membership.objects.filter(pk=membership.pk).exists():
        raise NotFound("That person is no longer a member.")
    _keep_an_owner(membership)
    _log(membership, by, "remove member", sorted(membership.roles), [])
    _revoke_invitations(membership, by)
    membership.delete()


def is_last_owner(membership: Membership) -> bool:
    """Return True if this member is the only owner."""
    others = Membership.objects.filter(project_id=membership.project_id).exclude(pk=membership.pk)
    return Role.OWNER in membership.role_set and not any(Role.OWNER in other.role_set for other in others)


def checked_roles(roles: Collection[str]) -> list[str]:
    """Sort the roles by name and remove duplicates. Raises Invalid if a role is unknown or if no role is given."""
    _refuse_unknown(roles)
    if not roles:
        raise Invalid("Choose at least one role.", field="roles")
    return sorted(set(roles))


def _refuse_unknown(roles: Collection[str]) -> None:
    unknown = sorted(set(roles) - set(Role.values))
    if unknown:
        raise Invalid(f"There is no role {unknown[0]!r}; roles are {', '.join(Role.values)}.", field="roles")


def _revoke_invitations(membership: Membership, by: User | None) -> None:
    waiting = Invitation.objects.select_for_update().filter(
        project=membership.project, by=membership.user_id, accepted_at=None, revoked_at=None
    )
    for invitation in waiting:
        invitation.revoked_at = timezone.now()
        invitation.save(update_fields=["revoked_at"])
        log(
            project=membership.project,
            actor=by,
            verb="revoke invitation",
            target=invitation,
            data={
                "for": invitation.note,
                "roles": invitation.roles,
                "because": "its owner may no longer invite",
            },
        )


def _locked(project: Project, by: User | None) -> Project:
    """Lock the project, so that two owners cannot remove each other at the same time."""
    require(by, project, Verb.MANAGE_MEMBERS)
    return Project.objects.select_for_update(of=("self",)).get(pk=project.pk)


def _keep_an_owner(membership: Membership) -> None:
    if is_last_owner(membership):
        raise Conflict("A project needs an owner. Make someone else an owner first.", code="last_owner")


def _log(membership: Membership, by: User | None, verb: str, before: list[str], after: list[str]) -> None:
    log(
        project=membership.project,
        actor=by,
        verb=verb,
        target=membership,
        data={"person": membership.user.get_username(), "roles": [before, after]},
    )
