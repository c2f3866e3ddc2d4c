"""What an archive holds: the kinds of rows, in an order in which each refers to earlier ones alone, and their fields.

Files, schemas, restoring and the page about archives all follow from this list. A model or a field that is not in it
is named in `LEFT_OUT` or by its kind, with the reason; a test holds that nothing else is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import Any

from django.contrib.auth.models import User
from django.db import models

from annotation.models import (
    AccountEvent,
    AccountSession,
    Adjudication,
    Analysis,
    Assignment,
    CachedValue,
    CallClaim,
    CallStart,
    Check,
    CheckLook,
    Claim,
    ClaimChange,
    ClaimSet,
    Comment,
    Comparison,
    Dispute,
    Document,
    DocumentSet,
    Draw,
    DrawnCheck,
    Event,
    Export,
    Guideline,
    Import,
    ImportedPerson,
    Invitation,
    Job,
    Judge,
    JudgeCall,
    JudgeExamples,
    JudgeShare,
    JudgeTrial,
    MailTurn,
    Membership,
    Notice,
    Project,
    PromptVersion,
    PublishedPercent,
    PublishedScore,
    Question,
    QuestionAnswer,
    Rating,
    Run,
    Score,
    SetupLink,
    Sitting,
    Summary,
    SummaryJudgment,
    System,
    Tally,
    TextPermission,
    Unit,
    UnitChange,
    UnitJudgment,
    Verdict,
    VerdictBatch,
    Worker,
)

VERSION = 2
"""Of the archives that are written; raised where a kind or a field is added, which then says `since` when."""

FORMAT = "coverdict-archive"
MANIFEST = "manifest.json"
README = "README.md"
PEOPLE = "people"
"""The file of those who said something; its rows are of no model."""

Model = type[models.Model]


class CellKind(StrEnum):
    ID = "id"
    REFERENCE = "reference"
    REFERENCES = "references"
    PERSON = "person"
    PEOPLE = "people"
    TEXT = "text"
    FLAG = "flag"
    INTEGER = "integer"
    NUMBER = "number"
    MOMENT = "moment"
    INTEGERS = "integers"
    TEXTS = "texts"
    JSON = "JSON"


@dataclass(frozen=True)
class Cell:
    """One field of a kind as it stands in the file. `holds_ids`, `holds_names`: inside of a text or of JSON.

    `holds_votes`: lists of names and labels, of raters where the row is people's.
    """

    field: models.Field[Any, Any] | models.ManyToManyField[Any, Any]
    kind: CellKind
    holds_ids: bool = False
    holds_names: bool = False
    holds_votes: bool = False
    since: int = 1

    @property
    def name(self) -> str:
        return "id" if self.kind is CellKind.ID else self.field.name

    @property
    def may_be_null(self) -> bool:
        return bool(self.field.null) and self.kind not in (CellKind.REFERENCES, CellKind.PEOPLE)

    @property
    def target(self) -> Model:
        """What a reference refers to."""
        found: Model = self.field.related_model  # type: ignore[assignment]
        return found

    @property
    def lookups(self) -> tuple[str, ...]:
        """What is read of the database for it; nothing where it stands in a table of its own."""
        match self.kind:
            case CellKind.REFERENCE:
                return (f"{self.field.name}__public_id",)
            case CellKind.PERSON:
                return (f"{self.field.name}_id", f"{self.field.name}__username")
            case CellKind.REFERENCES | CellKind.PEOPLE:
                return ()
        return (self.field.name, "source") if self.holds_votes else (self.field.name,)


INTEGER_LISTS = frozenset({"evidence", "marks"})
TEXT_LISTS = frozenset({"flags", "metrics", "refused_parameters", "roles"})

NO_LEASES = MappingProxyType({"leased_to": "who works at it here and now", "lease_until": "as above"})


@dataclass(frozen=True)
class Kind:
    """The rows of one model: the file's name, what they are, and which fields stay out for which reason."""

    name: str
    model: Model
    what: str
    left_out: Mapping[str, str] = field(default_factory=dict)
    holds_ids: tuple[str, ...] = ()
    """Fields in whose text or JSON public ids stand."""
    holds_names: tuple[str, ...] = ()
    """Fields in whose text or JSON usernames may stand."""
    holds_votes: tuple[str, ...] = ()
    """Fields in whose JSON raters of an imported file are named, or the judges of a panel."""
    since: int = 1
    """The version of archives in which it came."""
    added: Mapping[str, int] = field(default_factory=dict)
    """Fields that came in later versions than it, with these."""

    @property
    def file(self) -> str:
        return f"{self.name}.jsonl"

    @property
    def schema_file(self) -> str:
        return f"schemas/{self.name}.schema.json"

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        meta = self.model._meta
        wanted = [
            field
            for field in (*meta.concrete_fields, *meta.many_to_many)
            if not field.primary_key
            and field.related_model is not Project
            and field.name not in self.left_out
        ]
        return tuple(
            Cell(
                field,
                _kind_of(field),
                holds_ids=field.name in self.holds_ids,
                holds_names=field.name in self.holds_names,
                holds_votes=field.name in self.holds_votes,
                since=self.added.get(field.name, self.since),
            )
            for field in wanted
        )

    @property
    def project_field(self) -> str | None:
        """The column that names the project, where there is one: it is in no file."""
        found = (each.attname for each in self.model._meta.concrete_fields if each.related_model is Project)
        return next(found, None)


