"""The answers to a dispute, without names and in an order of the adjudicator's own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

from django.db.models import Q
from django.utils.crypto import salted_hmac

from annotation.models import Check, Claim, CoverageJudgment, Project, Rating, Summary, Verdict
from annotation.models.criterion import COUNTED
from annotation.models.judgment import COUNTING
from annotation.scoring.judge_percents import judge_percents

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import Comparison, Dispute, Unit
    from evaluation import metrics

    Named = tuple[str, "NamelessAnswer"]
    """The row that an answer comes from, and the answer."""


@dataclass(frozen=True, slots=True)
class NamelessAnswer:
    """An answer without its author's name: a label, a percent, or a rating in words.

    `evidence` has the numbers of the units that the answer cites.
    """

    label: str | None
    percent: int | None
    reason: str
    error_type: str
    evidence: tuple[int, ...]
    rating: str | None = None
    letter: str = ""

    @property
    def answer(self) -> str:
        return self.label or self.rating or f"{self.percent} %"


def answers_on(dispute: Dispute, person: User) -> tuple[NamelessAnswer, ...]:
    """Load the answers to the item of a dispute, as this adjudicator sees them.

    If the project compares people with the judge, the deciding judge's answer is included.
    """
    place = dispute.place
    if isinstance(place, Check):
        name, said = f"check {place.public_id}", _on_check(place)
    elif isinstance(place, Summary):
        name, said = f"rating {place.public_id} {dispute.criterion_id}", _on_summary(place, dispute)
    else:
        unit = dispute.unit_judged
        name, said = f"unit {place.public_id} {unit.public_id}", _on_unit(place, unit)

    def order(each: Named) -> str:
        return salted_hmac("coverdict.answer", f"{name} {person.pk} {each[0]}").hexdigest()

    shuffled = sorted(said, key=order)
    return tuple(replace(answer, letter=_letter(number)) for number, (_, answer) in enumerate(shuffled))


def _on_check(check: Check) -> Iterator[Named]:
    project = check.project
    counted = Q(role=Verdict.Role.REVIEWER)
    if project.dispute_answers == Project.DisputeAnswers.JUDGE:
        counted |= Q(role=Verdict.Role.JUDGE, judge=project.deciding_judge_id)
    rows = Verdict.objects.filter(counted, check_row=check, withdrawn_at=None, label__isnull=False)
    latest = {
        (row.role, row.judge_id or row.person_id or row.origin_name): row for row in rows.order_by("pk")
    }
    return map(_nameless, latest.values())


def _on_unit(comparison: Comparison, unit: Unit | Claim) -> Iterator[Named]:
    project = comparison.summary.document_set.project
    place: dict[str, Any] = {"claim": unit} if isinstance(unit, Claim) else {"unit": unit}
    yield from map(_nameless, CoverageJudgment.objects.filter(COUNTING, **place, comparison=comparison))
    if project.dispute_answers == Project.DisputeAnswers.JUDGE and project.deciding_judge is not None:
        for share in judge_percents([comparison.summary_id]):
            if (share.comparison_id, share.unit_id) == (comparison.pk, unit.public_id) and (
                share.judge == project.deciding_judge.name
            ):
                # Round the judge's share to the assessors' scale, because a value such as 33 % would reveal the
                # judge.
                percent = project.percent_step * round(share.percent / project.percent_step)
                yield f"judge {share.at}", NamelessAnswer(None, percent, "", "", share.marks)


def _on_summary(summary: Summary, dispute: Dispute) -> Iterator[Named]:
    project, criterion = dispute.project, dispute.criterion
    assert criterion is not None, "the database holds a dispute about a summary to a criterion"
    with_judge = project.dispute_answers == Project.DisputeAnswers.JUDGE
    rows = Rating.objects.filter(COUNTED, Q(judge=None) | Q(judge=project.deciding_judge_id))
    latest = {}
    for row in rows.filter(summary=summary, criterion=criterion).order_by("pk"):
        if row.value is not None or row.judge_id is None:
            latest[row.judge_id or row.person_id or row.origin_name, row.judge_id is None] = row
    for row in latest.values():
        if row.value is not None and (row.judge_id is None or with_judge):
            evidence, words = tuple(row.evidence), _nearest(criterion.fact, row.value)
            yield row.public_id, NamelessAnswer(None, None, row.reason, row.error_type, evidence, words)


def _nearest(criterion: metrics.Criterion, value: float) -> str:
    # A value between two answers of the scale could reveal the judge.
    return criterion.in_words(min(criterion.values, key=lambda each: abs(each - value)))


def _nameless(row: Verdict | CoverageJudgment) -> Named:
    label, percent = (row.label, None) if isinstance(row, Verdict) else (None, row.percent)
    return row.public_id, NamelessAnswer(label, percent, row.reason, row.error_type, tuple(row.evidence))


def _letter(place: int) -> str:
    first, last = divmod(place, len(ascii_uppercase))
    return (ascii_uppercase[first - 1] if first else "") + ascii_uppercase[last]
