"""Level `claims`: one row per current check of a claim."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from django.db.models import Q

from annotation.core.tables.columns import HEAD, Level, TableRow, columns, number
from annotation.exports.answers import rater, reference_of
from annotation.exports.summaries import summary_batches
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
claim__claim_set__summary__external_id claim__position judge_label judge_probability human_label final_label
final_source unscored_reason
"""
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


def _rows(project: Project, people: People) -> Iterator[TableRow]:
    for batch in summary_batches(project):
        summary_ids = [pk for pk, _ in batch]
        asked = Check.objects.filter(OF_CLAIMS, summary_id__in=summary_ids, is_current=True)
        checks: dict[int, list[Any]] = defaultdict(list)
        for check in asked.order_by().values_list(*_OF_CHECK.split(), named=True):
            checks[check.summary_id].append(check)
        said = last_verdicts(project, summary_ids)
        for pk, head in batch:
            for check in sorted(checks.get(pk, ()), key=_place):
                yield (*head, *_told(check, said.get(check.pk, {}), people))


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
    reference = row.claim__claim_set__summary__external_id or "", row.claim__claim_set__summary_id or 0
    return (row.side == Check.Side.SUMMARY, *reference, row.claim__position, row.pk)


def _told(check: Any, said: dict[str, Any], people: People) -> TableRow:
    judge = said.get(Verdict.Role.JUDGE) or said.get("failure")
    human = said.get(Verdict.Role.ADJUDICATOR) or said.get(Verdict.Role.REVIEWER)
    deciding = said.get(check.final_source)
    decided: TableRow = (RULE.value, None, []) if check.final_source == RULE else (None, None, None)
    if deciding is not None:
        decided = (rater(people, deciding), deciding.created_at, deciding.evidence)
    return (
        reference_of(check.side, check.claim__claim_set__summary__external_id),
        check.claim__public_id,
        check.side,
        check.claim__unit__position,
        number(check.claim__weight),
        check.claim__text,
        check.judge_label,
        judge_confidence(check.judge_label, check.judge_probability),
        (judge.reason if judge else check.unscored_reason) or None,
        check.human_label,
        human.reason or None if human else None,
        check.final_label,
        check.final_source,
        *decided,
    )


LEVEL = Level("claims", HEAD + COLUMNS, _rows)
