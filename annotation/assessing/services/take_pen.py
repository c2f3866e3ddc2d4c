"""An open form takes the pen of a sitting, and shows that somebody is at it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from django.db import transaction

from annotation.assessing.services.act_turn import last_saved, lease, may_write
from annotation.core.guidelines import current_id
from annotation.core.refusals import Conflict
from annotation.models import Sitting

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@dataclass(frozen=True, slots=True)
class Pen:
    """Which form may write in a sitting, the last act heard from it, and how long the lease runs, if any."""

    client_id: str
    seq: int
    lease_until: datetime | None

    def as_json(self) -> dict[str, object]:
        return {"pen": self.client_id, "seq": self.seq, "lease_until": self.lease_until}


@transaction.atomic
def take_pen(*, sitting: Sitting, by: User, client_id: str, seen_pen: str) -> Pen:
    """Give the pen to a form that was just opened, or opened again.

    `seen_pen` is who had it when the form was made. The form numbers its next act `seq` + 1; what it still
    holds up to `seq` has been saved. Raises Conflict (code `elsewhere`, `pen` in the details) where yet another
    form has taken it since; `closed`, `unassigned` and NotFound as `save_acts`.
    """
    sitting = (
        Sitting.objects.select_for_update(of=("self",))
        .select_related("document_set__project")
        .get(pk=sitting.pk)
    )
    may_write(sitting, by)
    if sitting.pen not in ("", seen_pen, client_id):
        raise Conflict(
            "This set was opened in another tab or on another device.",
            code="elsewhere",
            details={"pen": sitting.pen},
        )
    if sitting.pen != client_id:
        sitting.pen, sitting.pen_seq = client_id, last_saved(sitting, client_id)
    # What the form shows from now on; what is said in it is kept with that version.
    sitting.guideline_id = current_id(sitting.document_set.project)
    _renew(sitting, "pen", "pen_seq", "guideline")
    return Pen(sitting.pen, sitting.pen_seq, sitting.lease_until)


@transaction.atomic
def keep_alive(*, sitting: Sitting, by: User) -> Pen:
    """Renew the lease of a person who is reading and has not acted; tells which form has the pen.

    Whichever of their forms it is: the person is at it. Raises as `take_pen`, save `elsewhere`.
    """
    sitting = (
        Sitting.objects.select_for_update(of=("self",))
        .select_related("document_set__project")
        .get(pk=sitting.pk)
    )
    may_write(sitting, by)
    _renew(sitting)
    return Pen(sitting.pen, sitting.pen_seq, sitting.lease_until)


def _renew(sitting: Sitting, *columns: str) -> None:
    renewed = lease(sitting)
    for name, moment in renewed.items():
        setattr(sitting, name, moment)
    sitting.save(update_fields=[*columns, *renewed])
