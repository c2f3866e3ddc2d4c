"""A manager asks an assessor to judge the peer summaries of a document set."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.db import transaction

from annotation.models import Comparison, DocumentSet, Project, Role, Sitting
from annotation.permissions import Verb, require, roles_in
from annotation.refusals import Invalid
from annotation.services.events import log
from annotation.services.seat import Seat, items_of, seat_all

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@transaction.atomic
def assign(
    *,
    document_set: DocumentSet,
    assessor: User,
    by: User | None,
    comparisons: Sequence[Comparison] | None = None,
    seed: int | None = None,
) -> Sitting:
    """Give an assessor a sitting on a document set: all its comparisons, or those named.

    Peer summaries stand in falling order of their target length, at random (seeded) within one length; some
    come twice where the project wants that. What is in the sitting already stays. Raises Conflict (code
    `closed`) where the assessor has closed the set, Invalid where there is nothing to compare or the person
    is no assessor of the project.
    """
    project = document_set.project
    require(by, project, Verb.ASSIGN)
    require_assessor(assessor, project)
    wanted = Comparison.objects.filter(peer__document_set=document_set)
    if comparisons is not None:
        wanted = wanted.filter(pk__in=[comparison.pk for comparison in comparisons])
    items = items_of(wanted).get(document_set.pk, [])
    if not items or (comparisons is not None and len(items) < len({c.pk for c in comparisons})):
        raise Invalid(
            f"{document_set.external_id} has no such peer summary held against a model summary.",
            field="document_set",
        )
    seat = Seat(
        document_set_id=document_set.pk,
        person_id=assessor.pk,
        items=tuple(items),
        seed=new_seed() if seed is None else seed,
    )
    (sitting,) = seat_all(project=project, seats=[seat])
    log(
        project=project,
        actor=by,
        verb="assign",
        target=sitting,
        data={
            "assessor": assessor.username,
            "document_set": document_set.external_id,
            "comparisons": len(items),
        },
    )
    return sitting


def require_assessor(person: User, project: Project) -> None:
    """Raises Invalid unless the person may be given work in the project."""
    if Role.ASSESSOR not in roles_in(person, project):
        raise Invalid(f"{person.username} is not an assessor of {project.name}.", field="assessor")


def new_seed() -> int:
    """A seed for the order of a sitting or for a draw, fit for every database and for a form's field."""
    return secrets.randbits(32)
