"""Bring a data set into a project: one upsert for each document set, many sets in a few statements.

The caller owns the transaction and rolls it back if `problems` are found.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import product
from typing import Any

from django.db import connection
from django.db.models import F, Max, Q
from django.utils import timezone

from annotation.core.by_hand import copy_rows
from annotation.core.current_checks import put_in_force, take_out
from annotation.imports.problems import Findings
from annotation.imports.row import Claim as ClaimData
from annotation.imports.row import Dataset, PeerKey, ReferenceData, SetData, Side, TargetWords, Text, Votes
from annotation.judging.question_texts import MOST_QUESTIONS, question_key
from annotation.models import (
    Assignment,
    Check,
    Claim,
    ClaimOrigin,
    ClaimSet,
    Comparison,
    CoverageJudgment,
    Criterion,
    Document,
    DocumentSet,
    Project,
    Rating,
    Reading,
    SampledCheck,
    Score,
    Summary,
    System,
    Unit,
    Verdict,
)
from annotation.models.answer import Answer
from annotation.models.claim import CHANGED_BY_PEOPLE, QUESTIONS, has_number, new_queue_key
from annotation.scoring.fresh import fresh_scores, unscored_columns
from annotation.scoring.records import judged_text
from annotation.scoring.rescore import DERIVED
from annotation.texts.queries.unit_texts import judged_summaries
from annotation.texts.services.change_units import rename_readings
from evaluation import metrics
from evaluation.metrics import JUDGED, PACKS, counted
from evaluation.text import sentence_spans

SETS_AT_ONCE = 200
MOST_ORIGIN_CHARACTERS = 190
ORIGIN = "import:"
"""The beginning of the origin of an imported verdict."""

_BASELINE = re.compile(r"(lead|random|baseline)([-_ ]?\d+)?|.*\bbaseline\b.*", re.IGNORECASE)
_TOPS = (3, 4, 5, 7, 10)
"""The highest points of scales in use."""

_UPDATED = ["text", "metadata", "system", "external_id", "is_model", "is_peer", "names_references"]

Owner = Summary | DocumentSet
"""The text that claims are taken from: a summary, or the documents."""


@dataclass(slots=True)
class Count:
    """The numbers of rows of a kind that the import creates, changes and leaves as they are."""

    created: int = 0
    changed: int = 0
    unchanged: int = 0

    @property
    def has_changes(self) -> bool:
        return bool(self.created or self.changed)

    def of(self, there: object, *, is_changed: bool = False, times: int = 1) -> None:
        kind = "changed" if there and is_changed else "unchanged" if there else "created"
        setattr(self, kind, getattr(self, kind) + times)


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
    criteria: Count = field(default_factory=Count)
    ratings: Count = field(default_factory=Count)

    @property
    def by_kind(self) -> dict[str, Count]:
        """In the order of the report."""
        return {kind.name: getattr(self, kind.name) for kind in fields(self)}

    @property
    def has_changes(self) -> bool:
        return any(count.has_changes for count in self.by_kind.values())

    def present(self) -> dict[str, Count]:
        """The kinds of rows that the import changes or finds unchanged."""
        return {kind: count for kind, count in self.by_kind.items() if count.has_changes or count.unchanged}


@dataclass(slots=True)
class Store:
    """Writes the document sets of a file into a project, some at a time.

    `stale` has earlier sets that changed; `peers` and `models` have the row of each summary and reference with
    "created", "changed" or "unchanged".
    """

    project: Project
    origin_name: str
    counts: ImportCounts = field(default_factory=ImportCounts)
    problems: Findings = field(default_factory=Findings)
    systems: dict[str, System] = field(default_factory=dict)
    criteria: dict[str, Criterion] = field(default_factory=dict)
    stale: set[int] = field(default_factory=set)
    peers: dict[tuple[str, PeerKey], tuple[Summary, str]] = field(default_factory=dict)
    models: dict[tuple[str, str, TargetWords], tuple[Summary, str]] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        """The origin of imported verdicts."""
        return f"{ORIGIN}{self.origin_name}"

    def begin(self, dataset: Dataset) -> None:
        """Create the systems and criteria. People who wrote references alone are counted apart."""
        names, people = dataset.writers()
        self.systems = {row.name: row for row in System.objects.filter(project=self.project)}
        new = []
        for name in sorted(names | people):
            count = self.counts.systems if name in names else self.counts.reference_authors
            count.of(name in self.systems)
            if name not in self.systems:
                kind = System.Kind.BASELINE if _BASELINE.fullmatch(name) else System.Kind.SUMMARISER
                kind = System.Kind.PERSON if name in people else kind
                self.systems[name] = System(project=self.project, name=name, kind=kind)
                new.append(self.systems[name])
        System.objects.bulk_create(new)
        self._make_criteria(dataset.rated())

    def _make_criteria(self, rated: Mapping[str, set[float]]) -> None:
        """A criterion of the project for each that the file rates by, or a new one with the scale of its values."""
        rows = Criterion.objects.filter(project=self.project, retired_at=None)
        there = {row.name: row for row in rows.order_by("position", "pk")}
        position = max((row.position for row in there.values()), default=0)
        new: list[Criterion] = []
        for name, values in rated.items():
            fact = _criterion(name, values)
            row = there.get(fact.name)
            self.counts.criteria.of(row)
            if row is None:
                columns = {each.name: getattr(fact, each.name) for each in fields(fact)}
                row = Criterion(project=self.project, position=position + len(new) + 1, **columns)
                new.append(row)
            scale = row.fact.values
            if scale and (max(values) > scale[-1] or min(values) < scale[0]):
                self.problems.add(
                    None,
                    name,
                    f"has ratings from {min(values):g} to {max(values):g}, and the project's criterion {row.name} goes "
                    f"from {scale[0]} to {scale[-1]}. Rename the column, or retire the criterion in the settings.",
                )
            self.criteria[name] = row
        if not self.problems.count:
            Criterion.objects.bulk_create(new)

    def write(self, sets: Sequence[tuple[str, SetData]], *, scores: bool = True) -> None:
        """Write some sets with all that belongs to them, and the `scores` of new ones; nothing after a problem."""
        batch = _Batch(self, dict(sets))
        batch.write_sets()
        batch.plan_summaries()
        batch.make_way()
        if self.problems.count:
            return
        batch.write_summaries()
        batch.write_questions()
        answers = batch.write_claims()
        batch.write_answers(answers, scores=scores)
        batch.write_ratings()
        self.stale |= batch.touched - batch.new_sets


@dataclass(frozen=True, slots=True)
class _Answer:
    """The answer of people in the file to a claim compared with a summary; the check, if it exists."""

    claim: Claim
    data: ClaimData
    peer: Summary
    system: str
    side: Side
    check_id: int | None


@dataclass(slots=True)
class _Batch:
    """Some document sets of a file, with their rows in the project."""

    store: Store
    data: dict[str, SetData]
    sets: dict[str, DocumentSet] = field(default_factory=dict)
    new_sets: set[int] = field(default_factory=set)
    touched: set[int] = field(default_factory=set)
    """Sets with a change that moves scores or statistics; these resample groups."""
    there: dict[int, list[Summary]] = field(default_factory=lambda: defaultdict(list))
    """The summaries of each set that the project has."""
    pairs: set[tuple[int, int]] = field(default_factory=set)
    peers: dict[str, dict[PeerKey, Summary]] = field(default_factory=lambda: defaultdict(dict))
    models: dict[str, dict[tuple[str, TargetWords], Summary]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    created: list[Summary] = field(default_factory=list)
    updated: dict[int, Summary] = field(default_factory=dict)
    replaced: dict[int, int | None] = field(default_factory=dict)
    """Keys of summaries that get another text, and the lines that say so."""
    redocumented: dict[int, int | None] = field(default_factory=dict)
    """The same of sets that get other documents."""
    cuts: list[tuple[Summary | Document, tuple[tuple[int, int], ...] | None]] = field(default_factory=list)
    """Texts to be cut into units, with their units in the file, if there are any."""
    documents: list[Document] = field(default_factory=list)
    all_claims: list[Claim] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)

    @property
    def counts(self) -> ImportCounts:
        return self.store.counts

    def _complain(self, line: int | None, column: str, reason: str) -> None:
        self.store.problems.add(line, column, reason)

    def each(self) -> Iterator[tuple[DocumentSet, SetData]]:
        return ((self.sets[name], one) for name, one in self.data.items() if name in self.sets)

    # Document sets and documents

    def write_sets(self) -> None:
        project = self.store.project
        rows = DocumentSet.objects.filter(project=project, external_id__in=list(self.data))
        there = {row.external_id: row for row in rows}
        new, regrouped = [], []
        for name, one in self.data.items():
            row = there.get(name)
            if row is not None and one.language and one.language != row.language:
                self._complain(
                    one.line,
                    "language",
                    f"is {one.language!r}, but {name!r} is in the project as {row.language!r}, and its texts are "
                    "divided by the rules of that language. Use another document_id or a new project.",
                )
                continue
            is_regrouped = row is not None and bool(one.group) and one.group != row.group
            self.counts.document_sets.of(row, is_changed=is_regrouped)
            if row is None:
                told = {"group": one.group, "language": one.language or "en", "metadata": one.metadata}
                row = DocumentSet(project=project, external_id=name, **told)
                new.append(row)
            elif is_regrouped:
                row.group = one.group
                regrouped.append(row)
                self.touched.add(row.pk)
            self.sets[name] = row
        DocumentSet.objects.bulk_create(new)
        DocumentSet.objects.bulk_update(regrouped, ["group"], batch_size=2000)
        self.new_sets = {row.pk for row in new}
        self.touched |= self.new_sets
        self._plan_documents([row.pk for row in there.values()])

    def _plan_documents(self, known: list[int]) -> None:
        texts: dict[int, list[str]] = defaultdict(list)
        rows = Document.objects.filter(document_set__in=known).order_by("position") if known else ()
        for document in rows:
            texts[document.document_set_id].append(document.text)
        for row, one in self.each():
            there = texts[row.pk]
            if not one.documents or there == list(one.documents):
                self.counts.documents.of(there, times=len(there))
                continue
            self.counts.documents.of(there, is_changed=True, times=len(one.documents))
            self.touched.add(row.pk)
            if there:
                self.redocumented[row.pk] = one.line
            self.documents += [
                Document(document_set=row, position=position, text=text)
                for position, text in enumerate(one.documents, start=1)
            ]
        self.cuts += [(document, None) for document in self.documents]

    # Summaries and references

    def plan_summaries(self) -> None:
        known = {row.pk: row for row in self.sets.values() if row.pk not in self.new_sets}
        rows = Summary.objects.filter(document_set__in=known).select_related("system").order_by("pk")
        for summary in rows if known else ():
            summary.document_set = known[summary.document_set_id]
            self.there[summary.document_set_id].append(summary)
        if known:
            pairs = Comparison.objects.filter(peer__document_set__in=known)
            self.pairs = set(pairs.values_list("peer_id", "model_id"))
        for row, one in self.each():
            self._plan_peers(row, one)
            for reference_id, reference in one.references.items():
                self._plan_reference(row, reference_id, reference)

    def _plan_peers(self, row: DocumentSet, one: SetData) -> None:
        there = {
            (each.system.name, each.target_words): each
            for each in self.there[row.pk]
            if each.is_peer and each.system
        }
        for key, peer in one.peers.items():
            summary, is_changed = there.get(key), False
            if summary is None:
                told = {"metadata": dict(peer.metadata), "names_references": peer.names_references}
                kept = {"system": self.store.systems[key[0]], "target_words": key[1], "text": peer.text.text}
                summary = Summary(document_set=row, is_peer=True, **kept, **told)
                self._create(summary, peer.text)
            else:
                is_changed = self._replace_text(summary, peer.text)
                if peer.metadata and summary.metadata != peer.metadata:
                    summary.metadata, is_changed = dict(peer.metadata), True
                if summary.names_references and not peer.names_references:
                    # Compared with every reference from now on.
                    summary.names_references, is_changed = False, True
            self._note(self.counts.peer_summaries, summary, is_changed=is_changed)
            self.peers[row.external_id][key] = summary

    def _plan_reference(self, row: DocumentSet, reference_id: str, reference: ReferenceData) -> None:
        """Find or create the reference of each target length: its own, else the one for all lengths.

        The text of the one for all lengths is replaced only if every length that it serves gets the new text.
        """
        rows = [each for each in self.there[row.pk] if each.is_model and each.external_id == reference_id]
        own = {each.target_words: each for each in rows}
        general = own.get(None)
        peers = [each for each in self.there[row.pk] if general and (each.pk, general.pk) in self.pairs]
        served = {peer.target_words for peer in peers}
        is_whole = reference.has_one_text and served <= reference.texts.keys()
        author = self.store.systems[reference.author] if reference.author else None
        is_author = author not in [peer.system for peer in peers]
        noted: dict[int, bool] = {}
        for target, text in reference.texts.items():
            model = own.get(target)
            if model is None and general and (general.text == text.text or target in served):
                model = general
            if model is None:
                is_one = reference.has_one_text and not rows
                length = None if is_one else target
                kept = {"external_id": reference_id, "target_words": length, "text": text.text}
                model = own[length] = Summary(document_set=row, system=author, is_model=True, **kept)
                general = model if is_one else general
                self._create(model, text)
            elif model is general and model.text != text.text and not is_whole:
                self._complain(
                    text.line,
                    "reference",
                    "is another text than in the project, where this reference serves other target lengths, too. "
                    "Give the new text another reference_id, or give it to all of them.",
                )
                continue
            is_changed = not model._state.adding and self._replace_text(model, text)
            if author and model.system is None and is_author:
                model.system, is_changed = author, True
            noted[id(model)] = noted.get(id(model), False) or is_changed
            self.models[row.external_id][reference_id, target] = model
        for model in {id(each): each for each in self.models[row.external_id].values()}.values():
            if id(model) in noted:
                self._note(self.counts.model_summaries, model, is_changed=noted[id(model)])

    def _create(self, summary: Summary, text: Text) -> None:
        self.created.append(summary)
        self.cuts.append((summary, text.units))

    def _note(self, count: Count, summary: Summary, *, is_changed: bool = False) -> None:
        count.of(summary.pk, is_changed=is_changed)
        if is_changed:
            self.updated[summary.pk] = summary
        if is_changed or not summary.pk:
            self.touched.add(summary.document_set_id)

    def _replace_text(self, summary: Summary, text: Text) -> bool:
        if summary.text == text.text:
            return False
        summary.text = text.text
        self.cuts.append((summary, text.units))
        self.replaced[summary.pk] = text.line
        return True

    def make_way(self) -> None:
        """Delete units and claims of replaced texts; add a problem for each text with judgments."""
        if not (self.replaced or self.redocumented):
            return
        _hold(self.replaced)
        names = {each.pk: each for each in self.updated.values()}
        for key in judged_summaries(self.replaced):
            one = names[key]
            who = f"by {one.system.name!r}" if one.is_peer and one.system else ""
            name = f"the summary of {one.document_set.external_id!r} {who}"
            if not one.is_peer:
                name = f"the reference {one.external_id!r} of {one.document_set.external_id!r}"
            renaming = "system name or target_words" if one.is_peer else "reference_id"
            self._refuse(self.replaced[key], name, renaming)
        sets = {row.pk: row.external_id for row in self.sets.values()}
        for key in _judged_sets(self.redocumented):
            self._refuse(self.redocumented[key], f"the document of {sets[key]!r}", "document_id")
        if self.store.problems.count:
            return
        of_documents = Q(document_set__in=self.redocumented, kind=ClaimSet.Kind.CLAIMS)
        ClaimSet.objects.filter(Q(summary__in=self.replaced) | of_documents).delete()
        Unit.objects.filter(summary__in=self.replaced).delete()
        Document.objects.filter(document_set__in=self.redocumented).delete()
        rename_readings(self.replaced)

    def _refuse(self, line: int | None, name: str, renaming: str) -> None:
        self._complain(
            line,
            "",
            f"{name} differs from the project's text, which has been judged and cannot be replaced. "
            f"Import the new text with another {renaming}, or into a new project.",
        )

    def write_summaries(self) -> None:
        before = {id(each) for each in self.created}
        Document.objects.bulk_create(self.documents)
        Summary.objects.bulk_create(self.created)
        # An upsert by key: an update by CASE, one branch a row and column, costs ten times as much.
        Summary.objects.bulk_create(
            list(self.updated.values()),
            update_conflicts=True,
            unique_fields=["pk"],
            update_fields=_UPDATED,
        )
        if self.replaced:
            # A new text may be that of the reference's own author.
            of_replaced = Q(peer__in=self.replaced) | Q(model__in=self.replaced)
            same = {"peer__system": F("model__system"), "peer__text": F("model__text")}
            Comparison.objects.filter(of_replaced, **same).delete()
        self._write_comparisons()
        copy_rows(Unit, ("summary_id", "document_id", "position", "start", "end"), self._units())

        def state(one: Summary) -> str:
            return "created" if id(one) in before else "changed" if one.pk in self.updated else "unchanged"

        for name in self.sets:
            self.store.peers |= {(name, key): (one, state(one)) for key, one in self.peers[name].items()}
            self.store.models |= {(name, *key): (one, state(one)) for key, one in self.models[name].items()}

    def _units(self) -> Iterator[tuple[int | None, int | None, int, int, int]]:
        """The units of every new text, as tuples; those of documents are numbered through their set."""
        following: dict[int, int] = defaultdict(lambda: 1)
        for owner, given in self.cuts:
            is_document = isinstance(owner, Document)
            text = owner.text if isinstance(owner, Document) else judged_text(owner, self.store.project)
            found = [(span.start, span.end) for span in sentence_spans(text, owner.document_set.language)]
            if given is not None:
                found = [(start, min(end, len(text))) for start, end in given if start < len(text)]
            first = following[owner.document_set_id] if is_document else 1
            if is_document:
                following[owner.document_set_id] += len(found)
            keys = (None, owner.pk) if is_document else (owner.pk, None)
            yield from ((*keys, position, *place) for position, place in enumerate(found, start=first))

    def _write_comparisons(self) -> None:
        """Compare summaries that name references with these, all others with every reference of the set."""
        for row, one in self.each():
            peers, models = self.peers[row.external_id], self.models[row.external_id]
            pairs = [
                (peers[system, target], model)
                for system, target, reference_id in one.pairs
                if (model := models.get((reference_id, target)))
            ]
            there = self.there[row.pk]
            every_peer = {each.pk: each for each in (*peers.values(), *there) if each.is_peer}.values()
            every_model = {each.pk: each for each in (*models.values(), *there) if each.is_model}.values()
            of_length = {(model.external_id, model.target_words) for model in every_model}
            pairs += [
                (peer, model)
                for peer, model in product(every_peer, every_model)
                if not peer.names_references
                # A reference's own text for a length stands in for its text for all lengths.
                and model.target_words
                == (peer.target_words if (model.external_id, peer.target_words) in of_length else None)
            ]
            for key, (peer, model) in {(peer.pk, model.pk): (peer, model) for peer, model in pairs}.items():
                # A text is never compared with itself.
                if peer is model or (peer.system and peer.system == model.system and peer.text == model.text):
                    continue
                self.counts.comparisons.of(key in self.pairs)
                if key not in self.pairs:
                    self.comparisons.append(Comparison(peer=peer, model=model))
                    self.touched.add(row.pk)
        Comparison.objects.bulk_create(self.comparisons)

    # Questions and claims

    def write_questions(self) -> None:
        """Create questions that are new here; they replace questions that a judge generated.

        A retired question stays retired. A question that the file leaves out stays.
        """
        asked = {row.pk: one for row, one in self.each() if one.questions}
        known: dict[int, list[Claim]] = defaultdict(list)
        rows = Claim.all_claims.filter(QUESTIONS, claim_set__document_set__in=asked).select_related(
            "claim_set"
        )
        for question in rows.order_by("position") if asked else ():
            known[question.claim_set.document_set_id or 0].append(question)
        claim_sets, questions, retired = [], [], []
        for row, one in self.each():
            there = known[row.pk]
            given = {question_key(each.text) for each in there if each.origin != ClaimOrigin.JUDGE}
            new = [text for text in one.questions if question_key(text) not in given]
            self.counts.questions.unchanged += len(one.questions) - len(new)
            if not new:
                continue
            standing = [each for each in there if each.removed_at is None]
            made_up = [each.pk for each in standing if each.origin == ClaimOrigin.JUDGE]
            if (number := len(standing) - len(made_up) + len(new)) > MOST_QUESTIONS:
                self._complain(
                    one.line,
                    "questions",
                    f"would give {row.external_id!r} {number} questions; a document set may have {MOST_QUESTIONS}. "
                    "Retire some in the project first.",
                )
                continue
            self.counts.questions.created += len(new)
            self.counts.questions.changed += len(made_up)
            self.touched.add(row.pk)
            retired += made_up
            claim_sets.append(self._claim_set(row, ClaimSet.Kind.QUESTIONS, 1))
            first = max((each.position for each in there), default=0) + 1
            questions += [
                Claim(claim_set=claim_sets[-1], position=position, text=text, origin=ClaimOrigin.IMPORTED)
                for position, text in enumerate(new, start=first)
            ]
        if retired:
            take_out(retired)
        ClaimSet.objects.bulk_create(claim_sets)
        Claim.objects.bulk_create(questions)

    def _claim_set(self, owner: Owner, kind: ClaimSet.Kind, version: int) -> ClaimSet:
        return ClaimSet(
            kind=kind,
            summary=owner if isinstance(owner, Summary) else None,
            document_set=owner if isinstance(owner, DocumentSet) else None,
            origin=ClaimOrigin.IMPORTED,
            origin_name=self.store.origin_name,
            version=version,
        )

    def write_claims(self) -> list[_Answer]:
        """Write the claims of each text as a whole list; return people's answers to them."""
        lists = list(self._lists_of_claims())
        owners = [owner for _, owner, *_ in lists if _set_of(owner).pk not in self.new_sets]
        if owners:
            _hold(owner.pk for owner in owners if isinstance(owner, Summary))
        known, versions = _known_claims([owner for owner in owners if self._was_there(owner)])
        made: list[tuple[ClaimSet, list[Claim]]] = []
        outdated: dict[int, tuple[int | None, str]] = {}
        answered = []
        given: dict[Any, list[Claim]] = {}
        for line, owner, claims, side, target in lists:
            key = (type(owner), owner.pk)
            there = known.get(key, [])
            signature = [(each.text, each.weight) for each in claims]
            if key in given:
                # A text that serves several target lengths has one list.
                rows = given[key]
                if [(row.text, row.weight) for row in rows] != signature:
                    told = "are others for another target length of the same text. Give both the same claims."
                    self._complain(line, "claims", told)
                    continue
            elif [(row.text, row.weight) for row in there] == signature:
                self.counts.claims.unchanged += len(there)
                rows = there
            else:
                self.counts.claims.of(there, is_changed=True, times=len(claims))
                if there:
                    outdated[there[0].claim_set_id] = line, f"the list of claims of {_owner_name(owner)}"
                claim_set = self._claim_set(owner, ClaimSet.Kind.CLAIMS, versions.get(key, 0) + 1)
                rows = [_claim_row(claim_set, each, place) for place, each in enumerate(claims, start=1)]
                made.append((claim_set, rows))
                self.touched.add(_set_of(owner).pk)
            given[key] = rows
            answered.append((rows, claims, side, _set_of(owner), target))
        self._refuse_outdated(outdated)
        if self.store.problems.count:
            return []
        ClaimSet.objects.bulk_create([claim_set for claim_set, _ in made])
        self.all_claims = [claim for _, rows in made for claim in rows]
        self._link_to_units(
            [(row, each) for rows, claims, *_ in answered for row, each in zip(rows, claims, strict=True)]
        )
        Claim.objects.bulk_create(self.all_claims)
        return self._answers(answered)

    def _lists_of_claims(self) -> Iterator[tuple[int | None, Owner, list[ClaimData], Side, TargetWords]]:
        for row, one in self.each():
            peers, models = self.peers[row.external_id], self.models[row.external_id]
            for key, peer in one.peers.items():
                if peer.claims:
                    yield one.line, peers[key], peer.claims, "peer", key[1]
            for of, claims in one.claims.items():
                yield one.line, models.get(of) or row, claims, "reference", of[1]

    def _was_there(self, owner: Owner) -> bool:
        """True unless the text is replaced, which deletes its claims, even if the file has the same claims."""
        return owner.pk not in (self.replaced if isinstance(owner, Summary) else self.redocumented)

    def _refuse_outdated(self, outdated: Mapping[int, tuple[int | None, str]]) -> None:
        if not outdated:
            return
        for key in _judged_claim_sets(outdated):
            self._refuse(*outdated[key], "document_id")
        ClaimSet.objects.filter(pk__in=outdated).update(is_active=False)
        put_in_force(Check.objects.filter(claim__claim_set__in=outdated))

    def _link_to_units(self, claims: Sequence[tuple[Claim, ClaimData]]) -> None:
        """Give new claims the units that the file says they belong to."""
        named = [(row, each.unit) for row, each in claims if each.unit and not row.pk]
        owners = {row.claim_set.summary_id for row, _ in named}
        rows = (
            Unit.objects.filter(summary__in=owners).values_list("summary_id", "position", "pk")
            if named
            else ()
        )
        units = {(summary, position): pk for summary, position, pk in rows}
        for row, number in named:
            row.unit_id = units.get((row.claim_set.summary_id or 0, number))

    def _answers(self, answered: Iterable[tuple[Any, ...]]) -> list[_Answer]:
        """The answers that the project does not have yet; of one file, its latest answers count."""
        old = [row.pk for row in self.sets.values() if row.pk not in self.new_sets]
        checks, said = _known_answers(old)
        found = []
        for rows, claims, side, document_set, target in answered:
            for row, each in zip(rows, claims, strict=True):
                for system, label in each.verdicts.items():
                    peer = self.peers[document_set.external_id][system, target]
                    check_id = checks.get((row.pk, peer.pk))
                    self.counts.checks.of(check_id)
                    before = said.get(check_id or 0, {})
                    last = before.get(self.store.origin, list(before.values())[-1] if before else None)
                    is_known = last == (label, each.votes.get(system, ()))
                    self.counts.verdicts.of(is_known)
                    if not is_known:
                        found.append(_Answer(row, each, peer, system, side, check_id))
                        self.touched.add(document_set.pk)
        return found

    def write_answers(self, answers: Sequence[_Answer], *, scores: bool) -> None:
        """The scores of new sets, the checks that people answered, and their answers."""
        derived = self._score_new(answers) if scores else {}
        if not answers:
            return
        unscored = unscored_columns()
        checks = Check.objects.bulk_create(
            Check(
                project=self.store.project,
                claim=each.claim,
                peer=each.peer,
                document_set_id=each.peer.document_set_id,
                side=each.side,
                is_current=each.claim.removed_at is None,
                has_number=has_number(each.claim.text),
                queue_key=new_queue_key(),
                **dict(zip(DERIVED, derived.get((each.claim.pk, each.peer.pk), unscored), strict=True)),
            )
            for each in answers
            if each.check_id is None
        )
        made = iter(checks)
        placed = {each.peer.pk for each in answers if each.data.places}
        units: dict[int, list[Unit]] = defaultdict(list)
        for unit in Unit.objects.filter(summary__in=placed).order_by("position") if placed else ():
            units[unit.summary_id or 0].append(unit)

        def evidence(each: _Answer) -> list[int]:
            places = each.data.places.get(each.system, ())
            touched = units[each.peer.pk] if places else ()
            return [
                one.position for one in touched if any(one.start < end and at < one.end for at, end in places)
            ]

        _copy_answers(
            Verdict,
            ("check_row_id", "origin_name", "label", "evidence", "votes", "reason", "repeated"),
            (
                (
                    next(made).pk if each.check_id is None else each.check_id,
                    self.store.origin,
                    each.data.verdicts[each.system],
                    json.dumps(evidence(each)),
                    json.dumps(each.data.votes.get(each.system, ())),
                    each.data.reasons.get(each.system, ""),
                    "",
                )
                for each in answers
            ),
        )

    def _score_new(self, answers: Sequence[_Answer]) -> dict[tuple[int, int], Any]:
        """Store the scores of new sets' summaries; the derived columns of their checks, by claim and peer."""
        peers = [row for row in self.created if row.is_peer and row.document_set_id in self.new_sets]
        labels: dict[int, dict[int, str]] = defaultdict(dict)
        for each in answers:
            labels[each.peer.pk][each.claim.pk] = each.data.verdicts[each.system]
        models = {row.model_id for row in self.comparisons}
        units = Unit.objects.filter(summary__in=models) if models else ()
        found = fresh_scores(
            self.store.project,
            peers,
            labels,
            comparisons=self.comparisons,
            units=units,
            claims=self.all_claims,
        )
        scores, columns = [], {}
        for peer, fresh in zip(peers, found, strict=True):
            fresh.score.project_id = self.store.project.pk
            scores.append(fresh.score)
            columns.update({(claim, peer.pk): derived for claim, derived in fresh.columns.items()})
        Score.objects.bulk_create(scores)
        return columns

    def write_ratings(self) -> None:
        old = [row.pk for row in self.sets.values() if row.pk not in self.new_sets]
        columns = ("summary_id", "criterion_id", "origin_name", "value")
        known = Rating.objects.filter(summary__document_set__in=old, person=None, judge=None).order_by("pk")
        there = {(*key,): value for *key, value in known.values_list(*columns)} if old else {}
        new = []
        for row, one in self.each():
            for key, peer in one.peers.items():
                summary = self.peers[row.external_id][key].pk
                for (name, rater), value in peer.ratings.items():
                    place = summary, self.store.criteria[name].pk, rater
                    is_known = there.get(place, ...) == value
                    self.counts.ratings.of(is_known)
                    if not is_known:
                        new.append((*place, value))
        _copy_answers(Rating, (*columns, "reason", "evidence"), ((*row, "", "[]") for row in new))


