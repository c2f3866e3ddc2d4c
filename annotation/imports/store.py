"""Write document sets into a project.

The caller owns the transaction and must roll it back if there are `problems`.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Literal, NamedTuple

from django.db import connection
from django.db.models import Prefetch, Q
from django.utils import timezone

from annotation.core.by_hand import copy_rows, insert, new_keys
from annotation.core.criteria import criterion_of
from annotation.core.current_checks import take_out
from annotation.imports.problems import Findings
from annotation.imports.row import Claim as ClaimData
from annotation.imports.row import Dataset, Place, Reference, SetData, Side, Stretch, TargetWords
from annotation.imports.row import Summary as SummaryData
from annotation.judging.question_texts import MOST_QUESTIONS, question_key
from annotation.judging.services.running.questions import add_questions, questions_about
from annotation.models import (
    SCORES,
    Check,
    Claim,
    ClaimOrigin,
    ClaimSet,
    Comparison,
    Criterion,
    Document,
    DocumentSet,
    Project,
    Rating,
    Summary,
    System,
    Unit,
    Verdict,
)
from annotation.models.answer import Answer
from annotation.models.claim import has_number, new_queue_key
from annotation.scoring.fresh import fresh_scores, unscored_columns
from annotation.scoring.records import judged_text
from annotation.scoring.rescore import DERIVED
from evaluation import metrics
from evaluation.metrics import PACKS, counted
from evaluation.text import sentence_spans

SETS_AT_ONCE = 500
MOST_ORIGIN_CHARACTERS = 190
ORIGIN = "import:"
"""Prefix of `origin_name` of imported verdicts."""

_TOPS = (3, 5, 7, 10)
"""The highest points of guessed scales."""
_SUMMEVAL = {each.name.removeprefix("summeval_"): replace(each, asked="after") for each in PACKS["SummEval"]}
_OF_CHECK = (
    *("id", "project_id", "claim_id", "summary_id", "document_set_id", "side"),
    *("is_current", "has_number", "queue_key", *DERIVED),
)

Owner = Summary | DocumentSet
"""The text that claims are taken from: a summary, or the documents of a set."""
Units = dict[tuple[int | None, int | None], int]
"""Keys of units by the key of their summary and their number."""
Said = dict[str, tuple[str | None, dict[str, str]]]
"""The latest label and votes for a check by the name of the file, and the latest of all files by an empty name."""


@dataclass(slots=True)
class Count:
    """The numbers of rows of one kind that an import created, changed and left unchanged."""

    created: int = 0
    changed: int = 0
    unchanged: int = 0


Counts = dict[str, Count]
"""The counts of an import by kind of row."""

State = Literal["created", "changed", "unchanged"]
TextKey = tuple[str, str, TargetWords]
"""The kind of a text, its system or reference_id, and its target length, which references do not have."""


@dataclass(slots=True)
class Store:
    """Writes the document sets of a file into a project, some at a time.

    `stale` has the document_ids of existing sets to score again; `new_criteria` describes criteria with their scales.
    `texts` has the row of each summary and reference with its state, by document_id and key.
    """

    project: Project
    origin_name: str
    needs_documents: bool = False
    counts: Counts = field(default_factory=dict)
    problems: Findings = field(default_factory=Findings)
    systems: dict[str, System] = field(default_factory=dict)
    criteria: dict[str, Criterion] = field(default_factory=dict)
    new_criteria: list[str] = field(default_factory=list)
    stale: set[str] = field(default_factory=set)
    texts: dict[tuple[str, *TextKey], tuple[Summary, State]] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        """The `origin_name` that imported verdicts get."""
        return f"{ORIGIN}{self.origin_name}"

    def count(
        self, kind: str, there: Any, of: str = "", *, is_changed: bool = False, times: int = 1
    ) -> State:
        """Count rows: as created if `there` is falsy, otherwise as changed or unchanged. Return the word.

        `of` is the document_id of a set whose scores or statistics change with rows of this kind.
        """
        state: State = "changed" if there and is_changed else "unchanged" if there else "created"
        if times:
            count = self.counts.setdefault(kind, Count())
            setattr(count, state, getattr(count, state) + times)
            if state != "unchanged":
                self.stale.add(of)
        return state

    def begin(self, dataset: Dataset) -> None:
        """Create the systems and criteria that are missing."""
        sets = dataset.sets.values()
        names = {name for one in sets for name, _ in one.summaries}
        people = {each.author for one in sets for each in one.references.values()} - {""}
        self.systems = {row.name: row for row in System.objects.filter(project=self.project)}
        for name in sorted(names | people):
            self.count("systems" if name in names else "reference_authors", name in self.systems)
        kinds = dict.fromkeys(names, System.Kind.SUMMARISER) | dict.fromkeys(people, System.Kind.PERSON)
        lacking = sorted(kinds.keys() - self.systems.keys())
        new = [System(project=self.project, name=name, kind=kinds[name]) for name in lacking]
        insert(new)
        self.systems |= {row.name: row for row in new}
        self._make_criteria(dataset)

    def _make_criteria(self, dataset: Dataset) -> None:
        rated: dict[str, set[float]] = defaultdict(set)
        for summary in dataset.summaries():
            for (name, _), value in summary.rated.items():
                rated[name].add(value)
        rows = Criterion.objects.filter(project=self.project, retired_at=None)
        there = set(rows.values_list("name", flat=True))
        for name, values in rated.items():
            fact = _criterion(name, values)
            row = criterion_of(self.project, fact)
            self.count("criteria", row.name in there)
            if row.name not in there:
                there.add(row.name)
                told = "yes or no" if fact.scale == "yes_no" else f"{fact.values[0]} to {fact.values[-1]}"
                self.new_criteria.append(f"`{fact.name}` is {told}")
            self.criteria[name] = row
            scale = row.fact.values
            if scale and (max(values) > scale[-1] or min(values) < scale[0]):
                told = f"has ratings from {min(values):g} to {max(values):g}, and the project's criterion {row.name}"
                way_out = "Rename the column, or change the scale of the criterion in the settings."
                self.problems.add(None, name, f"{told} goes from {scale[0]} to {scale[-1]}. {way_out}")

    def write(self, sets: Sequence[tuple[str, SetData]]) -> None:
        """Write some sets, and the scores of new sets. After a problem, some parts are left out."""
        batch = _Batch(self, dict(sets))
        batch.write_sets()
        batch.write_texts()
        for part in (batch.write_questions, batch.write_claims, batch.write_answers, batch.write_ratings):
            if not self.problems.count:
                part()
        self.stale -= {"", *batch.new_sets}


class _Answer(NamedTuple):
    """People's answer to a claim about a summary; `check_id` is None if the check is new."""

    claim: Claim
    summary: Summary
    side: Side
    check_id: int | None
    label: str
    votes: dict[str, str]
    reason: str


