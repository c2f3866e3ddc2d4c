"""Rebuilding derived columns of checks, scores of summaries, and disputes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from annotation.core.current_checks import put_in_force
from annotation.core.shared.limits import count as count_turns
from annotation.models import SCORES, Check, Project, Score
from annotation.scoring.open_disputes import store_disputes
from annotation.scoring.records import (
    CheckAnswers,
    CheckRecord,
    SummaryRecord,
    records_of,
    score_rules,
    summaries,
    summary_keys,
    summary_records,
)
from evaluation.blend import ScoreRules, SummaryScore, flip_impacts, score

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.models import Summary

RESCORED_AT_ONCE = 50
"""The number of summaries that are locked, read and written together."""

OVERDUE_AFTER = timedelta(minutes=10)
"""After this time, a pending rescoring counts as interrupted."""

DERIVED = (
    "judge_label",
    "judge_probability",
    "human_label",
    "final_label",
    "final_source",
    "unscored_reason",
    "is_disputed",
    "uncertainty",
    "impact",
)
"""The derived columns of a check."""


def rescore(*, project: Project, summary_ids: Sequence[int] | None = None) -> int:
    """Rebuild the derived columns, scores and disputes of the project's summaries, or only of `summary_ids`.

    Returns the number of scored summaries.
    """
    if summary_ids is None:
        put_in_force(Check.objects.filter(project=project))
    count = 0
    keys = summary_keys(project, summary_ids)
    for first in range(0, len(keys), RESCORED_AT_ONCE):
        with transaction.atomic():
            held = summaries(keys[first : first + RESCORED_AT_ONCE], hold=True)
            count += len(rescore_held(project=_as_it_is_now(project), held=held))
    if summary_ids is None and project.rescore_due_at is not None:
        # Clear the mark only if its time is unchanged. If a rule has changed meanwhile, the project must be rescored
        # again.
        marked = Project.all_projects.filter(pk=project.pk, rescore_due_at=project.rescore_due_at)
        marked.update(rescore_due_at=None)
    return count


def mark_due(project: Project) -> None:
    """Record, in the transaction that changes a rule, that the project must be rescored."""
    project.rescore_due_at = timezone.now()
    project.save(update_fields=["rescore_due_at"])


def overdue() -> QuerySet[Project]:
    """Select the projects that have waited for a rescoring longer than OVERDUE_AFTER."""
    return Project.objects.filter(rescore_due_at__lt=timezone.now() - OVERDUE_AFTER)


def rescore_overdue() -> None:
    """Rescore the overdue projects."""
    for project in overdue():
        if count_turns(f"rescore:{project.pk}", seconds=int(OVERDUE_AFTER.total_seconds())) <= 1:
            rescore(project=project)


def rescore_now(*, project: Project, summary_ids: Sequence[int]) -> None:
    """Rescore a few summaries in the caller's transaction, which has locked them."""
    project = _as_it_is_now(project)
    _store(project, list(summary_records(project, summary_ids)))


def rescore_held(*, project: Project, held: Sequence[Summary]) -> list[SummaryRecord]:
    """Rescore summaries that the caller has locked with `records.summaries`, and return their records.

    The caller must read `project` after locking. Before that, another process may have changed the project's rules
    and rescored these summaries.
    """
    records = list(records_of(project, held))
    _store(project, records)
    return records


def _as_it_is_now(project: Project) -> Project:
    # The rules may have changed while the caller waited for a lock. The project may be a deleted one.
    return Project.all_projects.get(pk=project.pk)


def _store(project: Project, records: Sequence[SummaryRecord]) -> None:
    rules = score_rules(project)
    scored = [(record, score(record.value, rules)) for record in records]
    stale = [check for each in scored for check in _changed_checks(*each, rules)]
    # Upsert by key, which is faster than an update by CASE with a branch per row and column.
    Check.objects.bulk_create(stale, update_conflicts=True, unique_fields=["pk"], update_fields=DERIVED)
    Score.objects.bulk_create(
        [score_row(project=project, record=record, result=result) for record, result in scored],
        update_conflicts=True,
        unique_fields=["summary"],
        update_fields=[
            "summary_words",
            *SCORES,
            "passed",
            "claims",
            "claims_unscored",
            "flags",
            "signature",
            "revision",
            "computed_at",
        ],
    )
    store_disputes(project=project, records=records)


def score_row(*, project: Project, record: SummaryRecord, result: SummaryScore) -> Score:
    """Build the unsaved score row of a summary."""
    return Score(
        project=project,
        summary=record.summary,
        summary_words=record.value.summary_length,
        passed=result.passed,
        claims=result.claims,
        claims_unscored=result.claims_unscored,
        flags=list(result.flags),
        signature=result.signature,
        **{name: getattr(result, name) for name in SCORES},
    )


def derived_columns(
    answers: CheckAnswers,
    *,
    claim_id: str,
    impact: float,
) -> dict[str, str | float | bool | None]:
    """Compute the derived columns of a check from its answers."""
    claim = answers.scored(claim_id)
    return {
        "judge_label": answers.judge,
        "judge_probability": answers.judge_probability,
        "human_label": claim.human,
        "final_label": claim.final,
        "final_source": claim.final_source,
        "unscored_reason": "" if claim.final else answers.unscored_reason[:500],
        "is_disputed": answers.is_disputed and answers.adjudicated is None,
        "uncertainty": _uncertainty(answers),
        "impact": impact,
    }


def _uncertainty(answers: CheckAnswers) -> float:
    if answers.rule is not None:
        return 0.0
    if answers.judge not in ("yes", "no"):
        return 1.0
    if answers.judge_uncertainty is not None:
        return answers.judge_uncertainty
    if answers.judge_probability is None:
        return 0.5
    return 1.0 - abs(2.0 * answers.judge_probability - 1.0)


def columns_of(
    record: SummaryRecord, result: SummaryScore, rules: ScoreRules
) -> Iterator[tuple[CheckRecord, dict[str, str | float | bool | None]]]:
    """Yield each check of a summary with its derived columns."""
    impacts = flip_impacts(record.value, rules, result=result)
    for row in record.checks:
        impact = impacts.get(row.claim_id, 0.0)
        yield row, derived_columns(row.answers, claim_id=row.claim_id, impact=impact)


def _changed_checks(record: SummaryRecord, result: SummaryScore, rules: ScoreRules) -> Iterator[Check]:
    for row, columns in columns_of(record, result, rules):
        check = row.check
        if any(getattr(check, name) != value for name, value in columns.items()):
            for name, value in columns.items():
                setattr(check, name, value)
            yield check
