"""Say which member wrote a system's summaries, so that nobody judges their own unawares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Q

from annotation.assessing.services.seat import flag_own_work
from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Invalid
from annotation.models import Assignment, Membership, System

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@transaction.atomic
def name_author(*, system: System, person: User | None, by: User | None) -> System:
    """Name the member who wrote a system's summaries, or nobody; twice changes nothing.

    All assignments say at once what is their assessor's own work. Raises Invalid where the person is no member
    of the project. Closed to the blind: it tells who wrote what.
    """
    project = system.project
    require(by, project, Verb.NAME_AUTHORS)
    system = System.objects.select_for_update(of=("self",)).select_related("project").get(pk=system.pk)
    if person is not None and not Membership.objects.filter(project=project, user=person).exists():
        raise Invalid(f"{person.username} is not a member of {project.name}.", field="person")
    if system.person_id == (person.pk if person else None):
        return system
    before, system.person = system.person, person
    system.save(update_fields=["person"])
    flag_own_work(
        Assignment.objects.filter(Q(comparison__peer__system=system) | Q(comparison__model__system=system))
    )
    log(
        project=project,
        actor=by,
        verb="name author",
        target=system,
        data={
            "person": [before.username if before else None, person.username if person else None],
        },
    )
    return system
