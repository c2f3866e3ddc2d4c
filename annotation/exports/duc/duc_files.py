"""Files in the formats of DUC and TAC: whole files of their own, not rows in a format of the reader's choice."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO

from django.db.models import Q, QuerySet

from annotation.exports.atomic_file import member_of_zip
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
    from annotation.core.tables.pseudonyms import People
    from annotation.exports.progress import ExportProgress
    from annotation.models import Project


@dataclass(slots=True)
class LeftOut:
    """What a format cannot carry, each thing with how often the project has it; nothing that it has 0 times."""

    things: list[tuple[str, int]] = field(default_factory=list)

    def add(self, what: str, how_many: int) -> None:
        if how_many:
            self.things.append((what, how_many))

    def add_of(self, project: Project, *kinds: str) -> None:
        """What the project has of these kinds; see `KINDS`."""
        for kind in kinds:
            for what, rows in KINDS[kind](project):
                self.add(what, rows.count())

    def told(self) -> list[dict[str, object]]:
        return [{"what": what, "count": how_many} for what, how_many in self.things]


@dataclass(frozen=True, slots=True)
class Written:
    """What was written and what was not: the number of rows or files, what is left out, what was renamed."""

    rows: int
    left_out: LeftOut
    renamed: list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class OwnFormat:
    """A format of whole files: its name as a level of export, its own format and file ending, who writes it."""

    level: str
    format: str
    suffix: str
    write: Callable[[Project, People, BinaryIO, ExportProgress], Written]


def write_zip(stream: BinaryIO, files: Iterable[tuple[str, str]]) -> int:
    """Write files of text into a zip without times, the same whenever the same is exported; how many they were."""
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(member_of_zip(name), content)
        return len(archive.infolist())


Counted = Iterator[tuple[str, QuerySet[Any]]]


def _documents(project: Project) -> Counted:
    yield "source documents", Document.objects.filter(document_set__project=project)


def _percents(project: Project) -> Counted:
    """What assessors said, for the formats that hold texts alone."""
    yield (
        "percents of assessors, with their marks and notes",
        UnitJudgment.objects.filter(
            assignment__comparison__peer__document_set__project=project,
            assignment__state=Assignment.State.SUBMITTED,
            is_current=True,
        ),
    )
    yield (
        "quality answers and answers about unmarked units",
        SummaryJudgment.objects.filter(
            peer__document_set__project=project, sitting__closed_at__isnull=False, is_current=True
        ),
    )


def _verdicts(project: Project) -> Counted:
    of_project = Q(claim_set__summary__document_set__project=project) | Q(
        claim_set__document_set__project=project
    )
    yield "claims", Claim.objects.filter(claim_set__is_active=True).filter(of_project)
    yield "verdicts on claims", Verdict.objects.filter(check_row__project=project)


def _decisions(project: Project) -> Counted:
    of_project = Q(comparison__peer__document_set__project=project) | Q(check_row__project=project)
    yield "decisions of adjudicators", Adjudication.objects.filter(withdrawn_at=None).filter(of_project)


def _published(project: Project) -> Counted:
    yield "lines of imported tables", PublishedScore.objects.filter(project=project)


KINDS: Mapping[str, Callable[[Project], Counted]] = {
    "documents": _documents,
    "percents": _percents,
    "verdicts": _verdicts,
    "decisions": _decisions,
    "published": _published,
}
"""What a project may have that a format does not carry: what it is called, and the rows."""
