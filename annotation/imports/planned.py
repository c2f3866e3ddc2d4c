"""What an import would write, and what forbids it: the values that a plan is made of.

The rows are unsaved ones and rows with new values in them; `plan` makes them, `services` writes them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import NamedTuple

from annotation.imports.dataset import Side, Stretch, Votes
from annotation.imports.existing import ORIGIN, judged_claim_sets, judged_document_sets
from annotation.imports.problems import Problems
from annotation.models import (
    Claim,
    ClaimSet,
    Comparison,
    Document,
    DocumentSet,
    Project,
    Summary,
    System,
)
from annotation.texts.queries.unit_texts import judged_summaries


@dataclass(slots=True)
class Count:
    """How many rows of a kind the import makes, changes and finds as they should be."""

    created: int = 0
    changed: int = 0
    unchanged: int = 0

    @property
    def has_changes(self) -> bool:
        return bool(self.created or self.changed)


@dataclass(slots=True)
class ImportCounts:
    """The counts of a report, one for each kind of row."""

    document_sets: Count = field(default_factory=Count)
    documents: Count = field(default_factory=Count)
    systems: Count = field(default_factory=Count)
    reference_authors: Count = field(default_factory=Count)
    model_summaries: Count = field(default_factory=Count)
    peer_summaries: Count = field(default_factory=Count)
    comparisons: Count = field(default_factory=Count)
    questions: Count = field(default_factory=Count)
    claims: Count = field(default_factory=Count)
    checks: Count = field(default_factory=Count)
    verdicts: Count = field(default_factory=Count)

    @property
    def by_kind(self) -> dict[str, Count]:
        """In the order of the report."""
        return {kind.name: getattr(self, kind.name) for kind in fields(self)}

    @property
    def has_changes(self) -> bool:
        return any(count.has_changes for count in self.by_kind.values())

    def add(self, others: ImportCounts) -> None:
        for kind, count in self.by_kind.items():
            more = getattr(others, kind)
            for part in fields(Count):
                setattr(count, part.name, getattr(count, part.name) + getattr(more, part.name))

    def told(self) -> dict[str, Count]:
        """Those of the kinds that the import has anything to do with."""
        return {kind: count for kind, count in self.by_kind.items() if count.has_changes or count.unchanged}


class ImportedAnswer(NamedTuple):
    """A person's answer in the file to a claim compared with a summary; the check, if there is one."""

    claim: Claim
    peer: Summary
    side: Side
    label: str
    check_id: int | None
    places: tuple[Stretch, ...] = ()
    """Where the summary says it."""
    votes: Votes = ()
    """What each of several raters said, where the file tells."""


class Replaced(NamedTuple):
    """A row whose text the file replaces: the line that does, its name, what to rename."""

    key: int
    line: int | None
    name: str
    renaming: str

    def refusal(self) -> str:
        return (
            f"{self.name} differs from the project's text, which has been judged and cannot be replaced. "
            f"Import the new text with another {self.renaming}, or into a new project."
        )


@dataclass(slots=True)
class ImportPlan:
    """What to write of some of the file's sets, in no particular order, and what forbids it.

    A large file is planned part by part; the parts share their counts, problems and remarks.
    """

    project: Project
    origin_name: str
    counts: ImportCounts = field(default_factory=ImportCounts)
    problems: Problems = field(default_factory=Problems)
    remarks: list[str] = field(default_factory=list)
    systems: list[System] = field(default_factory=list)
    document_sets: list[DocumentSet] = field(default_factory=list)
    regrouped: list[DocumentSet] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)
    summaries: list[Summary] = field(default_factory=list)
    updated: dict[int, Summary] = field(default_factory=dict)
    comparisons: list[Comparison] = field(default_factory=list)
    questions: list[Claim] = field(default_factory=list)
    retired_questions: list[int] = field(default_factory=list)
    claim_sets: list[ClaimSet] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    answers: list[ImportedAnswer] = field(default_factory=list)
    replaced_summaries: list[Replaced] = field(default_factory=list)
    replaced_documents: list[Replaced] = field(default_factory=list)
    replaced_claim_sets: list[Replaced] = field(default_factory=list)
    touched: dict[str, DocumentSet] = field(default_factory=dict)
    texts: list[tuple[Summary | Document, str]] = field(default_factory=list)
    """What is divided into units, with its language."""
    given_units: dict[int, tuple[Stretch, ...]] = field(default_factory=dict)
    """By the `summary_key` of a summary in `texts`: its units as the file cuts it."""

    @property
    def origin(self) -> str:
        """The origin of imported verdicts."""
        return f"{ORIGIN}{self.origin_name}"

    def part(self) -> ImportPlan:
        """Another part of the same import, with nothing in it yet."""
        return ImportPlan(self.project, self.origin_name, self.counts, self.problems, self.remarks)

    def divide(self, owner: Summary | Document, language: str) -> None:
        """Have a text divided into units."""
        self.texts.append((owner, language))

    def refuse_judged(self) -> None:
        """Note every replaced text that somebody has judged; its judgments would be lost or lie."""
        for rows, judged in (
            (self.replaced_summaries, judged_summaries(row.key for row in self.replaced_summaries)),
            (self.replaced_documents, judged_document_sets(row.key for row in self.replaced_documents)),
            (self.replaced_claim_sets, judged_claim_sets(row.key for row in self.replaced_claim_sets)),
        ):
            for row in rows:
                if row.key in judged:
                    self.problems.add(row.line, "", row.refusal())
