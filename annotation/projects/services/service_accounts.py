"""Accounts for pipelines: they hold roles in one project and one token, and nobody signs in as them."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.core.accounts.clients import Client
from annotation.core.accounts.events import NOWHERE
from annotation.core.accounts.tokens import DAYS, end_tokens, issue_token
from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict, Invalid
from annotation.models import Membership, Project, ServiceAccount
from annotation.projects.services.change_members import checked_roles, set_roles

if TYPE_CHECKING:
    from knox.models import AuthToken

LONGEST_NAME = 40
NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9_-]{{0,{LONGEST_NAME - 1}}}")


class MadeService(NamedTuple):
    """A service and its token, which is known at this moment alone: the row keeps a hash of it."""

    membership: Membership
    row: AuthToken
    token: str


@transaction.atomic
def make_service(
    *,
    project: Project,
    name: str,
    roles: Collection[str],
    by: User,
    days: int = DAYS,
    client: Client = NOWHERE,
) -> MadeService:
    """Make a service with these roles in the project, and its token; one that was removed comes back under its name.

    Its user name is the name, "@" and the project's slug. Raises Invalid for a name, roles or days that will not do,
    Conflict (code `is_member`) where the project has a service of that name, (code `name_taken`) where somebody else
    has its user name.
    """
    require(by, project, Verb.MANAGE_MEMBERS)
    name = name.strip()
    if not NAME.fullmatch(name):
        raise Invalid(
            f"A service's name has at most {LONGEST_NAME} letters, digits, - and _, such as nightly.",
            field="name",
        )
    wanted = checked_roles(roles)
    # Locked, so that of two owners who make the same at once one is told.
    project = Project.objects.select_for_update(of=("self",)).get(pk=project.pk)
    service = ServiceAccount.objects.select_related("user").filter(project=project, name__iexact=name).first()
    if service is None:
        service = _new(project, name, by)
    elif Membership.objects.filter(project=project, user=service.user).exists():
        raise Conflict(f"This project has a service called {service.name}.", code="is_member")
    else:
        service.user.is_active = True
        service.user.save(update_fields=["is_active"])
    membership = set_roles(project=project, person=service.user, roles=wanted, by=by)
    row, token = issue_token(person=service.user, name=name, project=project, days=days, by=by, client=client)
    return MadeService(membership, row, token)


@transaction.atomic
def renew_token(
    *, membership: Membership, by: User, days: int = DAYS, client: Client = NOWHERE
) -> MadeService:
    """Give a service another token; the one before ends.

    Raises Invalid for its days, Conflict (code `no_service`) for a person.
    """
    require(by, membership.project, Verb.MANAGE_MEMBERS)
    locked = ServiceAccount.objects.select_for_update(of=("self",)).select_related("user")
    service = locked.filter(user=membership.user_id, project=membership.project_id).first()
    if service is None:
        raise Conflict("This member is not a service. People create their own tokens.", code="no_service")
    end_tokens(person=service.user, by=by, client=client)
    row, token = issue_token(
        person=service.user, name=service.name, project=membership.project, days=days, by=by, client=client
    )
    log(
        project=membership.project,
        actor=by,
        verb="renew service token",
        target=membership,
        data={"person": service.user.get_username()},
    )
    return MadeService(membership, row, token)


def _new(project: Project, name: str, by: User) -> ServiceAccount:
    username = f"{name}@{project.slug}"
    if User.objects.filter(username__iexact=username).exists():
        raise Conflict(f"The name {username} is taken. Choose another name.", code="name_taken")
    user = User(username=username)
    user.set_unusable_password()
    user.save()
    return ServiceAccount.objects.create(
        user=user, project=project, name=name, made_by=by, made_at=timezone.now()
    )