def between(cell: Cell) -> tuple[Model, str, str]:
    """The table between a kind and what it names many of: the model, and its two columns."""
    assert isinstance(cell.field, models.ManyToManyField), "asked of references or people"
    through = cell.field.remote_field.through
    assert through is not None, "every such column has one"
    return through, cell.field.m2m_field_name(), cell.field.m2m_reverse_field_name()


def _kind_of(column: models.Field[Any, Any] | models.ManyToManyField[Any, Any]) -> CellKind:
    is_person = column.related_model is User
    if isinstance(column, models.ManyToManyField):
        return CellKind.PEOPLE if is_person else CellKind.REFERENCES
    if isinstance(column, models.ForeignKey):
        return CellKind.PERSON if is_person else CellKind.REFERENCE
    if column.name == "public_id":
        return CellKind.ID
    if isinstance(column, models.JSONField):
        if column.name in INTEGER_LISTS:
            return CellKind.INTEGERS
        return CellKind.TEXTS if column.name in TEXT_LISTS else CellKind.JSON
    for type_of_column, kind in _KINDS.items():
        if isinstance(column, type_of_column):
            return kind
    raise TypeError(f"An archive has no form for {column}.")


_KINDS: dict[type[models.Field[Any, Any]], CellKind] = {
    models.BooleanField: CellKind.FLAG,
    models.DateTimeField: CellKind.MOMENT,
    models.IntegerField: CellKind.INTEGER,
    models.FloatField: CellKind.NUMBER,
    models.CharField: CellKind.TEXT,
    models.TextField: CellKind.TEXT,
}