class _Claims(NamedTuple):
    """A list of claims of a file, and the text in the project that they are taken from."""

    row: DocumentSet
    owner: Owner
    claims: list[ClaimData]
    side: Side
    target: TargetWords


@dataclass(slots=True)
class _Batch:
    """Some document sets of a file, with the rows that the project has for them.

    - `pairs`: comparisons that the project has
    - `new`: new texts, with their units if the file has them
    - `changed`: summaries with other metadata
    - `lists`: lists of claims in the file
    - `claims`: the rows of their claims, by text; `new_claims` are the new ones of them
    """

    store: Store
    data: dict[str, SetData]
    sets: dict[str, DocumentSet] = field(default_factory=dict)
    new_sets: dict[str, DocumentSet] = field(default_factory=dict)
    new: list[tuple[Summary | Document, tuple[Stretch, ...] | None]] = field(default_factory=list)
    pairs: set[tuple[int, int]] = field(default_factory=set)
    changed: list[Summary] = field(default_factory=list)
    lists: list[_Claims] = field(default_factory=list)
    claims: dict[Owner, list[Claim]] = field(default_factory=dict)
    new_claims: list[Claim] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)

    @property
    def old_sets(self) -> list[DocumentSet]:
        return [row for name, row in self.sets.items() if name not in self.new_sets]

    def each(self) -> Iterator[tuple[DocumentSet, SetData]]:
        return ((self.sets[name], one) for name, one in self.data.items())

    def _refuse(self, line: Place, owner: Owner, what: str = "text") -> None:
        told = f"{_name_of(owner)} has another {what} in the project. Import it with another document_id, system,"
        self.store.problems.add(line, "", f"{told} target_words or reference_id, or into a new project.")

    # Document sets and their texts

    def write_sets(self) -> None:
        project = self.store.project
        rows = DocumentSet.objects.filter(project=project, external_id__in=list(self.data))
        whole = rows.prefetch_related("documents", "summaries__system")
        there = {row.external_id: row for row in whole}
        regrouped = []
        for name, one in self.data.items():
            about = {"group": one.group, "language": one.language or "en", "metadata": one.metadata}
            row = there.get(name) or DocumentSet(project=project, external_id=name, **about)
            is_regrouped = one.group not in ("", row.group)
            self.store.count("document_sets", row.pk, name, is_changed=is_regrouped)
            if is_regrouped:
                row.group = one.group
                regrouped.append(row)
            if one.language not in ("", row.language):
                self._refuse(one.line, row, "language")
            self.sets[name] = row
        self.new_sets = {name: row for name, row in self.sets.items() if name not in there}
        insert(list(self.new_sets.values()))
        DocumentSet.objects.bulk_update(regrouped, ["group"], batch_size=2000)

    def write_texts(self) -> None:
        """Write documents, summaries, references, their comparisons and units. A text of the project that differs is a
        problem.
        """
        there: dict[int, list[Summary]] = defaultdict(list)
        there |= {row.pk: [*row.summaries.all()] for row in self.old_sets}
        compared = Comparison.objects.filter(summary__document_set__in=self.old_sets)
        self.pairs = {*compared.values_list("summary_id", "reference_id")}
        for row, one in self.each():
            self._plan_documents(row, one)
            self._plan_texts(row, one, there[row.pk])
        created = [text for text, _ in self.new if isinstance(text, Summary)]
        insert([text for text, _ in self.new if isinstance(text, Document)])
        insert(created)
        Summary.objects.bulk_update(self.changed, ["metadata"], batch_size=2000)
        for summary in created:
            there[summary.document_set_id].append(summary)
        for row, one in self.each():
            self._compare(row, one, there[row.pk])
        insert(self.comparisons)
        copy_rows(Unit, ("summary_id", "document_id", "position", "start", "end"), self._units())

    def _plan_documents(self, row: DocumentSet, one: SetData) -> None:
        texts = [] if row.external_id in self.new_sets else row.documents.all()
        there = [document.text for document in texts]
        self.store.count("documents", there, row.external_id, times=len(there or one.documents))
        if there and one.documents and there != list(one.documents):
            self._refuse(one.line, row)
        elif not (there or one.documents) and self.store.needs_documents:
            told = f"is missing, and the project has no document {row.external_id!r}. Send it with the first of its"
            self.store.problems.add(one.line, "document", f"{told} rows.")
        elif not there:
            numbered = enumerate(one.documents, start=1)
            self.new += [(Document(document_set=row, position=at, text=text), None) for at, text in numbered]

    def _plan_texts(self, row: DocumentSet, one: SetData, there: Sequence[Summary]) -> None:
        known = {_key_of(each): each for each in there}
        for data, new in self._texts(row, one):
            key = _key_of(new)
            text = known.get(key, new)
            is_changed = new.metadata not in ({}, text.metadata)
            state = self.store.count(key[0], text.pk, row.external_id, is_changed=is_changed)
            self.store.texts[row.external_id, *key] = (text, state)
            if text is new:
                self.new.append((new, data.units))
            elif is_changed:
                text.metadata = new.metadata
                self.changed.append(text)
            if text.text != new.text:
                self._refuse(data.line, text)
            if new.system not in (None, text.system):
                self._refuse(data.line, text, "author")

    def _texts(self, row: DocumentSet, one: SetData) -> Iterator[tuple[SummaryData | Reference, Summary]]:
        systems = self.store.systems
        for (name, target), given in one.summaries.items():
            about: dict[str, Any] = {"system": systems[name], "target_words": target, "text": given.summary}
            about |= {"names_references": (name, target, "") not in one.pairs, "metadata": given.metadata}
            yield given, Summary(document_set=row, is_summary=True, **about)
        for name, reference in one.references.items():
            about = {"system": systems.get(reference.author), "external_id": name, "text": reference.text}
            yield reference, Summary(document_set=row, is_reference=True, **about)

    def _compare(self, row: DocumentSet, one: SetData, texts: Sequence[Summary]) -> None:
        references = [each for each in texts if each.is_reference]
        for summary, reference in product((each for each in texts if each.is_summary), references):
            is_own = summary.system == reference.system and summary.text == reference.text
            is_named = (*_key_of(summary)[1:], reference.external_id) in one.pairs
            if is_own or (summary.names_references and not is_named):
                continue
            there = (summary.pk, reference.pk) in self.pairs
            if self.store.count("comparisons", there, row.external_id) == "created":
                self.comparisons.append(Comparison(summary=summary, reference=reference))

    def _units(self) -> Iterator[tuple[int | None, int | None, int, int, int]]:
        """The units of all documents of a set are numbered together."""
        numbers: dict[object, int] = defaultdict(int)
        for owner, given in self.new:
            is_document = isinstance(owner, Document)
            text = owner.text if isinstance(owner, Document) else judged_text(owner, self.store.project)
            spans = sentence_spans(text, owner.document_set.language) if given is None else ()
            keys = (None, owner.pk) if is_document else (owner.pk, None)
            numbered = owner.document_set_id if is_document else keys
            for start, end in given or ((span.start, span.end) for span in spans):
                if start < len(text):
                    numbers[numbered] += 1
                    yield (*keys, numbers[numbered], start, min(end, len(text)))

    # Questions and claims

    def write_questions(self) -> None:
        """Add new questions; they replace the current questions of a judge."""
        for row, one in self.each():
            there = [*questions_about(row.pk)] if one.questions else []
            given = {question_key(each.text) for each in there if each.origin != ClaimOrigin.JUDGE}
            new = [text for text in one.questions if question_key(text) not in given]
            standing = [each for each in there if each.removed_at is None]
            made_up = [each.pk for each in standing if new and each.origin == ClaimOrigin.JUDGE]
            self.store.count("questions", False, row.external_id, times=len(new))
            self.store.count("questions", True, is_changed=True, times=len(made_up))
            self.store.count("questions", True, times=len(one.questions) - len(new))
            if (number := len(standing) - len(made_up) + len(new)) > MOST_QUESTIONS:
                told = f"would give {row.external_id!r} {number} questions; a document set may have {MOST_QUESTIONS}."
                self.store.problems.add(one.line, "questions", f"{told} Retire some in the project first.")
            elif new:
                take_out(made_up)
                add_questions(row.pk, new, origin=ClaimOrigin.IMPORTED, origin_name=self.store.origin_name)

    def write_claims(self) -> None:
        """Write claims of texts that have none. A list of claims that differs from the list in the project is a
        problem.
        """
        lists = self.lists = list(self._lists_of_claims())
        old = [each.owner for each in lists if each.row.external_id not in self.new_sets]
        rows = self.claims = _known_claims(old)
        origin = {"origin": ClaimOrigin.IMPORTED, "origin_name": self.store.origin_name}
        new = {each.owner: each for each in lists if each.owner not in rows}
        made = {owner: ClaimSet(**{_column_of(owner): owner}, **origin) for owner in new}
        insert(list(made.values()))
        linked = [owner.pk for owner, each in new.items() if any(claim.unit for claim in each.claims)]
        keys = Unit.objects.filter(summary__in=linked).values_list("summary_id", "position", "pk")
        units: Units = {(summary, position): pk for summary, position, pk in keys}
        for owner, each in new.items():
            numbered = enumerate(each.claims, start=1)
            rows[owner] = [_claim_row(made[owner], claim, place, units) for place, claim in numbered]
            self.new_claims += rows[owner]
        for each in lists:
            there, given, name = rows[each.owner], each.claims, each.row.external_id
            self.store.count("claims", there and there[0].pk, name, times=len(there))
            if [(row.text, row.weight) for row in there] != [(claim.text, claim.weight) for claim in given]:
                what = "list of claims for another target length or"
                self._refuse(self.data[name].line, each.owner, what)
        insert(self.new_claims)

    def _lists_of_claims(self) -> Iterator[_Claims]:
        for row, one in self.each():
            for (system, target), summary in one.summaries.items():
                if summary.claims:
                    owner = self.store.texts[row.external_id, "summaries", system, target][0]
                    yield _Claims(row, owner, summary.claims, "summary", target)
            for (reference_id, target), claims in one.claims.items():
                found = self.store.texts.get((row.external_id, "references", reference_id, None))
                yield _Claims(row, found[0] if found else row, [*claims.values()], "reference", target)

    def _answers(self) -> Iterator[_Answer]:
        """Yield the answers that the project lacks.

        An answer is known if it equals the latest one from files of this name, or else the latest imported one.
        """
        checks, said = _known_answers(self.old_sets)
        for of in self.lists:
            for row, claim in zip(self.claims[of.owner], of.claims, strict=True):
                for system, label in claim.verdicts.items():
                    summary, _ = self.store.texts[of.row.external_id, "summaries", system, of.target]
                    check_id = checks.get((row.pk, summary.pk))
                    self.store.count("checks", check_id)
                    before = said.get(check_id or 0, {})
                    votes = claim.votes.get(system, {})
                    is_known = before.get(self.store.origin, before.get("")) == (label, votes)
                    if self.store.count("verdicts", is_known, of.row.external_id) == "created":
                        reason = claim.reasons.get(system) or ""
                        yield _Answer(row, summary, of.side, check_id, label, votes, reason)

    def write_answers(self) -> None:
        answers = list(self._answers())
        derived = self._score_new(answers)
        unscored, project = unscored_columns(), self.store.project.pk
        keys = iter(new_keys(Check, sum(each.check_id is None for each in answers)))
        checks, rows = [], []
        for each in answers:
            check, claim, summary = each.check_id or next(keys), each.claim, each.summary
            if each.check_id is None:
                place = (check, project, claim.pk, summary.pk, summary.document_set_id, each.side)
                state = (claim.removed_at is None, has_number(claim.text), new_queue_key())
                checks.append((*place, *state, *derived.get((claim.pk, summary.pk), unscored)))
            votes = json.dumps([*each.votes.items()])
            rows.append((check, self.store.origin, each.label, votes, each.reason, ""))
        copy_rows(Check, _OF_CHECK, checks)
        _copy_answers(Verdict, ("check_row_id", "origin_name", "label", "votes", "reason", "repeated"), rows)

    def _score_new(self, answers: Sequence[_Answer]) -> dict[tuple[int, int], Any]:
        """Store the scores of new sets. Return the derived columns of their checks, by claim and summary."""
        created = [text for text, _ in self.new if isinstance(text, Summary) and text.is_summary]
        summaries = [text for text in created if text.document_set.external_id in self.new_sets]
        labels: dict[int, dict[int, str]] = defaultdict(dict)
        for each in answers:
            labels[each.summary.pk][each.claim.pk] = each.label
        units = Unit.objects.filter(summary__in={row.reference_id for row in self.comparisons})
        rows: dict[str, Any] = {"comparisons": self.comparisons, "units": units, "claims": self.new_claims}
        derived = {}
        found = list(fresh_scores(self.store.project, summaries, labels, **rows))
        for summary, fresh in zip(summaries, found, strict=True):
            fresh.score.project_id = self.store.project.pk
            derived.update({(claim, summary.pk): columns for claim, columns in fresh.columns.items()})
        insert([fresh.score for fresh in found])
        return derived

    def write_ratings(self) -> None:
        columns = ("summary_id", "criterion_id", "origin_name", "value")
        known = Rating.objects.filter(summary__document_set__in=self.old_sets, person=None, judge=None)
        there = {(*key,): value for *key, value in known.order_by("pk").values_list(*columns)}
        new = []
        for row, one in self.each():
            for key, given in one.summaries.items():
                summary = self.store.texts[row.external_id, "summaries", *key][0].pk
                for (name, rater), value in given.rated.items():
                    place = summary, self.store.criteria[name].pk, rater
                    if self.store.count("ratings", there.get(place) == value) == "created":
                        new.append((*place, value, ""))
        _copy_answers(Rating, (*columns, "reason"), new)


