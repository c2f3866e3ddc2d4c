"""An open set is taken from its assessor: what was said in it is kept and counts for nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from annotation.core.events import log
from annotation.core.permissions import Verb, has_sight, require
from annotation.core.refusals import Conflict
from annotation.models import Sitting

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@transaction.atomic
def unassign(*, sitting: Sitting, by: User | None) -> Sitting:
    """Take an open set from its assessor; twice changes nothing. Raises Conflict (code `closed`)."""
    project = sitting.document_set.project
    require(by, project, Verb.ASSIGN)
    sitting = held(sitting)
    if sitting.unassigned_at is None:
        sitting.lease_until = None
        put_away(sitting)
        log(project=project, actor=by, verb="unassign", target=sitting, data=told(sitting))
    return sitting


def held(sitting: Sitting) -> Sitting:
    """The sitting as it stands, locked. Raises Conflict (code `closed`) where it is submitted."""
    found = (
        Sitting.objects.select_for_update(of=("self",))
        .select_related("document_set__project", "assessor")
        .get(pk=sitting.pk)
    )
    if found.closed_at is not None:
        raise Conflict(
            f"{found.assessor} has closed {found.document_set.external_id}. "
            "Submitted judgments cannot be withdrawn.",
            code="closed",
        )
    return found


def put_away(sitting: Sitting) -> None:
    """Take a locked sitting from its assessor, who is blind to it no more if their roles show them anything."""
    sitting.unassigned_at = timezone.now()
    sitting.may_have_seen |= has_sight(sitting.assessor, sitting.document_set.project)
    sitting.save(update_fields=["unassigned_at", "lease_until", "may_have_seen"])


def told(sitting: Sitting) -> dict[str, object]:
    """What the log says of a sitting."""
    return {"assessor": sitting.assessor.username, "document_set": sitting.document_set.external_id}