def _copy_answers(kind: type[Answer], names: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
    """Store answers of raters as tuples, because model instances take half of the time of an import."""
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    rest = {"role": Answer.Role.REVIEWER, "error_type": "", "created_at": now}
    copy_rows(kind, (*names, *rest), ((*row, *rest.values()) for row in rows))


def _known_claims(owners: Sequence[Owner]) -> tuple[dict[Any, list[Claim]], dict[Any, int]]:
    """The active claims of texts as they were imported, and the latest version of their lists.

    A file that is read again finds its own, also where people have reworded some since.
    """
    claims: dict[Any, list[Claim]] = defaultdict(list)
    if not owners:
        return claims, {}
    summaries = [each.pk for each in owners if isinstance(each, Summary)]
    sets = [each.pk for each in owners if isinstance(each, DocumentSet)]
    lists = ClaimSet.objects.filter(
        Q(summary__in=summaries) | Q(document_set__in=sets), kind=ClaimSet.Kind.CLAIMS
    )
    latest = lists.values_list("summary_id", "document_set_id").annotate(latest=Max("version")).order_by()
    versions = {_owner_key(*owner): version for *owner, version in latest}
    rows = Claim.all_claims.filter(claim_set__in=lists, claim_set__is_active=True).select_related("claim_set")
    for claim in rows.order_by("claim_set_id", "pk"):
        claims[_owner_key(claim.claim_set.summary_id, claim.claim_set.document_set_id)].append(claim)
    for key, some in claims.items():
        claims[key] = [row for row in some if row.origin != ClaimOrigin.PERSON] or some
    return claims, versions


def _owner_key(summary_id: int | None, document_set_id: int | None) -> tuple[type[Owner], int]:
    return (Summary, summary_id) if summary_id is not None else (DocumentSet, document_set_id or 0)


def _known_answers(
    sets: Sequence[int],
) -> tuple[dict[tuple[int, int], int], dict[int, dict[str, tuple[Any, Votes]]]]:
    """The checks of sets by claim and summary; the answer of each file to a check, the latest last."""
    said: dict[int, dict[str, tuple[Any, Votes]]] = defaultdict(dict)
    if not sets:
        return {}, said
    checks = Check.objects.filter(peer__document_set__in=sets).values_list("pk", "claim_id", "peer_id")
    imported = Verdict.objects.filter(
        check_row__peer__document_set__in=sets,
        role=Verdict.Role.REVIEWER,
        person=None,
        origin_name__startswith=ORIGIN,
    )
    columns = ("check_row_id", "origin_name", "label", "votes")
    for check_id, origin, label, votes in imported.order_by("pk").values_list(*columns):
        said[check_id].pop(origin, None)
        said[check_id][origin] = label, tuple((name, vote) for name, vote in votes)
    return {(claim_id, peer_id): pk for pk, claim_id, peer_id in checks}, said


def _criterion(name: str, values: Collection[float]) -> metrics.Criterion:
    """A criterion for the ratings of a column: the published one of SummEval, else one whose scale fits the values.

    Criteria of judges keep their names, so people's ratings get another name.
    """
    published = {each.name.removeprefix("summeval_"): each for each in PACKS["SummEval"]}
    known = published.get(name.casefold())
    if known and min(values) >= 1 and max(values) <= 5:
        return replace(known, asked="after")
    named = f"people_{name}" if name in JUDGED else name
    question = f"{name.replace('_', ' ').capitalize()} of the summary"
    if set(values) <= {0, 1} and 0 in values:
        return metrics.Criterion(named, question, "yes_no", asked="after")
    top = next((top for top in _TOPS if max(values) <= top), 0)
    if not top:
        return metrics.Criterion(named, question, "percent", asked="after")
    first = 0 if min(values) < 1 else 1
    words = [str(point) for point in range(first, top + 1)]
    words[0], words[-1] = f"{words[0]} · lowest", f"{words[-1]} · highest"
    return metrics.Criterion(named, question, points=counted(tuple(words), first), asked="after")


def _claim_row(claim_set: ClaimSet, claim: ClaimData, position: int) -> Claim:
    start = claim_set.summary.text.find(claim.text) if claim_set.summary else -1
    return Claim(
        claim_set=claim_set,
        position=position,
        text=claim.text,
        start=start if start >= 0 else None,
        end=start + len(claim.text) if start >= 0 else None,
        weight=claim.weight,
        origin=ClaimOrigin.IMPORTED,
    )


def _set_of(owner: Owner) -> DocumentSet:
    return owner if isinstance(owner, DocumentSet) else owner.document_set


def _owner_name(owner: Owner) -> str:
    """The text that claims were taken from, as a message names it."""
    if isinstance(owner, DocumentSet):
        return f"the documents of {owner.external_id!r}"
    who = f"by {owner.system.name!r}" if owner.is_peer and owner.system else "used as reference"
    return f"the summary of {owner.document_set.external_id!r} {who}"


def _hold(summaries: Iterable[int]) -> None:
    """Lock summaries and their assignments, so that nobody saves an answer at the same time."""
    keys = list(summaries)
    held = Reading.objects.filter(Q(comparison__peer__in=keys) | Q(comparison__model__in=keys))
    assignments = Assignment.objects.select_for_update(of=("self",)).filter(
        pk__in=held.values("assignment_id")
    )
    list(assignments.order_by("pk"))
    list(Summary.objects.select_for_update(of=("self",)).filter(pk__in=keys).order_by("pk").only("pk"))


def _judged_sets(keys: Iterable[int]) -> set[int]:
    """The sets among these whose documents a verdict, rating or score depends on."""
    return _reached(
        keys,
        (Verdict.objects.filter(check_row__side=Check.Side.PEER), "check_row__peer__document_set"),
        (Verdict.objects, "check_row__claim__claim_set__document_set"),
        # Completeness and conciseness compare a summary's length and words with those of the documents.
        (Rating.objects.filter(judge__isnull=False), "summary__document_set"),
        (Summary.objects.exclude(computed={}), "document_set"),
    )


def _judged_claim_sets(keys: Iterable[int]) -> set[int]:
    """The claim sets among these with a claim that is answered, sampled, given a percent or changed by a person."""
    return _reached(
        keys,
        (Verdict.objects, "check_row__claim__claim_set"),
        (CoverageJudgment.objects, "claim__claim_set"),
        (SampledCheck.objects, "check_row__claim__claim_set"),
        (Claim.all_claims.filter(CHANGED_BY_PEOPLE), "claim_set"),
    )


def _reached(keys: Iterable[int], *statements: tuple[Any, str]) -> set[int]:
    """The keys that the rows of any statement reach by its path; one query a statement."""
    wanted = set(keys)
    found: set[int] = set()
    for rows, path in statements if wanted else ():
        found.update(
            rows.filter(**{f"{path}__in": wanted}).order_by().values_list(path, flat=True).distinct()
        )
    return found
