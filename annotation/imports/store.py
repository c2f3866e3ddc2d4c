"""Write document sets into a project.

The caller owns the transaction and must roll it back if there are `problems`.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import product
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import F, Q
from django.utils import timezone

from annotation.core.by_hand import copy_rows, insert, new_keys
from annotation.core.current_checks import take_out
from annotation.imports.problems import Findings
from annotation.imports.row import Claim as ClaimData
from annotation.imports.row import (
    Dataset,
    SetData,
    Side,
    Stretch,
    SummaryKey,
    TargetWords,
    Votes,
    has_one_text,
)
from annotation.judging.question_texts import MOST_QUESTIONS, question_key
from annotation.judging.services.running.questions import add_questions
from annotation.models import (
    SCORES,
    Assignment,
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
    Reading,
    Summary,
    System,
    Unit,
    Verdict,
)
from annotation.models.answer import Answer
from annotation.models.claim import QUESTIONS, has_number, new_queue_key
from annotation.scoring.fresh import fresh_scores, unscored_columns
from annotation.scoring.records import judged_text
from annotation.scoring.rescore import DERIVED
from annotation.texts.queries.unit_texts import judged_summaries
from annotation.texts.services.change_units import rename_readings
from evaluation import metrics
from evaluation.metrics import PACKS, counted
from evaluation.text import sentence_spans

SETS_AT_ONCE = 500
MOST_ORIGIN_CHARACTERS = 190
ORIGIN = "import:"
"""Prefix of `origin_name` of imported verdicts."""

_BASELINE = re.compile(r"(lead|random|baseline)([-_ ]?\d+)?|.*\bbaseline\b.*", re.IGNORECASE)
_TOPS = (3, 4, 5, 7, 10)
"""The highest points of guessed scales."""
_SUMMEVAL = {each.name.removeprefix("summeval_"): replace(each, asked="after") for each in PACKS["SummEval"]}
_OF_CHECK = (
    *("id", "project_id", "claim_id", "summary_id", "document_set_id", "side"),
    *("is_current", "has_number", "queue_key"),
    *DERIVED,
)

Owner = Summary | DocumentSet
"""The text that claims are taken from: a summary, or the documents of a set."""


@dataclass(slots=True)
class Count:
    """The numbers of rows of one kind that an import created, changed and left unchanged."""

    created: int = 0
    changed: int = 0
    unchanged: int = 0

    @property
    def has_changes(self) -> bool:
        return bool(self.created or self.changed)

    def of(self, there: object, *, is_changed: bool = False, times: int = 1) -> None:
        """Count rows: as created if `there` is falsy, otherwise as changed or unchanged."""
        kind = "changed" if there and is_changed else "unchanged" if there else "created"
        setattr(self, kind, getattr(self, kind) + times)


@dataclass(slots=True)
class ImportCounts:
    """The counts of an import, by kind of row."""

    document_sets: Count = field(default_factory=Count)
    documents: Count = field(default_factory=Count)
    systems: Count = field(default_factory=Count)
    reference_authors: Count = field(default_factory=Count)
    references: Count = field(default_factory=Count)
    summaries: Count = field(default_factory=Count)
    comparisons: Count = field(default_factory=Count)
    questions: Count = field(default_factory=Count)
    claims: Count = field(default_factory=Count)
    checks: Count = field(default_factory=Count)
    verdicts: Count = field(default_factory=Count)
    criteria: Count = field(default_factory=Count)
    ratings: Count = field(default_factory=Count)

    @property
    def by_kind(self) -> dict[str, Count]:
        """The counts by kind, in the order in which reports list them."""
        return {kind.name: getattr(self, kind.name) for kind in fields(self)}

    @property
    def has_changes(self) -> bool:
        return any(count.has_changes for count in self.by_kind.values())

    def present(self) -> dict[str, Count]:
        """Return the counts that are not all 0."""
        return {kind: count for kind, count in self.by_kind.items() if count.has_changes or count.unchanged}


Written = tuple[Summary, str]
"""The row of a summary or reference, with "created", "changed" or "unchanged"."""


@dataclass(slots=True)
class Store:
    """Writes the document sets of a file into a project, some at a time.

    `stale` has the keys of existing sets to score again; `new_criteria` describes criteria with their scales.
    `summaries` and `references` have the row of each summary and reference by document_id and key.
    """

    project: Project
    origin_name: str
    counts: ImportCounts = field(default_factory=ImportCounts)
    problems: Findings = field(default_factory=Findings)
    systems: dict[str, System] = field(default_factory=dict)
    criteria: dict[str, Criterion] = field(default_factory=dict)
    new_criteria: list[str] = field(default_factory=list)
    stale: set[int] = field(default_factory=set)
    summaries: dict[tuple[str, SummaryKey], Written] = field(default_factory=dict)
    references: dict[tuple[str, str, TargetWords], Written] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        """The `origin_name` that imported verdicts get."""
        return f"{ORIGIN}{self.origin_name}"

    def begin(self, dataset: Dataset) -> None:
        """Create the systems and criteria that are missing."""
        names, people = dataset.writers()
        self.systems = {row.name: row for row in System.objects.filter(project=self.project)}
        new = {}
        for name in sorted(names | people):
            count = self.counts.systems if name in names else self.counts.reference_authors
            count.of(name in self.systems)
            if name not in self.systems:
                kind = System.Kind.BASELINE if _BASELINE.fullmatch(name) else System.Kind.SUMMARISER
                kind = System.Kind.PERSON if name in people else kind
                new[name] = System(project=self.project, name=name, kind=kind)
        insert(list(new.values()))
        self.systems |= new
        self._make_criteria(dataset.rated())

    def _make_criteria(self, rated: Mapping[str, set[float]]) -> None:
        rows = Criterion.objects.filter(project=self.project, retired_at=None).order_by("position", "pk")
        there = {row.name: row for row in rows}
        last = max((row.position for row in there.values()), default=0)
        for name, values in rated.items():
            fact = _criterion(name, values)
            row = there.get(fact.name)
            self.counts.criteria.of(row)
            if row is None:
                last += 1
                row = Criterion.objects.create(project=self.project, position=last, **asdict(fact))
                there[fact.name] = row
                told = "yes or no" if fact.scale == "yes_no" else f"{fact.values[0]} to {fact.values[-1]}"
                source = "" if fact in _SUMMEVAL.values() else ", guessed from the values"
                self.new_criteria.append(f"`{fact.name}` is {told}{source}")
            self.criteria[name] = row
            scale = row.fact.values
            if scale and (max(values) > scale[-1] or min(values) < scale[0]):
                told = f"has ratings from {min(values):g} to {max(values):g}, and the project's criterion {row.name}"
                way_out = "Rename the column, or retire the criterion in the settings."
                self.problems.add(None, name, f"{told} goes from {scale[0]} to {scale[-1]}. {way_out}")

    def write(self, sets: Sequence[tuple[str, SetData]], *, scores: bool = True) -> None:
        """Write some sets, and the scores of new sets if `scores` is True. After a problem, some parts are left out."""
        batch = _Batch(self, dict(sets))
        batch.write_sets()
        batch.plan_summaries()
        batch.make_way()
        if self.problems.count:
            return
        batch.write_summaries()
        batch.write_questions()
        answers = batch.write_claims()
        if not self.problems.count:
            batch.write_answers(answers, scores=scores)
            batch.write_ratings()
            self.stale |= batch.touched - batch.new_sets


class _Answer(NamedTuple):
    """People's answer to a claim about a summary; `check_id` is None if the check is new."""

    claim: Claim
    data: ClaimData
    summary: Summary
    system: str
    side: Side
    check_id: int | None


