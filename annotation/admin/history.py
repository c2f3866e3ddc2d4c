"""The history of a row: what was said of it, and what was done to it, in order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db.models import Q, QuerySet

from annotation.adjudicating.queries.disputes import decisions_on
from annotation.models import Adjudication, Check, Comparison, Dispute, Event, Verdict

if TYPE_CHECKING:
    from django.db.models import Model

    from annotation.models import Project

HISTORY_LINES_SHOWN = 200
"""Of each kind, the newest."""


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """One entry. `who` is empty for what the program did by itself; `is_withdrawn` for what was taken back since."""

    at: datetime
    who: str
    what: str
    told: str
    is_withdrawn: bool = False


def said_of(row: Model) -> list[HistoryLine]:
    """Verdicts and decisions on what the row is about, oldest first; none of a dispute but the decisions.

    The answers that differ are shown without names to whoever settles them, so they stay out of a dispute's.
    """
    lines = [*_verdicts(row), *_decisions(row)]
    return sorted(lines, key=lambda line: line.at)


def done_to(row: Model, project: Project) -> list[HistoryLine]:
    """The log's events of the row, oldest first; of a dispute those that settled it or took it up again."""
    events = Event.objects.filter(_told_of(row), project=project).select_related("actor").order_by("-pk")
    return [
        HistoryLine(
            at=event.created_at,
            who=event.actor.username if event.actor else "",
            what=event.verb,
            told=json.dumps(event.data, ensure_ascii=False) if event.data else "",
        )
        for event in reversed(events[:HISTORY_LINES_SHOWN])
    ]


ADJUDICATING = ("adjudicate", "withdraw decision", "reopen dispute", "release dispute")


def _told_of(row: Any) -> Q:
    if isinstance(row, Dispute):
        return Q(target_id=row.place.public_id, verb__in=ADJUDICATING)
    return Q(target_id=getattr(row, "public_id", ""))


def _check_of(row: Any) -> Check | None:
    match row:
        case Check():
            return row
        case Verdict() | Adjudication():
            return row.check_row
        case _:
            return None


def _verdicts(row: Model) -> Iterator[HistoryLine]:
    check = _check_of(row)
    if check is None:
        return
    verdicts = Verdict.objects.filter(check_row=check).select_related("judge", "person").order_by("-pk")
    for verdict in verdicts[:HISTORY_LINES_SHOWN]:
        yield HistoryLine(
            at=verdict.created_at,
            who=_speaker(verdict),
            what=f"{verdict.get_source_display()}: {verdict.label or 'unscored'}",
            told=verdict.reason,
            is_withdrawn=verdict.withdrawn_at is not None,
        )


def _decisions(row: Model) -> Iterator[HistoryLine]:
    for decision in _decisions_on(row).select_related("decided_by").order_by("-pk")[:HISTORY_LINES_SHOWN]:
        yield HistoryLine(
            at=decision.created_at,
            who=decision.decided_by.username,
            what=f"Decision: {decision}",
            told=decision.reason,
            is_withdrawn=decision.withdrawn_at is not None,
        )


def _decisions_on(row: Any) -> QuerySet[Adjudication]:
    match row:
        case Dispute() | Adjudication():
            return decisions_on(row)
        case Comparison():
            return Adjudication.objects.filter(comparison=row)
    check = _check_of(row)
    return Adjudication.objects.filter(check_row=check) if check else Adjudication.objects.none()


def _speaker(verdict: Verdict) -> str:
    if verdict.person is not None:
        return verdict.person.username
    return verdict.judge.name if verdict.judge else verdict.origin_name
