"""A manager asks an assessor to judge the peer summaries of a document set."""

from __future__ import annotations

import random
import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.db import transaction

from annotation.models import Assignment, Comparison, DocumentSet, Role, Sitting
from annotation.permissions import Verb, require, roles_in
from annotation.refusals import Conflict, Invalid
from annotation.services.events import log

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

    Peer summaries stand in falling order of their target length, at random (seeded) within one
    length. What is in the sitting already stays as it is. Raises Conflict (code `closed`) where
    the assessor has closed the set, Invalid where there is nothing to compare or the person is
    no assessor of the project.
    """
    project = document_set.project
    require(by, project, Verb.ASSIGN)
    if Role.ASSESSOR not in roles_in(assessor, project):
        raise Invalid(f"{assessor.username} is not an assessor of {project.name}.", field="assessor")
    wanted = list(comparisons) if comparisons is not None else _comparisons_of(document_set)
    if not wanted or any(c.peer.document_set_id != document_set.pk for c in wanted):
        raise Invalid(
            f"{document_set.external_id} has no such peer summary held against a model summary.",
            field="document_set",
        )
    sitting, _ = Sitting.objects.get_or_create(
        assessor=assessor,
        document_set=document_set,
        defaults={"seed": secrets.randbits(32) if seed is None else seed},
    )
    if sitting.closed_at is not None:
        raise Conflict(f"{assessor.username} has already closed {document_set.external_id}.", code="closed")
    there = set(sitting.assignments.values_list("comparison_id", flat=True))
    new = [comparison for comparison in wanted if comparison.pk not in there]
    random.Random(sitting.seed).shuffle(new)
    new.sort(key=lambda comparison: -(comparison.peer.target_words or 0))
    Assignment.objects.bulk_create(
        [
            Assignment(sitting=sitting, comparison=comparison, position=len(there) + place)
            for place, comparison in enumerate(new, start=1)
        ]
    )
    log(
        project=project,
        actor=by,
        verb="assign",
        target=sitting,
        data={
            "assessor": assessor.username,
            "document_set": document_set.external_id,
            "comparisons": len(new),
        },
    )
    return sitting


def _comparisons_of(document_set: DocumentSet) -> list[Comparison]:
    return list(
        Comparison.objects.filter(peer__document_set=document_set)
        .select_related("peer")
        .order_by("public_id")
    )