@dataclass(slots=True)
class _Batch:
    """Some document sets of a file, with the rows that the project has for them.

    - `touched`: sets whose scores or statistics may change
    - `there`: the project's summaries and references of each set; `pairs`: their comparisons
    - `replaced`: keys of texts that change, with their lines
    - `cuts`: texts to be divided into units, with their units if the file has them
    """

    store: Store
    data: dict[str, SetData]
    sets: dict[str, DocumentSet] = field(default_factory=dict)
    new_sets: set[int] = field(default_factory=set)
    touched: set[int] = field(default_factory=set)
    there: dict[int, list[Summary]] = field(default_factory=lambda: defaultdict(list))
    pairs: set[tuple[int, int]] = field(default_factory=set)
    created: list[Summary] = field(default_factory=list)
    updated: dict[int, Summary] = field(default_factory=dict)
    replaced: dict[int, int | None] = field(default_factory=dict)
    cuts: list[tuple[Summary | Document, tuple[Stretch, ...] | None]] = field(default_factory=list)
    new_claims: list[Claim] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)

    @property
    def counts(self) -> ImportCounts:
        return self.store.counts

    @property
    def old_sets(self) -> dict[int, DocumentSet]:
        return {row.pk: row for row in self.sets.values() if row.pk not in self.new_sets}

    def each(self) -> Iterator[tuple[DocumentSet, SetData]]:
        return ((self.sets[name], one) for name, one in self.data.items() if name in self.sets)

    def _refuse(self, line: int | None, name: str, why: str, way_out: str) -> None:
        told = f"{name} differs from the project's text{why}. Import it with {way_out}, or into a new"
        self.store.problems.add(line, "", f"{told} project.")

    # Document sets and documents

    def write_sets(self) -> None:
        project = self.store.project
        rows = DocumentSet.objects.filter(project=project, external_id__in=list(self.data))
        there = {row.external_id: row for row in rows}
        new, regrouped = [], []
        for name, one in self.data.items():
            row = there.get(name)
            if row and one.language not in ("", row.language):
                told = f"is {one.language!r}, but {name!r} is in the project as {row.language!r}. Use another"
                self.store.problems.add(one.line, "language", f"{told} document_id or a new project.")
                continue
            changed = _changed(row, group=one.group or row.group) if row else []
            self.counts.document_sets.of(row, is_changed=bool(changed))
            if row is None:
                about = {"group": one.group, "language": one.language or "en", "metadata": one.metadata}
                row = DocumentSet(project=project, external_id=name, **about)
                new.append(row)
            elif changed:
                regrouped.append(row)
            self.sets[name] = row
        insert(new)
        DocumentSet.objects.bulk_update(regrouped, ["group"], batch_size=2000)
        self.new_sets = {row.pk for row in new}
        self.touched |= self.new_sets | {row.pk for row in regrouped}
        self._write_documents()

    def _write_documents(self) -> None:
        texts: dict[int, list[str]] = defaultdict(list)
        known = Document.objects.filter(document_set__in=self.old_sets).order_by("position")
        for document in known if self.old_sets else ():
            texts[document.document_set_id].append(document.text)
        new: list[Document] = []
        for row, one in self.each():
            there = texts[row.pk]
            if there and one.documents and there != list(one.documents):
                self._refuse(one.line, f"the document of {row.external_id!r}", "", "another document_id")
                continue
            self.counts.documents.of(there, times=len(there or one.documents))
            if one.documents and not there:
                self.touched.add(row.pk)
                numbered = enumerate(one.documents, start=1)
                new += [Document(document_set=row, position=place, text=text) for place, text in numbered]
        insert(new)
        self.cuts += [(document, None) for document in new]

    # Summaries and references

    def plan_summaries(self) -> None:
        if known := self.old_sets:
            rows = Summary.objects.filter(document_set__in=known).select_related("system").order_by("pk")
            for summary in rows:
                summary.document_set = known[summary.document_set_id]
                self.there[summary.document_set_id].append(summary)
            pairs = Comparison.objects.filter(summary__document_set__in=known)
            self.pairs = set(pairs.values_list("summary_id", "reference_id"))
        for row, one in self.each():
            self._plan_summaries(row, one)
            for reference_id in one.references:
                self._plan_reference(row, one, reference_id)

    def _plan_summaries(self, row: DocumentSet, one: SetData) -> None:
        known = (each for each in self.there[row.pk] if each.is_summary and each.system)
        there = {(each.system.name, each.target_words): each for each in known if each.system}
        for key, summary in one.summaries.items():
            old, system = there.get(key), self.store.systems[key[0]]
            about = {
                "metadata": summary.metadata or (old.metadata if old else {}),
                # If any row names no reference, compare the summary with every reference.
                "names_references": summary.names_references and (old is None or old.names_references),
            }
            new = Summary(document_set=row, is_summary=True, system=system, target_words=key[1], **about)
            count, text = self.counts.summaries, summary.summary
            planned = self._plan(count, old, new, line=summary.line, units=summary.units, text=text, **about)
            self.store.summaries[row.external_id, key] = planned

    def _plan_reference(self, row: DocumentSet, one: SetData, reference_id: str) -> None:
        """The text for all lengths is replaced only if every length that uses it gets the new text."""
        texts, there = one.references[reference_id], self.there[row.pk]
        own = (each for each in there if each.is_reference and each.external_id == reference_id)
        rows = {each.target_words: each for each in own}
        general = rows.get(None)
        summaries = [each for each in there if general and (each.pk, general.pk) in self.pairs]
        served, is_one = {summary.target_words for summary in summaries}, has_one_text(texts)
        author = self.store.systems.get(one.author_of(reference_id))
        # Do not add the author to a known reference that is compared with the author's own summary.
        known_author = None if author in [summary.system for summary in summaries] else author
        planned: dict[TargetWords, Written] = {}
        for target, text in texts.items():
            is_general = general and (general.text == text.text or target in served)
            place = None if target not in rows and (is_general or (is_one and not rows)) else target
            old = rows.get(place)
            if place is None and old and old.text != text.text and not (is_one and served <= texts.keys()):
                told = "differs from the project's text, which serves other target lengths, too."
                way_out = "Give the new text another reference_id, or import it for all of these lengths."
                self.store.problems.add(text.line, "reference", f"{told} {way_out}")
                continue
            if place not in planned:
                named: Any = {"external_id": reference_id, "target_words": place}
                new = Summary(document_set=row, is_reference=True, **named)
                system = (old.system or known_author) if old else author
                about = {"line": text.line, "units": text.units, "text": text.text, "system": system}
                planned[place] = self._plan(self.counts.references, old, new, **about)
            self.store.references[row.external_id, reference_id, target] = planned[place]

    def _plan(
        self, count: Count, old: Summary | None, new: Summary, *, line: Any, units: Any, **values: Any
    ) -> Written:
        row = old or new
        changed = _changed(row, **values)
        count.of(old, is_changed=bool(changed))
        if old is None:
            self.created.append(row)
        elif changed:
            self.updated[row.pk] = row
            if "text" in changed:
                self.replaced[row.pk] = line
        if old is None or "text" in changed:
            self.cuts.append((row, units))
        if old is None or changed:
            self.touched.add(row.document_set_id)
        return row, "created" if old is None else "changed" if changed else "unchanged"

    def make_way(self) -> None:
        """Delete units and claims of replaced texts. A replaced text that has been judged is a problem."""
        if not self.replaced:
            return
        _hold(self.replaced)
        for key in judged_summaries(self.replaced):
            one = self.updated[key]
            way_out = "another system name or target_words" if one.is_summary else "another reference_id"
            why = ", which has been judged and cannot be replaced"
            self._refuse(self.replaced[key], _name_of(one), why, way_out)
        if self.store.problems.count:
            return
        ClaimSet.objects.filter(summary__in=self.replaced).delete()
        Unit.objects.filter(summary__in=self.replaced).delete()
        rename_readings(self.replaced)

    def write_summaries(self) -> None:
        insert(self.created)
        # Upsert by key, because bulk_update would write CASE expressions.
        columns = ["text", "metadata", "system", "names_references"]
        upsert: Any = {"update_conflicts": True, "unique_fields": ["pk"], "update_fields": columns}
        Summary.objects.bulk_create(list(self.updated.values()), **upsert)
        if self.replaced:
            # Delete comparisons of a new text with an equal text by the same author.
            of_replaced = Q(summary__in=self.replaced) | Q(reference__in=self.replaced)
            same = {"summary__system": F("reference__system"), "summary__text": F("reference__text")}
            Comparison.objects.filter(of_replaced, **same).delete()
        for row, one in self.each():
            self._compare(row, one)
        insert(self.comparisons)
        copy_rows(Unit, ("summary_id", "document_id", "position", "start", "end"), self._units())

    def _units(self) -> Iterator[tuple[int | None, int | None, int, int, int]]:
        """The units of all documents of a set are numbered together."""
        following: dict[int, int] = defaultdict(lambda: 1)
        for owner, given in self.cuts:
            is_document = isinstance(owner, Document)
            text = owner.text if isinstance(owner, Document) else judged_text(owner, self.store.project)
            if given is None:
                found = [(span.start, span.end) for span in sentence_spans(text, owner.document_set.language)]
            else:
                found = [(start, min(end, len(text))) for start, end in given if start < len(text)]
            first = following[owner.document_set_id] if is_document else 1
            if is_document:
                following[owner.document_set_id] += len(found)
            keys = (None, owner.pk) if is_document else (owner.pk, None)
            yield from ((*keys, position, *place) for position, place in enumerate(found, start=first))

    def _compare(self, row: DocumentSet, one: SetData) -> None:
        name, there = row.external_id, self.there[row.pk]
        given = [self.store.summaries[name, key][0] for key in one.summaries]
        of_set = (self.store.references.get(key) for key in product([name], one.references, one.targets()))
        texts = {each.pk: each for each in (*given, *(each[0] for each in of_set if each), *there)}.values()
        references = [each for each in texts if each.is_reference]
        of_length = {(reference.external_id, reference.target_words) for reference in references}
        for summary, reference in product((each for each in texts if each.is_summary), references):
            words, key = summary.target_words, (summary.pk, reference.pk)
            # If a reference has a text for this length, that text replaces its text for all lengths.
            length = words if (reference.external_id, words) in of_length else None
            is_by_same = summary.system and summary.system == reference.system
            is_own = summary is reference or (is_by_same and summary.text == reference.text)
            pair = (summary.system.name if summary.system else "", words, reference.external_id)
            is_asked = pair in one.pairs or not summary.names_references
            if is_own or reference.target_words != length or not is_asked:
                continue
            self.counts.comparisons.of(key in self.pairs)
            if key not in self.pairs:
                self.comparisons.append(Comparison(summary=summary, reference=reference))
                self.touched.add(row.pk)

    # Questions and claims

    def write_questions(self) -> None:
        """Add new questions; they replace the current questions of a judge."""
        asked = [row.pk for row, one in self.each() if one.questions]
        known: dict[int, list[Claim]] = defaultdict(list)
        rows = Claim.all_claims.filter(QUESTIONS, claim_set__document_set__in=asked)
        for question in rows.select_related("claim_set") if asked else ():
            known[question.claim_set.document_set_id or 0].append(question)
        for row, one in self.each():
            there = known[row.pk]
            given = {question_key(each.text) for each in there if each.origin != ClaimOrigin.JUDGE}
            new = [text for text in one.questions if question_key(text) not in given]
            standing = [each for each in there if each.removed_at is None]
            made_up = [each.pk for each in standing if new and each.origin == ClaimOrigin.JUDGE]
            count = self.counts.questions
            count.created, count.changed = count.created + len(new), count.changed + len(made_up)
            count.unchanged += len(one.questions) - len(new)
            if (number := len(standing) - len(made_up) + len(new)) > MOST_QUESTIONS:
                told = f"would give {row.external_id!r} {number} questions; a document set may have {MOST_QUESTIONS}."
                self.store.problems.add(one.line, "questions", f"{told} Retire some in the project first.")
            elif new:
                self.touched.add(row.pk)
                take_out(made_up)
                name = self.store.origin_name
                add_questions(row.pk, new, origin=ClaimOrigin.IMPORTED, origin_name=name)

    def write_claims(self) -> list[_Answer]:
        """Write claims of texts that have none, and return the answers that the project lacks.

        A list of claims that differs from the list in the project is a problem.
        """
        lists = list(self._lists_of_claims())
        known = _known_claims([owner for owner, *_ in lists if _set_of(owner).pk not in self.new_sets])
        made = {}
        for owner, *_ in lists:
            of = {"summary": owner} if isinstance(owner, Summary) else {"document_set": owner}
            origin = {"origin": ClaimOrigin.IMPORTED, "origin_name": self.store.origin_name}
            made[type(owner), owner.pk] = ClaimSet(**of, **origin)
        made = {key: one for key, one in made.items() if key not in known}
        insert(list(made.values()))
        answered = []
        for owner, claims, side, line, target in lists:
            key = (type(owner), owner.pk)
            if key not in known:
                numbered = enumerate(claims, start=1)
                known[key] = [_claim_row(made[key], each, place) for place, each in numbered]
                self.new_claims += known[key]
                self.touched.add(_set_of(owner).pk)
            rows = known[key]
            if [(row.text, row.weight) for row in rows] != [(each.text, each.weight) for each in claims]:
                told = f"the list of claims of {_name_of(owner)} differs from the one in the project"
                way_out = "Give the same claims, or import into a new project."
                self.store.problems.add(line, "", f"{told}, or for another target length. {way_out}")
                continue
            self.counts.claims.of(rows[0].pk, times=len(rows))
            pairs = zip(rows, claims, strict=True)
            answered += [(*pair, side, _set_of(owner), target) for pair in pairs]
        self._link_to_units([(row, each.unit) for row, each, *_ in answered if each.unit and not row.pk])
        insert(self.new_claims)
        return self._answers(answered)

    def _lists_of_claims(self) -> Iterator[tuple[Owner, list[ClaimData], Side, int | None, TargetWords]]:
        for row, one in self.each():
            name = row.external_id
            for key, summary in one.summaries.items():
                if summary.claims:
                    yield self.store.summaries[name, key][0], summary.claims, "summary", one.line, key[1]
            for (reference_id, target), claims in one.claims.items():
                owner, _ = self.store.references.get((name, reference_id, target), (row, ""))
                yield owner, claims, "reference", one.line, target

    def _link_to_units(self, named: Sequence[tuple[Claim, int]]) -> None:
        rows = Unit.objects.filter(summary__in={row.claim_set.summary_id for row, _ in named})
        keys = rows.values_list("summary_id", "position", "pk") if named else ()
        units = {(summary, place): key for summary, place, key in keys}
        for row, number in named:
            row.unit_id = units.get((row.claim_set.summary_id or 0, number))

    def _answers(self, answered: Iterable[tuple[Any, ...]]) -> list[_Answer]:
        """An answer is known if it equals the latest one from files of this name, or else the latest imported one."""
        checks, said = _known_answers(self.old_sets)
        found = []
        for row, each, side, document_set, target in answered:
            for system, label in each.verdicts.items():
                summary, _ = self.store.summaries[document_set.external_id, (system, target)]
                check_id = checks.get((row.pk, summary.pk))
                self.counts.checks.of(check_id)
                before = said.get(check_id or 0, {})
                last = before.get(self.store.origin, list(before.values())[-1] if before else None)
                is_known = last == (label, each.votes.get(system, ()))
                self.counts.verdicts.of(is_known)
                if not is_known:
                    found.append(_Answer(row, each, summary, system, side, check_id))
                    self.touched.add(document_set.pk)
        return found

    def write_answers(self, answers: Sequence[_Answer], *, scores: bool) -> None:
        derived = self._score_new(answers) if scores else {}
        unscored, project = unscored_columns(), self.store.project.pk
        new = [each for each in answers if each.check_id is None]
        made = {id(each): key for each, key in zip(new, new_keys(Check, len(new)), strict=True)}
        checks = []
        for each in new:
            claim, summary = each.claim, each.summary
            place = (made[id(each)], project, claim.pk, summary.pk, summary.document_set_id, each.side)
            state = (claim.removed_at is None, has_number(claim.text), new_queue_key())
            checks.append((*place, *state, *derived.get((claim.pk, summary.pk), unscored)))
        copy_rows(Check, _OF_CHECK, checks)
        rows = []
        for each in answers:
            check, said, system = each.check_id or made[id(each)], each.data, each.system
            votes, reason = json.dumps(said.votes.get(system, ())), said.reasons.get(system, "")
            rows.append((check, self.store.origin, said.verdicts[system], votes, reason, ""))
        _copy_answers(Verdict, ("check_row_id", "origin_name", "label", "votes", "reason", "repeated"), rows)

    def _score_new(self, answers: Sequence[_Answer]) -> dict[tuple[int, int], Any]:
        """Store the scores of new sets. Return the derived columns of their checks, by claim and summary."""
        summaries = [row for row in self.created if row.is_summary and row.document_set_id in self.new_sets]
        labels: dict[int, dict[int, str]] = defaultdict(dict)
        for each in answers:
            labels[each.summary.pk][each.claim.pk] = each.data.verdicts[each.system]
        references = {row.reference_id for row in self.comparisons}
        units = Unit.objects.filter(summary__in=references) if references else ()
        rows: dict[str, Any] = {"comparisons": self.comparisons, "units": units, "claims": self.new_claims}
        found = list(fresh_scores(self.store.project, summaries, labels, **rows))
        for fresh in found:
            fresh.score.project_id = self.store.project.pk
        insert([fresh.score for fresh in found])
        return {
            (claim, summary.pk): derived
            for summary, fresh in zip(summaries, found, strict=True)
            for claim, derived in fresh.columns.items()
        }

    def write_ratings(self) -> None:
        columns = ("summary_id", "criterion_id", "origin_name", "value")
        known = Rating.objects.filter(summary__document_set__in=self.old_sets, person=None, judge=None)
        known = known.order_by("pk") if self.old_sets else known.none()
        there = {(*key,): value for *key, value in known.values_list(*columns)}
        new = []
        for row, one in self.each():
            for key, given in one.summaries.items():
                summary = self.store.summaries[row.external_id, key][0].pk
                for (name, rater), value in given.rated.items():
                    place = summary, self.store.criteria[name].pk, rater
                    is_known = there.get(place, ...) == value
                    self.counts.ratings.of(is_known)
                    if not is_known:
                        new.append((*place, value, ""))
        _copy_answers(Rating, (*columns, "reason"), new)


