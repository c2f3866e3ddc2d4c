"""A manager asks an assessor to judge the peer summaries of a document set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.db import transaction

from annotation.assessing.services.seat import Seat, items_of, require_may_assess, seat_all
from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Invalid
from annotation.models import Comparison, DocumentSet, Sitting
from annotation.models.base import new_seed

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
    require_may_assess(assessor, project)
    wanted = Comparison.objects.filter(peer__document_set=document_set)
    if comparisons is not None:
        wanted = wanted.filter(pk__in=[comparison.pk for comparison in comparisons])
    items = items_of(wanted).get(document_set.pk, [])
    if not items or (comparisons is not None and len(items) < len({c.pk for c in comparisons})):
        raise Invalid(
            f"{document_set.external_id} has no such peer summary compared with a model summary.",
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
