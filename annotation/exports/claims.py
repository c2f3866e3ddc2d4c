"""Level `claims`: one row per current check of a claim."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from django.db.models import Case, Q, When

from annotation.core.tables.columns import TableRow, columns, number
from annotation.exports.answers import rater
from annotation.exports.summaries import PlacedRow, summary_level
from annotation.models import Check, Label, Verdict
from annotation.models.claim import OF_CLAIMS

if TYPE_CHECKING:
    from annotation.core.tables.pseudonyms import People
    from annotation.models import Project

COLUMNS = columns(
    "reference_id claim_id side unit:integer weight:number claim judge_label judge_confidence:number judge_reason "
    "human_label human_reason final_label final_source decided_by decided_at:moment evidence:integers"
)
RULE = Check.Decider.RULE
"""The decider of checks of empty summaries, which express no claim."""
_OF_CHECK = """
pk summary_id side claim__public_id claim__text claim__weight claim__unit__position claim__claim_set__summary_id
reference claim__position judge_label judge_probability human_label final_label
final_source unscored_reason
"""
_REFERENCE = Case(When(side=Check.Side.REFERENCE, then="claim__claim_set__summary__external_id"))
"""The id of the reference from which a claim is taken; claims of summaries and documents have none."""
_OF_VERDICT = (
    "check_row_id role label person_id person__username judge__name origin_name created_at reason evidence"
)


def judge_confidence(label: str | None, probability: float | None) -> float | None:
    """Compute a judge's confidence in its own label, in [0, 1], from its probability of yes.

    The confidence is p for yes and 1 - p for no. None if there is no probability, and for other labels.
    """
    if probability is None or label not in (Label.YES, Label.NO):
        return None
    return number(probability if label == Label.YES else 1 - probability)


def _rows(project: Project, people: People, summary_ids: Sequence[int]) -> Iterator[PlacedRow]:
    asked = Check.objects.filter(OF_CLAIMS, summary_id__in=summary_ids, is_current=True).order_by()
    said = last_verdicts(project, summary_ids)
    checks = asked.annotate(reference=_REFERENCE).values_list(*_OF_CHECK.split(), named=True)
    for check in sorted(checks, key=_place):
        yield check.summary_id, _told(check, said.get(check.pk, {}), people)


def last_verdicts(project: Project, summary_ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Load the last verdict by check and role; the last one without a label has the key `failure`.

    Withdrawn verdicts and judges other than the deciding one are ignored.
    """
    said: dict[int, dict[str, Any]] = defaultdict(dict)
    counts = Q(judge=None) | Q(judge=project.deciding_judge_id)
    verdicts = Verdict.objects.filter(counts, check_row__summary_id__in=summary_ids, withdrawn_at=None)
    for row in verdicts.order_by("pk").values_list(*_OF_VERDICT.split(), named=True):
        said[row.check_row_id][row.role if row.label is not None else "failure"] = row
    return said


def _place(row: Any) -> tuple[bool, str, int, int, int]:
    reference = row.reference or "", row.claim__claim_set__summary_id or 0
    return (row.side == Check.Side.SUMMARY, *reference, row.claim__position, row.pk)


def _told(check: Any, said: dict[str, Any], people: People) -> TableRow:
    judge = said.get(Verdict.Role.JUDGE) or said.get("failure")
    human = said.get(Verdict.Role.ADJUDICATOR) or said.get(Verdict.Role.REVIEWER)
    deciding = said.get(check.final_source)
    decided: TableRow = (RULE.value, None, []) if check.final_source == RULE else (None, None, None)
    if deciding is not None:
        decided = (rater(people, deciding), deciding.created_at, deciding.evidence)
    claim = (check.reference or None, check.claim__public_id, check.side, check.claim__unit__position)
    weighed = (number(check.claim__weight), check.claim__text)
    confidence = judge_confidence(check.judge_label, check.judge_probability)
    of_judge = (check.judge_label, confidence, (judge.reason if judge else check.unscored_reason) or None)
    of_people = (check.human_label, human.reason or None if human else None)
    return (*claim, *weighed, *of_judge, *of_people, check.final_label, check.final_source, *decided)


LEVEL = summary_level("claims", COLUMNS, _rows)
