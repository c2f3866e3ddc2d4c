"""What has been said of the units of summaries as they are cut, so that cutting them otherwise would undo it.

A model summary is judged once somebody gave a percent, or began to, on one of its units. A peer summary is
judged once marks, an answer on its unmarked units, or evidence name its units by their numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from django.db.models import Max, Q

from annotation.models import (
    Adjudication,
    Check,
    PublishedPercent,
    QuestionAnswer,
    Sitting,
    Summary,
    SummaryJudgment,
    UnitChange,
    UnitJudgment,
    Verdict,
)

if TYPE_CHECKING:
    from django.db.models import QuerySet

    Evidence = Verdict | QuestionAnswer


class ReadingKey(NamedTuple):
    """One peer summary in a sitting."""

    sitting_id: int
    peer_id: int


@dataclass(frozen=True, slots=True)
class Dropped:
    """What would no longer count if the units of a summary could be changed again; all of it is kept.

    `judgments`, `answers` (on unmarked units) and `decisions` (of adjudicators) are keys of rows. `readings`
    are those that lose a judgment or an answer, `assessors` whose they are, `reopened` the assessors whose
    closed sets are opened again. `evidence` counts the answers whose evidence names units of the summary:
    they stand, and their evidence follows the words. What a published table says holds for its units alone:
    with `is_published` they stay as they are for good.
    """

    judgments: tuple[int, ...]
    answers: tuple[int, ...]
    decisions: tuple[int, ...]
    readings: frozenset[ReadingKey]
    assessors: tuple[str, ...]
    reopened: tuple[str, ...]
    evidence: int
    is_published: bool

    @property
    def number(self) -> int:
        """How many statements of people would no longer count."""
        return len(self.judgments) + len(self.answers) + len(self.decisions)

    @property
    def is_nothing(self) -> bool:
        return not (self.number or self.evidence or self.is_published)


def judged_texts(summary_ids: Collection[int]) -> set[int]:
    """Those of these summaries whose units have been judged, or judged with. Nine queries, however many."""
    said: set[int | None] = set()
    for rows, path in (
        (_on_units(summary_ids), "unit__summary_id"),
        (_decisions(summary_ids), "unit__summary_id"),
        (_marking(summary_ids), "assignment__comparison__peer_id"),
        (_on_unmarked(summary_ids), "peer_id"),
        (_published_on(summary_ids), "unit__summary_id"),
        (_published_marks(summary_ids), "comparison__peer_id"),
    ):
        said.update(rows.order_by().values_list(path, flat=True).distinct())
    opened = _opened(summary_ids)
    for evidence, path in _evidence(summary_ids):
        last = evidence.order_by().values_list(path).annotate(Max("created_at"))
        said.update(key for key, at in last if key not in opened or at > opened[key])
    return {key for key in said if key is not None}


def dropped_by_reopening(summary: Summary) -> Dropped:
    """What opening the units of a summary again would undo, and for whom."""
    keys = [summary.pk]
    columns = (
        "pk",
        "assignment__sitting_id",
        "assignment__comparison__peer_id",
    )
    judgments: dict[int, ReadingKey] = {}
    for rows in (_on_units(keys), _marking(keys)):
        for key, *reading in rows.order_by("pk").values_list(*columns):
            judgments[key] = ReadingKey(*reading)
    answers = _answers_with(summary, set(judgments.values()))
    readings = frozenset([*judgments.values(), *answers.values()])
    sittings = Sitting.objects.filter(pk__in={reading.sitting_id for reading in readings})
    held = list(sittings.order_by("assessor__username").values_list("assessor__username", "closed_at"))
    return Dropped(
        judgments=tuple(judgments),
        answers=tuple(answers),
        decisions=tuple(_decisions(keys).order_by("pk").values_list("pk", flat=True)),
        readings=readings,
        assessors=_once(name for name, _ in held),
        reopened=_once(name for name, closed_at in held if closed_at is not None),
        evidence=_count_evidence(summary),
        is_published=_published_on(keys).exists() or _published_marks(keys).exists(),
    )


def evidence_in(summary: Summary) -> tuple[QuerySet[Verdict], QuerySet[QuestionAnswer]]:
    """Everything whose evidence names units of a peer summary by their numbers, withdrawn answers too."""
    return (
        Verdict.objects.filter(check_row__peer=summary, check_row__side=Check.Side.REFERENCE).exclude(
            evidence=[]
        ),
        QuestionAnswer.objects.filter(summary=summary).exclude(evidence=[]),
    )


def _answers_with(summary: Summary, readings: Collection[ReadingKey]) -> dict[int, ReadingKey]:
    """The answers on unmarked units that go with judgments of these readings, or are about the summary itself."""
    sittings = {reading.sitting_id for reading in readings}
    rows = SummaryJudgment.objects.filter(
        Q(sitting_id__in=sittings) | Q(pk__in=_on_unmarked([summary.pk]).values("pk")),
        is_current=True,
        unmarked_percent__isnull=False,
    )
    found = {
        key: ReadingKey(*reading)
        for key, *reading in rows.order_by("pk").values_list("pk", "sitting_id", "peer_id")
    }
    return {key: place for key, place in found.items() if place in readings or place.peer_id == summary.pk}


def _count_evidence(summary: Summary) -> int:
    opened = _opened([summary.pk]).get(summary.pk)
    counts = (rows for rows, _ in _evidence([summary.pk]))
    return sum((rows.filter(created_at__gt=opened) if opened else rows).count() for rows in counts)


def _on_units(summary_ids: Collection[int]) -> QuerySet[UnitJudgment]:
    return UnitJudgment.objects.filter(
        unit__summary__in=summary_ids,
        unit__retired_by__isnull=True,
        is_current=True,
    )


def _marking(summary_ids: Collection[int]) -> QuerySet[UnitJudgment]:
    marking = UnitJudgment.objects.filter(assignment__comparison__peer__in=summary_ids, is_current=True)
    return marking.exclude(marks=[])


def _on_unmarked(summary_ids: Collection[int]) -> QuerySet[SummaryJudgment]:
    return SummaryJudgment.objects.filter(
        peer__in=summary_ids, is_current=True, unmarked_percent__isnull=False
    )


def _decisions(summary_ids: Collection[int]) -> QuerySet[Adjudication]:
    return Adjudication.objects.filter(
        unit__summary__in=summary_ids, unit__retired_by__isnull=True, withdrawn_at=None
    )


def _published_on(summary_ids: Collection[int]) -> QuerySet[PublishedPercent]:
    return PublishedPercent.objects.filter(unit__summary__in=summary_ids)


def _published_marks(summary_ids: Collection[int]) -> QuerySet[PublishedPercent]:
    return PublishedPercent.objects.filter(comparison__peer__in=summary_ids).exclude(marks=[])


def _evidence(
    summary_ids: Collection[int],
) -> tuple[tuple[QuerySet[Verdict], str], tuple[QuerySet[QuestionAnswer], str]]:
    verdicts = Verdict.objects.filter(
        check_row__peer__in=summary_ids, check_row__side=Check.Side.REFERENCE, withdrawn_at=None
    )
    answers = QuestionAnswer.objects.filter(summary__in=summary_ids)
    return (
        (verdicts.exclude(evidence=[]), "check_row__peer_id"),
        (answers.exclude(evidence=[]), "summary_id"),
    )


def _opened(summary_ids: Collection[int]) -> dict[int, datetime]:
    """When the units of these summaries were last opened again; evidence from before holds nothing up."""
    opened = UnitChange.objects.filter(summary__in=summary_ids, kind=UnitChange.Kind.REOPEN)
    return dict(opened.order_by().values_list("summary_id").annotate(Max("created_at")))


def _once(names: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name is not None))