def _copy_answers(kind: type[Answer], names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    rest = {"role": Answer.Role.REVIEWER, "error_type": "", "evidence": "[]", "created_at": now}
    copy_rows(kind, (*names, *rest), ((*row, *rest.values()) for row in rows))


def _known_claims(owners: Sequence[Owner]) -> dict[Owner, list[Claim]]:
    """Lock summaries, and load the claims of their active lists, removed claims too. People's claims are left out."""
    summaries = [each.pk for each in owners if isinstance(each, Summary)]
    list(Summary.objects.select_for_update(of=("self",)).filter(pk__in=summaries).order_by("pk").only("pk"))
    sets = [each.pk for each in owners if isinstance(each, DocumentSet)]
    of_owners = Q(summary__in=summaries) | Q(document_set__in=sets)
    lists = ClaimSet.objects.filter(of_owners, kind=ClaimSet.Kind.CLAIMS, is_active=True)
    known: dict[Owner, list[Claim]] = {}
    for one in lists.prefetch_related(Prefetch("claims", Claim.all_claims.order_by("pk"))):
        owner = Summary(pk=one.summary_id) if one.summary_id else DocumentSet(pk=one.document_set_id)
        known[owner] = [claim for claim in one.claims.all() if claim.origin != ClaimOrigin.PERSON]
    return known


def _known_answers(sets: Sequence[DocumentSet]) -> tuple[dict[tuple[int, int], int], dict[int, Said]]:
    """Load checks by claim and summary, and for each check the labels and votes of files."""
    said: dict[int, Said] = defaultdict(dict)
    checks = Check.objects.filter(summary__document_set__in=sets).values_list("pk", "claim_id", "summary_id")
    of_files = {"role": Verdict.Role.REVIEWER, "origin_name__startswith": ORIGIN}
    imported = Verdict.objects.filter(check_row__summary__document_set__in=sets, **of_files).order_by("pk")
    columns = ("check_row_id", "origin_name", "label", "votes")
    for check_id, origin, label, votes in imported.values_list(*columns):
        said[check_id][origin] = said[check_id][""] = label, dict(votes)
    return {(claim_id, summary_id): pk for pk, claim_id, summary_id in checks}, said


def _criterion(name: str, values: Collection[float]) -> metrics.Criterion:
    """A name that belongs to a score of Coverdict gets the prefix `people_`."""
    known = _SUMMEVAL.get(name.casefold().removeprefix("summeval_"))
    if known and min(values) >= 1 and max(values) <= 5:
        return known
    named = f"people_{name}" if name in SCORES else name
    question = f"{name.replace('_', ' ').capitalize()} of the summary"
    if set(values) <= {0, 1} and 0 in values:
        return metrics.Criterion(named, question, "yes_no", asked="after")
    top = next((top for top in _TOPS if max(values) <= top), 0)
    if not top:
        return metrics.Criterion(named, question, "percent", asked="after")
    first = 0 if min(values) < 1 else 1
    words = (f"{first} · lowest", *map(str, range(first + 1, top)), f"{top} · highest")
    return metrics.Criterion(named, question, points=counted(words, first), asked="after")


def _claim_row(claim_set: ClaimSet, claim: ClaimData, position: int, units: Units) -> Claim:
    start = claim_set.summary.text.find(claim.text) if claim_set.summary else -1
    place = {"start": start, "end": start + len(claim.text)} if start >= 0 else {}
    unit = units.get((claim_set.summary_id, claim.unit))
    about = {"text": claim.text, "weight": claim.weight, "origin": ClaimOrigin.IMPORTED}
    return Claim(claim_set=claim_set, position=position, unit_id=unit, **about, **place)


def _column_of(owner: Owner) -> str:
    return "summary" if isinstance(owner, Summary) else "document_set"


def _key_of(text: Summary) -> TextKey:
    if text.is_summary:
        return "summaries", str(text.system), text.target_words
    return "references", text.external_id, None


def _name_of(owner: Owner) -> str:
    if isinstance(owner, DocumentSet):
        return f"the document of {owner.external_id!r}"
    kind, name = ("summary", str(owner.system)) if owner.is_summary else ("reference", owner.external_id)
    return f"the {kind} {name!r} of {owner.document_set.external_id!r}"
