"""An open form takes the pen of an assignment, and shows that somebody is at it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from django.db import transaction

from annotation.assessing.services.act_turn import last_saved, lease, may_write
from annotation.core.guidelines import current_id
from annotation.core.refusals import Conflict
from annotation.models import Assignment

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@dataclass(frozen=True, slots=True)
class Pen:
    """Which form may write in an assignment, the last act heard from it, and how long the lease runs, if any."""

    client_id: str
    seq: int
    lease_until: datetime | None

    def as_json(self) -> dict[str, object]:
        return {"pen": self.client_id, "seq": self.seq, "lease_until": self.lease_until}


@transaction.atomic
def take_pen(*, assignment: Assignment, by: User, client_id: str, seen_pen: str) -> Pen:
    """Give the pen to a form that was just opened, or opened again.

    `seen_pen` is who had it when the form was made. The form numbers its next act `seq` + 1; what it still
    holds up to `seq` has been saved. Raises Conflict (code `elsewhere`, `pen` in the details) where yet another
    form has taken it since; `closed`, `unassigned` and NotFound as `save_acts`.
    """
    assignment = (
        Assignment.objects.select_for_update(of=("self",))
        .select_related("document_set__project")
        .get(pk=assignment.pk)
    )
    may_write(assignment, by)
    if assignment.pen not in ("", seen_pen, client_id):
        raise Conflict(
            "This set was opened in another tab or on another device.",
            code="elsewhere",
            details={"pen": assignment.pen},
        )
    if assignment.pen != client_id:
        assignment.pen, assignment.pen_seq = client_id, last_saved(assignment, client_id)
    # What the form shows from now on; what is said in it is kept with that version.
    assignment.guideline_id = current_id(assignment.document_set.project)
    _renew(assignment, "pen", "pen_seq", "guideline")
    return Pen(assignment.pen, assignment.pen_seq, assignment.lease_until)


@transaction.atomic
def keep_alive(*, assignment: Assignment, by: User) -> Pen:
    """Renew the lease of a person who is reading and has not acted; tells which form has the pen.

    Whichever of their forms it is: the person is at it. Raises as `take_pen`, save `elsewhere`.
    """
    assignment = (
        Assignment.objects.select_for_update(of=("self",))
        .select_related("document_set__project")
        .get(pk=assignment.pk)
    )
    may_write(assignment, by)
    _renew(assignment)
    return Pen(assignment.pen, assignment.pen_seq, assignment.lease_until)


def _renew(assignment: Assignment, *columns: str) -> None:
    renewed = lease(assignment)
    for name, moment in renewed.items():
        setattr(assignment, name, moment)
    assignment.save(update_fields=[*columns, *renewed])
