"""Who has judged what a dispute is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef, Q

from annotation.models import Dispute, Project, UnitJudgment, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.contrib.auth.models import User


def where_some_wait(person: User, projects: Sequence[int]) -> set[int]:
    """Those of some projects, by key, in which a dispute waits that the person could settle."""
    waiting = Dispute.objects.filter(project=OuterRef("pk"), state=Dispute.State.OPEN)
    theirs = waiting.filter(Q(project__own_adjudication=True) | ~own_answer(person))
    return set(Project.objects.filter(Exists(theirs), pk__in=projects).values_list("pk", flat=True))


def own_answer(person: User) -> Q:
    """Whether the person has judged what a dispute is about: see `has_judged` of the voices."""
    own_verdicts = Verdict.objects.filter(check_row=OuterRef("check_row"), person=person)
    own_percents = UnitJudgment.objects.filter(
        Q(unit=OuterRef("unit")) | Q(claim=OuterRef("claim")),
        assignment__comparison=OuterRef("comparison"),
        assignment__sitting__assessor=person,
        percent__isnull=False,
    )
    return Q(Exists(own_verdicts)) | Q(Exists(own_percents))