def _changed(row: Any, **values: Any) -> list[str]:
    """Set these values on the row, and return the names of the values that differed."""
    names = [name for name, value in values.items() if getattr(row, name) != value]
    for name in names:
        setattr(row, name, values[name])
    return names


def _copy_answers(kind: type[Answer], names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    rest = {"role": Answer.Role.REVIEWER, "error_type": "", "evidence": "[]", "created_at": now}
    copy_rows(kind, (*names, *rest), ((*row, *rest.values()) for row in rows))


def _known_claims(owners: Sequence[Owner]) -> dict[Any, list[Claim]]:
    """Lock summaries, and load the claims of their active lists, removed claims too, by kind and key of the text.

    People's claims are left out, unless a text has no others.
    """
    if not owners:
        return {}
    claims: dict[Any, list[Claim]] = defaultdict(list)
    summaries = [each.pk for each in owners if isinstance(each, Summary)]
    _hold(summaries)
    sets = [each.pk for each in owners if isinstance(each, DocumentSet)]
    of_owners = Q(claim_set__summary__in=summaries) | Q(claim_set__document_set__in=sets)
    rows = Claim.all_claims.filter(of_owners, claim_set__kind=ClaimSet.Kind.CLAIMS, claim_set__is_active=True)
    for claim in rows.select_related("claim_set").order_by("claim_set_id", "pk"):
        of = claim.claim_set
        key = (DocumentSet, of.document_set_id) if of.document_set_id else (Summary, of.summary_id)
        claims[key].append(claim)
    read = {key: [one for one in some if one.origin != ClaimOrigin.PERSON] for key, some in claims.items()}
    return {key: some or claims[key] for key, some in read.items()}


def _known_answers(sets: Collection[int]) -> tuple[dict[tuple[int, int], int], dict[int, dict[str, Any]]]:
    """Load checks by claim and summary, and for each check the label and votes of each file, the latest last."""
    said: dict[int, dict[str, tuple[Any, Votes]]] = defaultdict(dict)
    if not sets:
        return {}, said
    checks = Check.objects.filter(summary__document_set__in=sets).values_list("pk", "claim_id", "summary_id")
    of_files = {"role": Verdict.Role.REVIEWER, "origin_name__startswith": ORIGIN}
    imported = Verdict.objects.filter(check_row__summary__document_set__in=sets, **of_files).order_by("pk")
    columns = ("check_row_id", "origin_name", "label", "votes")
    for check_id, origin, label, votes in imported.values_list(*columns):
        said[check_id].pop(origin, None)
        said[check_id][origin] = label, tuple((name, vote) for name, vote in votes)
    return {(claim_id, summary_id): pk for pk, claim_id, summary_id in checks}, said


def _criterion(name: str, values: Collection[float]) -> metrics.Criterion:
    """A name that belongs to a score of Coverdict gets the prefix `people_`."""
    known = _SUMMEVAL.get(name.casefold())
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
    between = map(str, range(first + 1, top))
    words = (f"{first} · lowest", *between, f"{top} · highest")
    return metrics.Criterion(named, question, points=counted(words, first), asked="after")


def _claim_row(claim_set: ClaimSet, claim: ClaimData, position: int) -> Claim:
    start = claim_set.summary.text.find(claim.text) if claim_set.summary else -1
    place = {"start": start, "end": start + len(claim.text)} if start >= 0 else {}
    about = {"text": claim.text, "weight": claim.weight, "origin": ClaimOrigin.IMPORTED}
    return Claim(claim_set=claim_set, position=position, **about, **place)


def _set_of(owner: Owner) -> DocumentSet:
    return owner if isinstance(owner, DocumentSet) else owner.document_set


def _name_of(owner: Owner) -> str:
    name = _set_of(owner).external_id
    if isinstance(owner, DocumentSet):
        return f"the documents of {name!r}"
    if owner.is_summary and owner.system:
        return f"the summary of {name!r} by {owner.system.name!r}"
    return f"the reference {owner.external_id!r} of {name!r}"


def _hold(summaries: Iterable[int]) -> None:
    """Lock summaries and the assignments on them."""
    keys = list(summaries)
    held = Reading.objects.filter(Q(comparison__summary__in=keys) | Q(comparison__reference__in=keys))
    assignments = Assignment.objects.filter(pk__in=held.values("assignment_id"))
    list(assignments.select_for_update(of=("self",)).order_by("pk"))
    list(Summary.objects.select_for_update(of=("self",)).filter(pk__in=keys).order_by("pk").only("pk"))
