"""The people of the sample project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from annotation.models import Membership, Project, Role


@dataclass(frozen=True, slots=True)
class DemoPerson:
    """A person of the sample project."""

    username: str
    first_name: str
    does: str


MONA = DemoPerson("mona", "Mona", "runs the study")
ANA = DemoPerson("ana", "Ana", "assesses summaries")
CLEO = DemoPerson("cleo", "Cleo", "reviews and adjudicates")
BEN = DemoPerson("ben", "Ben", "assessed and reviewed before")
DORA = DemoPerson("dora", "Dora", "reviewed before")
DEMO_PEOPLE = (MONA, ANA, CLEO)


@transaction.atomic
def add_people(project: Project, roles: Mapping[DemoPerson, tuple[Role, ...]]) -> None:
    """Add these people to a project and create missing accounts. Existing members stay unchanged."""
    for person, theirs in roles.items():
        user, is_new = User.objects.get_or_create(
            username=_username(person),
            defaults={"first_name": person.first_name, "is_active": settings.DEMO_SIGN_IN},
        )
        if is_new:
            user.set_unusable_password()
            user.save(update_fields=["password"])
        Membership.objects.get_or_create(
            project=project, user=user, defaults={"roles": [str(role) for role in theirs]}
        )


def user_of(person: DemoPerson) -> User:
    return User.objects.get(username=_username(person))


def _username(person: DemoPerson) -> str:
    # Outside of the demo, a prefix tells sample accounts from other accounts.
    return person.username if settings.DEMO_SIGN_IN else f"sample-{person.username}"
