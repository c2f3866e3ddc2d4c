"""An assessor's acts in the SEE form are saved, each once and in order.

The path of every click, so it asks the database little: what does not change by acts is read before the
transaction, which is short, and nothing of the form is computed anew.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Q

from annotation.assessing.services.act_saving import Saved, Saving
from annotation.assessing.services.act_turn import busy, enter, hear, may_write, not_heard
from annotation.assessing.services.acts import Act, ActResult, UnitAct
from annotation.core.guidelines import current_id
from annotation.core.refusals import NotFound
from annotation.models import Assignment, Reading, UnitJudgment

if TYPE_CHECKING:
    from django.contrib.auth.models import User

ATTEMPTS = 5
MOVING = ("pen", "pen_seq", "lease_until", "closed_at", "unassigned_at")
"""What others may have changed in an assignment since it was read."""


def save_acts(*, assignment: Assignment, by: User, client_id: str, acts: Sequence[Act]) -> Saved:
    """Save acts of an open form, one or more, in order. The same act arriving twice is saved once.

    `client_id` is the name of the form, which numbers its acts from 1 in each assignment. Nothing is scored before
    the assignment is closed. An act that makes no sense is refused in its own result. Raises Conflict, with what
    the server holds (`theirs`) and what was sent (`yours`), and nothing of it saved: code `gap` where an act
    before these has not arrived, `closed` or `unassigned` where the assignment is over, `elsewhere` where another
    form has the pen of an open one; NotFound where the assignment is not the person's.
    """
    enter(assignment, by)
    for _ in range(ATTEMPTS):
        fresh = not_heard(assignment, client_id, acts)
        saving = Saving.of(assignment, acts, client_id)
        if not fresh:
            return saving.saved(_repeated(acts))
        with transaction.atomic():
            # While nobody has been heard in between, everything that was read of the assignment still stands.
            is_heard = hear(assignment, client_id, fresh[-1].seq, if_unheard=True)
            written = saving.write(fresh) if is_heard else []
        if is_heard:
            return saving.saved([*_repeated(acts[: len(acts) - len(fresh)]), *written])
        assignment.refresh_from_db(fields=MOVING)
        enter(assignment, by)
    raise busy()


def save_at_once(*, assignment: Assignment, by: User, acts: Sequence[Act], client_id: str = "") -> Saved:
    """Save acts of a form that does not number them, such as a page without scripts: all of them, or none.

    Such a form has the pen for these acts, so an open form elsewhere is told at its next one. Raises what is
    wrong with the first act that makes no sense; Conflict (`closed`, `unassigned`) and NotFound as
    `save_acts`.
    """
    enter(assignment, by)
    pen = client_id or secrets.token_hex(16)
    with transaction.atomic():
        if not hear(assignment, pen, acts[-1].seq):
            assignment.refresh_from_db(fields=MOVING)
            may_write(assignment, by)
            raise busy()
        _note_guideline(assignment)
        saving = Saving.of(assignment, acts, pen, is_strict=True)
        written = saving.write(acts)
    return saving.saved(written)


@transaction.atomic
def judge_unit(
    *,
    reading: Reading,
    by: User,
    unit_id: str,
    percent: int | None,
    marks: Sequence[int] = (),
    note: str = "",
    client_id: str = "",
    seq: int = 0,
) -> UnitJudgment:
    """Save one judgment of a model unit by itself, as `save_at_once` does, and return its row.

    With a client id, the same act (client id and sequence number) arriving twice is saved once.
    """
    assignment = reading.assignment
    if assignment.assessor_id != by.pk:
        raise NotFound("There is no such assignment.")
    rows = UnitJudgment.objects.filter(reading=reading).select_related("unit", "claim")
    if client_id:
        Assignment.objects.select_for_update().get(pk=assignment.pk)
        earlier = rows.filter(client_id=client_id, seq=seq).first()
        if earlier is not None:
            return earlier
    act = UnitAct(seq, reading.public_id, unit_id, percent, tuple(marks), note)
    save_at_once(assignment=assignment, by=by, acts=[act], client_id=client_id)
    return rows.filter(Q(unit__public_id=unit_id) | Q(claim__public_id=unit_id)).get(is_current=True)


def _note_guideline(assignment: Assignment) -> None:
    """Keep the version in force as the one that a form without scripts had on screen, which tells of none itself."""
    key = current_id(assignment.document_set.project)
    if key != assignment.guideline_id:
        assignment.guideline_id = key
        Assignment.objects.filter(pk=assignment.pk).update(guideline=key)


def _repeated(acts: Iterable[Act]) -> list[ActResult]:
    return [ActResult(act.seq, "repeated") for act in acts]
