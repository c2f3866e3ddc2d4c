"""Files in the formats of DUC and TAC: whole files of their own, not rows in a format of the reader's choice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

from django.db.models import Q

from annotation.models import (
    Adjudication,
    Assignment,
    Claim,
    Document,
    PublishedScore,
    SummaryJudgment,
    UnitJudgment,
    Verdict,
)

if TYPE_CHECKING:
    from annotation.exports.people import People
    from annotation.models import Project


@dataclass(slots=True)
class Left:
    """What a format cannot carry, each thing with how often the project has it; nothing that it has 0 times."""

    things: list[tuple[str, int]] = field(default_factory=list)

    def add(self, what: str, how_many: int) -> None:
        if how_many:
            self.things.append((what, how_many))

    def told(self) -> list[dict[str, object]]:
        return [{"what": what, "count": how_many} for what, how_many in self.things]


@dataclass(frozen=True, slots=True)
class Written:
    """What was written and what was not: the number of rows or files, what is left out, what was renamed."""

    rows: int
    left_out: Left
    renamed: list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class DucFormat:
    """A format of whole files: its name as a level of export, its own format and file ending, who writes it."""

    level: str
    format: str
    suffix: str
    write: Callable[[Project, People, BinaryIO], Written]


def leave_documents(project: Project, left: Left) -> None:
    left.add("source documents", Document.objects.filter(document_set__project=project).count())


def leave_percents(project: Project, left: Left) -> None:
    """What assessors said, for the formats that hold texts alone."""
    of_units = UnitJudgment.objects.filter(
        assignment__comparison__peer__document_set__project=project,
        assignment__state=Assignment.State.SUBMITTED,
        is_current=True,
    )
    left.add("percents of assessors, with their marks and notes", of_units.count())
    of_summaries = SummaryJudgment.objects.filter(
        peer__document_set__project=project, sitting__closed_at__isnull=False, is_current=True
    )
    left.add("quality answers and answers about unmarked units", of_summaries.count())


def leave_verdicts(project: Project, left: Left) -> None:
    claims = Claim.objects.filter(claim_set__is_active=True).filter(
        Q(claim_set__summary__document_set__project=project) | Q(claim_set__document_set__project=project)
    )
    left.add("claims", claims.count())
    left.add("verdicts on claims", Verdict.objects.filter(check_row__project=project).count())


def leave_decisions(project: Project, left: Left) -> None:
    decisions = Adjudication.objects.filter(withdrawn_at=None).filter(
        Q(comparison__peer__document_set__project=project) | Q(check_row__project=project)
    )
    left.add("decisions of adjudicators", decisions.count())


def leave_published(project: Project, left: Left) -> None:
    left.add("lines of imported tables", PublishedScore.objects.filter(project=project).count())
