"""Checks that a person is asked to answer again in a trial of guidelines."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from django.db.models import Q

from annotation.models import AnswerAgain
from annotation.reviewing.queries.known_checks import knows

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from annotation.models import Project


def waiting_again(project: Project, person: User) -> QuerySet[AnswerAgain]:
    """Select the open rows for this person, and the open rows for anybody whose checks the person can answer blind."""
    rows = AnswerAgain.objects.filter(
        trial__project=project, trial__decision=None, label=None, check_row__is_current=True
    )
    return rows.filter(Q(person=person) | Q(person=None) & ~knows(person, "check_row_id"))


def next_again(project: Project, person: User) -> AnswerAgain | None:
    """Find the next row that the person can answer, in an order of the person's own; None if there is none.

    Rows under the old guidelines come first.
    """
    rows = waiting_again(project, person).select_related("trial__old", "trial__new")
    return min(
        rows, key=lambda row: (not row.is_control, Random(f"{person.pk} {row.pk}").random()), default=None
    )
