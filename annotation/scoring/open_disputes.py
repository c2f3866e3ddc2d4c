"""Maintaining the disputes in the adjudicators' queue.

An item is a check, a unit, or a criterion about a summary.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotation.models import Dispute, Project, Summary
from annotation.models.base import public_id_of
from annotation.models.claim import QUEUE_KEY_BITS
from evaluation.judging import LABEL_VALUES

if TYPE_CHECKING:
    from annotation.scoring.records import CheckAnswers, SummaryRecord
    from evaluation.blend import ScoredUnit

FEWEST_ANSWERS = 2
SPREAD_DIGITS = 9
"""The number of decimals to which differences are rounded before the threshold is applied."""

DisputeTarget = tuple[int | None, ...]
"""The values of `TARGET_COLUMNS`, which identify an item; the other columns are None.

A check fills one column. A unit fills `comparison_id`, and `unit_id` or the `claim_id` that replaces it. A criterion
about a summary fills the last two columns.
"""
TARGET_COLUMNS = ("check_row_id", "comparison_id", "unit_id", "claim_id", "summary_id", "criterion_id")


@dataclass(frozen=True, slots=True)
class Due:
    """The state that the dispute about one item should have.

    `is_due` is True if the answers differ beyond the threshold. `spread`, in [0, 1], is the largest less the smallest
    answer. `name` identifies the item.
    """

    target: DisputeTarget
    name: str
    queue_key: int
    is_due: bool
    state: str
    spread: float
    answers: int

    def columns(self) -> dict[str, object]:
        return {"state": self.state, "spread": self.spread, "answers": self.answers}


DERIVED_COLUMNS = ("state", "spread", "answers")


def store_disputes(*, project: Project, records: Sequence[SummaryRecord]) -> None:
    """Update the disputes of some summaries. The caller must be in a transaction that has locked the summaries."""
    disputed = [record.summary.pk for record in records if record.has_disputes]
    stored = stored_disputes(disputed) if disputed else {}
    new, changed = [], []
    for due in (due for record in records for due in dues(project, record)):
        row = stored.pop(due.target, None)
        if row is None:
            if due.is_due:
                new.append(_row(project, due))
        elif any(getattr(row, name) != value for name, value in due.columns().items()):
            for name, value in due.columns().items():
                setattr(row, name, value)
            changed.append(row)
    if new:
        # Ignore conflicts: a concurrent transaction may have created the same row.
        Dispute.objects.bulk_create(new, ignore_conflicts=True)
    if changed:
        Dispute.objects.bulk_create(
            changed, update_conflicts=True, unique_fields=["pk"], update_fields=list(DERIVED_COLUMNS)
        )
    if stored:
        Dispute.objects.filter(pk__in=[row.pk for row in stored.values()]).delete()


def stored_disputes(summary_ids: Sequence[int]) -> dict[DisputeTarget, Dispute]:
    """Load the stored disputes of some summaries and of the sources of their sets, by target."""
    of_checks = Dispute.objects.filter(check_row__summary_id__in=summary_ids).order_by()
    of_units = Dispute.objects.filter(comparison__summary_id__in=summary_ids).order_by()
    sets = Summary.objects.filter(pk__in=summary_ids).values("document_set")
    of_sources = Dispute.objects.filter(check_row__summary=None, check_row__document_set__in=sets).order_by()
    of_ratings = Dispute.objects.filter(summary__in=summary_ids).order_by()
    rows = of_checks.union(of_units, of_sources, of_ratings, all=True)
    return {tuple(getattr(row, name) for name in TARGET_COLUMNS): row for row in rows}


def dues(project: Project, record: SummaryRecord) -> Iterator[Due]:
    """Yield the state that the dispute of every item in the record should have."""
    with_judge = project.dispute_answers == Project.DisputeAnswers.JUDGE
    for row in record.checks:
        yield _due(
            project,
            target=(row.check.pk, None, None, None, None, None),
            name=f"check {row.check.public_id}",
            values=_values_of_check(row.answers, with_judge=with_judge),
            is_decided=row.answers.adjudicated is not None,
        )
    for unit in record.units:
        yield _due(
            project,
            target=(None, *unit.key, None, None),
            name=f"unit {unit.key[0]} {unit.value.unit_id}",
            values=_values_of_unit(unit.value, with_judge=with_judge),
            is_decided=unit.value.adjudicated_percent is not None,
        )
    for rating in record.ratings:
        judged = [rating.judge] if with_judge and rating.judge is not None else []
        yield _due(
            project,
            target=(None, None, None, None, record.summary.pk, rating.criterion_id),
            name=f"rating {record.summary.public_id} {rating.name}",
            values=[*rating.people, *judged],
            is_decided=rating.is_decided,
        )


def _due(
    project: Project, *, target: DisputeTarget, name: str, values: Sequence[float], is_decided: bool
) -> Due:
    spread = round(max(values) - min(values), SPREAD_DIGITS) if values else 0.0
    has_enough = len(values) >= FEWEST_ANSWERS
    is_due = has_enough and spread > project.dispute_threshold
    queue_key = _stable_key(name) if has_enough else 0
    waiting = Dispute.State.OPEN if is_due else Dispute.State.AGREED
    return Due(
        target=target,
        name=name,
        queue_key=queue_key,
        is_due=is_due,
        state=Dispute.State.SETTLED if is_decided else waiting,
        spread=spread,
        answers=len(values),
    )


def _values_of_check(answers: CheckAnswers, *, with_judge: bool) -> list[float]:
    labels = [*answers.standing, answers.judge] if with_judge else answers.standing
    return [LABEL_VALUES[label] for label in labels if label is not None]


def _values_of_unit(unit: ScoredUnit, *, with_judge: bool) -> list[float]:
    values = [percent / 100 for percent in unit.percents]
    judged = [claim.judge for claim in unit.claims if claim.judge is not None]
    if with_judge and judged:
        values.append(judged.count("yes") / len(judged))
    return values


def _stable_key(name: str) -> int:
    digest = hashlib.sha256(name.encode()).digest()
    return int.from_bytes(digest[:8], "big") >> (64 - QUEUE_KEY_BITS)


def _row(project: Project, due: Due) -> Dispute:
    return Dispute(
        public_id=public_id_of(f"dispute of {due.name}"),
        project=project,
        queue_key=due.queue_key,
        **dict(zip(TARGET_COLUMNS, due.target, strict=True)),
        **due.columns(),
    )
