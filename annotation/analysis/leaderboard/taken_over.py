"""How many of people's answers are the judge's own verdicts, accepted in lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from django.db.models import Count, Exists, OuterRef

from annotation.models import Check, Verdict, VerdictBatch

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.models import Project, Summary


class TakenOver(NamedTuple):
    """Of the `answers` of reviewers that stand for claims of the reference side, so many came `in_lists`."""

    answers: int = 0
    in_lists: int = 0


def taken_over(project: Project) -> dict[int | None, TakenOver]:
    """By target length, those alone in which any was taken over. One query, three where there are any."""
    if not VerdictBatch.objects.filter(project=project, withdrawn_at=None).exists():
        return {}
    standing = _answered(project)
    lists = _by_target(standing.filter(Exists(_newest_in_list(project))))
    answers = _by_target(standing)
    return {target: TakenOver(answers[target], count) for target, count in lists.items()}


def taken_over_of(summary: Summary) -> TakenOver:
    """As `taken_over`, of one peer summary. One query."""
    project = summary.document_set.project
    in_list = Exists(_newest_in_list(project))
    rows = _answered(project).filter(peer=summary).annotate(in_list=in_list).values_list("in_list", flat=True)
    return TakenOver(answers=len(rows), in_lists=sum(rows))


def _answered(project: Project) -> QuerySet[Check]:
    """What a reviewer's answer decides."""
    return Check.objects.filter(
        project=project, is_current=True, side=Check.Side.REFERENCE, final_source=Check.Decider.REVIEWER
    )


def _newest_in_list(project: Project) -> QuerySet[Verdict]:
    """The outer check's answer that stands, if it came in a list."""
    said = Verdict.objects.filter(source=Verdict.Source.REVIEWER, withdrawn_at=None)
    newer = said.filter(check_row=OuterRef("check_row"), pk__gt=OuterRef("pk"))
    return said.filter(~Exists(newer), check_row=OuterRef("pk"), batch__project=project)


def _by_target(checks: QuerySet[Check]) -> Mapping[int | None, int]:
    counted = checks.order_by().values_list("peer__target_words").annotate(Count("pk"))
    return dict(counted)
