"""The answers that an adjudicator weighs: nameless, in an order of their own for each adjudicator.

Whose answer is which, and which one is a judge's, is not told: a letter names each, by a hash of what was asked,
who looks, and the row. The page that explains a score names everybody.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

from django.utils.crypto import salted_hmac

from annotation.models import Check, Claim, Project, UnitJudgment, Verdict
from annotation.models.judgment import COUNTING
from annotation.scoring.judge_percents import judge_percents

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import Comparison, Dispute, Unit


@dataclass(frozen=True, slots=True)
class NamelessAnswer:
    """One answer without its name. `evidence` are the numbers of the units that it points to."""

    order: str
    label: str | None
    percent: int | None
    reason: str
    error_type: str
    evidence: tuple[int, ...]
    letter: str = ""

    @property
    def answer(self) -> str:
        return self.label if self.label is not None else f"{self.percent} %"


def answers_on(dispute: Dispute, person: User) -> tuple[NamelessAnswer, ...]:
    """The answers that a dispute is about, as this adjudicator sees them."""
    place = dispute.place
    if isinstance(place, Check):
        return answers_on_check(place, person)
    return answers_on_unit(place, dispute.unit_judged, person)


def answers_on_check(check: Check, person: User) -> tuple[NamelessAnswer, ...]:
    """Each reviewer's latest answer to a check and, if the project counts it, the deciding judge's."""
    project = check.project
    rows = Verdict.objects.filter(check_row=check, withdrawn_at=None, label__isnull=False).order_by("pk")
    latest: dict[object, Verdict] = {}
    for verdict in rows:
        if verdict.source == Verdict.Source.REVIEWER:
            latest[verdict.person_id or verdict.origin_name] = verdict
        elif (
            project.dispute_answers == Project.DisputeAnswers.JUDGE
            and verdict.judge_id == project.deciding_judge_id
        ):
            latest["judge", verdict.judge_id] = verdict
    name = f"check {check.public_id}"
    return _lettered(
        NamelessAnswer(
            order=_order(name, person, verdict.public_id),
            label=verdict.label,
            percent=None,
            reason=verdict.reason,
            error_type=verdict.error_type,
            evidence=tuple(verdict.evidence),
        )
        for verdict in latest.values()
    )


def answers_on_unit(comparison: Comparison, unit: Unit | Claim, person: User) -> tuple[NamelessAnswer, ...]:
    """Each submitted percent of a unit and, where the project counts it, the deciding judge's share of yes in the
    steps of the percent scale."""
    return _lettered(_on_unit(comparison, unit, person))


def _on_unit(comparison: Comparison, unit: Unit | Claim, person: User) -> Iterator[NamelessAnswer]:
    name = f"unit {comparison.public_id} {unit.public_id}"
    project = comparison.peer.document_set.project
    place: dict[str, Any] = {"claim": unit} if isinstance(unit, Claim) else {"unit": unit}
    judgments = UnitJudgment.objects.filter(COUNTING, **place, reading__comparison=comparison)
    for judgment in judgments.order_by("pk"):
        order = _order(name, person, judgment.public_id)
        yield _percent(judgment.percent or 0, order=order, marks=judgment.marks, note=judgment.note)
    if project.dispute_answers == Project.DisputeAnswers.JUDGE and project.deciding_judge is not None:
        for share in judge_percents([comparison.peer_id]):
            if (share.comparison_id, share.unit_id) == (comparison.pk, unit.public_id) and (
                share.judge == project.deciding_judge.name
            ):
                # As an assessor could have given it: 33 % would tell that it is the judge's.
                percent = project.percent_step * round(share.percent / project.percent_step)
                yield _percent(percent, order=_order(name, person, f"judge {share.at}"), marks=share.marks)


def _percent(percent: float, *, order: str, marks: Iterable[int], note: str = "") -> NamelessAnswer:
    return NamelessAnswer(
        order=order, label=None, percent=round(percent), reason=note, error_type="", evidence=tuple(marks)
    )


def _order(name: str, person: User, row: str) -> str:
    return salted_hmac("coverdict.answer", f"{name} {person.pk} {row}").hexdigest()


def _lettered(answers: Iterable[NamelessAnswer]) -> tuple[NamelessAnswer, ...]:
    shuffled = sorted(answers, key=lambda answer: answer.order)
    return tuple(replace(answer, letter=_letter(place)) for place, answer in enumerate(shuffled))


def _letter(place: int) -> str:
    """A to Z, then AA, AB, and so on."""
    first, last = divmod(place, len(ascii_uppercase))
    return (ascii_uppercase[first - 1] if first else "") + ascii_uppercase[last]
