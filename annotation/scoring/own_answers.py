"""Who has judged what a dispute is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef, Q

from annotation.models import Dispute, Project, UnitJudgment, Verdict

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

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


def answered_by(
    checks: Collection[int], comparisons: Collection[int], people: Collection[int]
) -> set[tuple[int, int | None, int | None, int | None, int | None]]:
    """Who of some people has judged what: the person's key, then check, comparison, unit and claim.

    The same answers as in `own_answer`, of many people at once; at most two queries.
    """
    found: set[tuple[int, int | None, int | None, int | None, int | None]] = set()
    if checks:
        said = Verdict.objects.filter(check_row__in=checks, person__in=people)
        pairs = said.order_by().values_list("person_id", "check_row_id").distinct()
        found.update((person, check, None, None, None) for person, check in pairs)
    if comparisons:
        judged = UnitJudgment.objects.filter(
            assignment__comparison__in=comparisons,
            assignment__sitting__assessor__in=people,
            percent__isnull=False,
        )
        columns = ("assignment__sitting__assessor_id", "assignment__comparison_id", "unit_id", "claim_id")
        rows = judged.order_by().values_list(*columns).distinct()
        found.update((person, None, comparison, unit, claim) for person, comparison, unit, claim in rows)
    return found