KINDS: tuple[Kind, ...] = (
    Kind(
        "project",
        Project,
        "the project, with its rules, licence and provenance: one row",
        {
            "staged_until": "is empty in every project that can be seen",
            "rescore_due_at": "scores are rebuilt when it is restored",
            "archived_at": "a restored project is open",
            "deleted_at": "is empty in every project that can be seen",
        },
    ),
    Kind("guidelines", Guideline, "versions of what people are told about how to judge"),
    Kind("prompt_versions", PromptVersion, "the project's own words for steps of judging"),
    Kind(
        "judges",
        Judge,
        "judges that said something here, as they were set up",
        {
            "base_url": "an address of the installation it comes from",
            "api_key_env": "the name of a key",
            "call_space": "keeps stored calls apart, which are not in it",
        },
    ),
    Kind("judge_examples", JudgeExamples, "examples that judges were told"),
    Kind("systems", System, "who wrote summaries"),
    Kind("document_sets", DocumentSet, "what is summarised together"),
    Kind("documents", Document, "source texts"),
    Kind("summaries", Summary, "model and peer summaries"),
    Kind(
        "unit_changes",
        UnitChange,
        "units joined, split or opened again",
        {"before": "keys of the database it comes from; undoing goes by the rules of any change"},
    ),
    Kind("units", Unit, "numbered pieces of texts with their offsets, retired ones too"),
    Kind("comparisons", Comparison, "which peer summary is compared with which model summary"),
    Kind("claim_sets", ClaimSet, "versions of the claims of texts", holds_names=("origin_name",)),
    Kind("claim_changes", ClaimChange, "claims reworded, split, joined, deleted, added"),
    Kind("claims", Claim, "claims, retired ones too"),
    Kind("checks", Check, "claims compared with texts, with their labels", NO_LEASES),
    Kind("runs", Run, "passes of judges over the project", holds_names=("stop_reason",)),
    Kind(
        "verdict_batches",
        VerdictBatch,
        "lists of judges' verdicts accepted at once",
        holds_ids=("filters",),
        holds_names=("filters",),
    ),
    Kind(
        "verdicts",
        Verdict,
        "answers of judges and reviewers, with evidence and reasons",
        holds_votes=("votes",),
    ),
    Kind("check_looks", CheckLook, "what reviewers were shown of checks, and when"),
    Kind("draws", Draw, "random samples: frame, seed and method", holds_ids=("frame",)),
    Kind("drawn_checks", DrawnCheck, "checks of samples, with inclusion probabilities and answers"),
    Kind(
        "sittings",
        Sitting,
        "assessors' document sets, open ones too",
        {"pen": "the form in a browser that may write", "pen_seq": "as above"},
    ),
    Kind(
        "assignments",
        Assignment,
        "summaries given to assessors, with inclusion probabilities",
        {"lease_until": "who works at it here and now"},
    ),
    Kind(
        "unit_judgments",
        UnitJudgment,
        "assessors' percents, marks and notes, earlier ones too",
        {"client_id": "the form in a browser that sent it"},
    ),
    Kind(
        "summary_judgments",
        SummaryJudgment,
        "assessors' quality answers and unmarked percents",
        {"client_id": "the form in a browser that sent it"},
    ),
    Kind("adjudications", Adjudication, "decisions of adjudicators, withdrawn ones too"),
    Kind("questions", Question, "closed questions about documents", holds_names=("origin_name",)),
    Kind("question_answers", QuestionAnswer, "judges' answers to them"),
    Kind("ratings", Rating, "ratings of whole summaries"),
    Kind("published_scores", PublishedScore, "lines of published tables"),
    Kind("published_percents", PublishedPercent, "percents per unit of published tables"),
    Kind("comments", Comment, "remarks on claims and units", holds_names=("text",)),
    Kind(
        "scores",
        Score,
        "scores of peer summaries; computed again when restored",
        {"revision": "set again at every writing", "computed_at": "as above"},
    ),
    Kind(
        "events",
        Event,
        "the log: who did what to which row",
        holds_ids=("target_id", "data"),
        holds_names=("data",),
    ),
)

LEFT_OUT: Mapping[Model, str] = {
    Analysis: "statistics, computed again from the rows",
    Dispute: "computed from what was said, with another sample to audit; decisions are in adjudications",
    JudgeCall: "requests and replies word by word; stored once for all projects of an installation",
    CallClaim: "work under way here and now",
    CallStart: "work under way here and now",
    JudgeShare: "work under way here and now",
    Job: "work under way here and now",
    Worker: "work under way here and now",
    Tally: "of the installation, not of a project",
    JudgeTrial: "a sample claim, asked and kept for a day",
    Export: "files that lie on the server",
    Import: "files that lie on the server",
    Notice: "told one person in this installation",
    CachedValue: "of the installation, not of a project",
    MailTurn: "of the installation, not of a project",
    SetupLink: "of the installation, not of a project",
    Invitation: "lets people in; nobody comes in by an archive",
    Membership: "lets people in; nobody comes in by an archive",
    ImportedPerson: "names of the archive's people, kept in people.jsonl",
    TextPermission: "where texts may be sent is for each installation to say",
    AccountEvent: "of accounts, which stay in their installation",
    AccountSession: "of accounts, which stay in their installation",
}
"""Models whose rows are in no archive, with the reason."""

BY_MODEL: Mapping[Model, Kind] = {kind.model: kind for kind in KINDS}
