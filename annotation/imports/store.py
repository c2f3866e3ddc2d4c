"""Write document sets into a project.

The caller owns the transaction and must roll it back if there are `problems`.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, replace
from itertools import product
from typing import Any, Literal, NamedTuple

from django.db import connection
from django.db.models import Q
from django.utils import timezone

from annotation.core.by_hand import copy_rows, insert, new_keys
from annotation.core.current_checks import take_out
from annotation.imports.problems import Findings
from annotation.imports.row import Claim as ClaimData
from annotation.imports.row import Dataset, SetData, Side, Stretch, TargetWords
from annotation.judging.question_texts import MOST_QUESTIONS, question_key
from annotation.judging.services.running.questions import add_questions
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
from annotation.models.claim import QUESTIONS, has_number, new_queue_key
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

KINDS = (
    *("document_sets", "documents", "systems", "reference_authors", "references", "summaries", "comparisons"),
    *("questions", "claims", "checks", "verdicts", "criteria", "ratings"),
)
"""The kinds of rows that are counted, in the order in which reports list them."""

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


Counts = dict[str, Count]
"""The counts of an import by kind of row."""


def has_changes(counts: Counts) -> bool:
    """Return True if an import created or changed a row."""
    return any(count.created or count.changed for count in counts.values())


State = Literal["created", "changed", "unchanged"]
TextKey = tuple[str, str, str, TargetWords]
"""The document_id, the column that holds the text, its system or reference_id, and its target length."""


@dataclass(slots=True)
class Store:
    """Writes the document sets of a file into a project, some at a time.

    `stale` has the keys of existing sets to score again; `new_criteria` describes criteria with their scales. `texts`
    has the row of each summary and reference with its state.
    """

    project: Project
    origin_name: str
    counts: Counts = field(default_factory=lambda: {kind: Count() for kind in KINDS})
    problems: Findings = field(default_factory=Findings)
    systems: dict[str, System] = field(default_factory=dict)
    criteria: dict[str, Criterion] = field(default_factory=dict)
    new_criteria: list[str] = field(default_factory=list)
    stale: set[int] = field(default_factory=set)
    texts: dict[TextKey, tuple[Summary, State]] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        """The `origin_name` that imported verdicts get."""
        return f"{ORIGIN}{self.origin_name}"

    @property
    def present(self) -> Counts:
        """The counts that are not all 0."""
        return {kind: count for kind, count in self.counts.items() if any(astuple(count))}

    def count(self, kind: str, there: object, *, is_changed: bool = False, times: int = 1) -> State:
        """Count rows: as created if `there` is falsy, otherwise as changed or unchanged. Return the word."""
        state: State = "changed" if there and is_changed else "unchanged" if there else "created"
        count = self.counts[kind]
        setattr(count, state, getattr(count, state) + times)
        return state

    def reference(
        self, document_id: str, reference_id: str, target: TargetWords
    ) -> tuple[Summary, State] | None:
        """Return the row of a reference of the file, with its state."""
        named = (document_id, "references", reference_id)
        return self.texts.get((*named, target)) or self.texts.get((*named, None))

    def begin(self, dataset: Dataset) -> None:
        """Create the systems and criteria that are missing."""
        names, people = dataset.writers()
        self.systems = {row.name: row for row in System.objects.filter(project=self.project)}
        new = {}
        for name in sorted(names | people):
            there = name in self.systems
            self.count("systems" if name in names else "reference_authors", there)
            if not there:
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
            self.count("criteria", row)
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
        batch.write_texts()
        if self.problems.count:
            return
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
    - `new`: new texts, with their units if the file has them
    - `changed`: summaries with other metadata
    """

    store: Store
    data: dict[str, SetData]
    sets: dict[str, DocumentSet] = field(default_factory=dict)
    new_sets: set[int] = field(default_factory=set)
    touched: set[int] = field(default_factory=set)
    new: list[tuple[Summary | Document, tuple[Stretch, ...] | None]] = field(default_factory=list)
    changed: list[Summary] = field(default_factory=list)
    new_claims: list[Claim] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)

    @property
    def old_sets(self) -> dict[int, DocumentSet]:
        return {row.pk: row for row in self.sets.values() if row.pk not in self.new_sets}

    def each(self) -> Iterator[tuple[DocumentSet, SetData]]:
        return ((self.sets[name], one) for name, one in self.data.items() if name in self.sets)

    def _refuse(self, line: int | None, name: str, way_out: str) -> None:
        told = f"{name} differs from the project's text. Import it with {way_out}, or into a new project."
        self.store.problems.add(line, "", told)

    # Document sets and their texts

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
            is_regrouped = bool(row and one.group not in ("", row.group))
            self.store.count("document_sets", row, is_changed=is_regrouped)
            if row is None:
                about = {"group": one.group, "language": one.language or "en", "metadata": one.metadata}
                row = DocumentSet(project=project, external_id=name, **about)
                new.append(row)
            elif is_regrouped:
                row.group = one.group
                regrouped.append(row)
            self.sets[name] = row
        insert(new)
        DocumentSet.objects.bulk_update(regrouped, ["group"], batch_size=2000)
        self.new_sets = {row.pk for row in new}
        self.touched |= self.new_sets | {row.pk for row in regrouped}

    def write_texts(self) -> None:
        """Write documents, summaries, references, their comparisons and units. A text of the project that differs is a
        problem.
        """
        there: dict[int, list[Summary]] = defaultdict(list)
        documents: dict[int, list[str]] = defaultdict(list)
        pairs: set[tuple[int, int]] = set()
        if known := self.old_sets:
            for document in Document.objects.filter(document_set__in=known).order_by("position"):
                documents[document.document_set_id].append(document.text)
            rows = Summary.objects.filter(document_set__in=known).select_related("system").order_by("pk")
            for summary in rows:
                summary.document_set = known[summary.document_set_id]
                there[summary.document_set_id].append(summary)
            of_sets = Comparison.objects.filter(summary__document_set__in=known)
            pairs = set(of_sets.values_list("summary_id", "reference_id"))
        for row, one in self.each():
            self._plan_documents(row, one, documents[row.pk])
            self._plan_summaries(row, one, there[row.pk])
            self._plan_references(row, one, there[row.pk], pairs)
        created = [text for text, _ in self.new if isinstance(text, Summary)]
        insert([text for text, _ in self.new if isinstance(text, Document)])
        insert(created)
        Summary.objects.bulk_update(self.changed, ["metadata"], batch_size=2000)
        self.touched.update(text.document_set_id for text in (*self.changed, *(text for text, _ in self.new)))
        for summary in created:
            there[summary.document_set_id].append(summary)
        for row, one in self.each():
            self._compare(one, there[row.pk], pairs)
        insert(self.comparisons)
        copy_rows(Unit, ("summary_id", "document_id", "position", "start", "end"), self._units())

    def _plan_documents(self, row: DocumentSet, one: SetData, there: Sequence[str]) -> None:
        self.store.count("documents", there, times=len(there or one.documents))
        if there and one.documents and there != list(one.documents):
            self._refuse(one.line, f"the document of {row.external_id!r}", "another document_id")
        elif not there:
            numbered = enumerate(one.documents, start=1)
            self.new += [(Document(document_set=row, position=at, text=text), None) for at, text in numbered]

    def _plan_summaries(self, row: DocumentSet, one: SetData, there: Sequence[Summary]) -> None:
        known = {(each.system, each.target_words): each for each in there if each.is_summary}
        for (name, target), given in one.summaries.items():
            system = self.store.systems[name]
            about: dict[str, Any] = {"names_references": given.names_references, "metadata": given.metadata}
            new = Summary(document_set=row, is_summary=True, system=system, target_words=target, **about)
            summary = known.get((system, target), new)
            is_changed = given.metadata not in ({}, summary.metadata)
            if is_changed:
                summary.metadata = given.metadata
                self.changed.append(summary)
            way_out = "another system name or target_words"
            self._plan(
                summary, ("summaries", name, target), given.summary, given, way_out, is_changed=is_changed
            )

    def _plan_references(
        self, row: DocumentSet, one: SetData, there: Sequence[Summary], pairs: Collection[tuple[int, int]]
    ) -> None:
        of_set = [each for each in there if each.is_reference]
        known = {(each.external_id, each.target_words): each for each in of_set}
        served = {
            (reference.external_id, summary.target_words): reference
            for summary, reference in product(there, of_set)
            if (summary.pk, reference.pk) in pairs
        }
        for name, texts in one.references.items():
            system = self.store.systems.get(one.authors[name])
            is_known = any(each.external_id == name for each in of_set)
            for target, given in (texts if is_known else one.texts_of(name)).items():
                new = Summary(
                    document_set=row, is_reference=True, external_id=name, target_words=target, system=system
                )
                general = known.get((name, None), new)
                default = general if general.text == given.text else new
                reference = known.get((name, target)) or served.get((name, target), default)
                if system not in (None, reference.system):
                    told = f"is {system}, and the project has another author, or none, of {_name_of(reference)}. Leave"
                    self.store.problems.add(
                        given.line, "reference_author", f"{told} it out, or use a new project."
                    )
                self._plan(reference, ("references", name, target), given.text, given, "another reference_id")

    def _plan(
        self,
        row: Summary,
        key: tuple[str, str, TargetWords],
        text: str,
        data: Any,
        way_out: str,
        *,
        is_changed: bool = False,
    ) -> None:
        if row.pk is None:
            row.text = text
            self.new.append((row, data.units))
        elif row.text != text:
            self._refuse(data.line, _name_of(row), way_out)
        state = self.store.count(key[0], row.pk, is_changed=is_changed)
        self.store.texts[row.document_set.external_id, *key] = (row, state)

    def _compare(self, one: SetData, texts: Sequence[Summary], pairs: Collection[tuple[int, int]]) -> None:
        references = [each for each in texts if each.is_reference]
        of_length = {(reference.external_id, reference.target_words) for reference in references}
        for summary, reference in product((each for each in texts if each.is_summary), references):
            words, name = summary.target_words, reference.external_id
            # If a reference has a text for this length, that text replaces its text for all lengths.
            length = words if (name, words) in of_length else None
            is_own = summary.system == reference.system and summary.text == reference.text
            system = summary.system.name if summary.system else ""
            is_asked = (system, words, name) in one.pairs or not summary.names_references
            if is_own or reference.target_words != length or not is_asked:
                continue
            there = (summary.pk, reference.pk) in pairs
            self.store.count("comparisons", there)
            if not there:
                self.comparisons.append(Comparison(summary=summary, reference=reference))
                self.touched.add(summary.document_set_id)

    def _units(self) -> Iterator[tuple[int | None, int | None, int, int, int]]:
        """The units of all documents of a set are numbered together."""
        following: dict[int, int] = defaultdict(lambda: 1)
        for owner, given in self.new:
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
            self.store.count("questions", there=False, times=len(new))
            self.store.count("questions", there=True, is_changed=True, times=len(made_up))
            self.store.count("questions", there=True, times=len(one.questions) - len(new))
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
        made: dict[Owner, ClaimSet] = {}
        for owner, *_ in lists:
            of = {"summary": owner} if isinstance(owner, Summary) else {"document_set": owner}
            if owner not in known:
                made[owner] = ClaimSet(**of, origin=ClaimOrigin.IMPORTED, origin_name=self.store.origin_name)
        insert(list(made.values()))
        answered = []
        for owner, claims, side, line, target in lists:
            if owner not in known:
                numbered = enumerate(claims, start=1)
                known[owner] = [_claim_row(made[owner], each, place) for place, each in numbered]
                self.new_claims += known[owner]
                self.touched.add(_set_of(owner).pk)
            rows = known[owner]
            if [(row.text, row.weight) for row in rows] != [(each.text, each.weight) for each in claims]:
                told = f"the list of claims of {_name_of(owner)} differs from the one in the project"
                way_out = "Give the same claims, or import into a new project."
                self.store.problems.add(line, "", f"{told}, or for another target length. {way_out}")
                continue
            self.store.count("claims", rows[0].pk, times=len(rows))
            pairs = zip(rows, claims, strict=True)
            answered += [(*pair, side, _set_of(owner), target) for pair in pairs]
        self._link_to_units([(row, each.unit) for row, each, *_ in answered if each.unit and not row.pk])
        insert(self.new_claims)
        return self._answers(answered)

    def _lists_of_claims(self) -> Iterator[tuple[Owner, list[ClaimData], Side, int | None, TargetWords]]:
        for row, one in self.each():
            for (system, target), summary in one.summaries.items():
                if summary.claims:
                    owner = self.store.texts[row.external_id, "summaries", system, target][0]
                    yield owner, summary.claims, "summary", one.line, target
            for (reference_id, target), claims in one.claims.items():
                reference = self.store.reference(row.external_id, reference_id, target)
                yield reference[0] if reference else row, claims, "reference", one.line, target

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
                summary, _ = self.store.texts[document_set.external_id, "summaries", system, target]
                check_id = checks.get((row.pk, summary.pk))
                self.store.count("checks", check_id)
                before = said.get(check_id or 0, {})
                last = before.get(self.store.origin, list(before.values())[-1] if before else None)
                is_known = last == (label, each.votes.get(system, {}))
                self.store.count("verdicts", is_known)
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
            votes, reason = json.dumps([*said.votes.get(system, {}).items()]), said.reasons.get(system) or ""
            rows.append((check, self.store.origin, said.verdicts[system], votes, reason, ""))
        _copy_answers(Verdict, ("check_row_id", "origin_name", "label", "votes", "reason", "repeated"), rows)

    def _score_new(self, answers: Sequence[_Answer]) -> dict[tuple[int, int], Any]:
        """Store the scores of new sets. Return the derived columns of their checks, by claim and summary."""
        created = [text for text, _ in self.new if isinstance(text, Summary) and text.is_summary]
        summaries = [row for row in created if row.document_set_id in self.new_sets]
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
                summary = self.store.texts[row.external_id, "summaries", *key][0].pk
                for (name, rater), value in given.rated.items():
                    place = summary, self.store.criteria[name].pk, rater
                    is_known = there.get(place, ...) == value
                    self.store.count("ratings", is_known)
                    if not is_known:
                        new.append((*place, value, ""))
        _copy_answers(Rating, (*columns, "reason"), new)


def _copy_answers(kind: type[Answer], names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    rest = {"role": Answer.Role.REVIEWER, "error_type": "", "evidence": "[]", "created_at": now}
    copy_rows(kind, (*names, *rest), ((*row, *rest.values()) for row in rows))


def _known_claims(owners: Sequence[Owner]) -> dict[Owner, list[Claim]]:
    """Lock summaries, and load the claims of their active lists, removed claims too.

    People's claims are left out, unless a text has no others.
    """
    claims: dict[Owner, list[Claim]] = defaultdict(list)
    summaries = [each.pk for each in owners if isinstance(each, Summary)]
    sets = [each.pk for each in owners if isinstance(each, DocumentSet)]
    of_owners = Q(claim_set__summary__in=summaries) | Q(claim_set__document_set__in=sets)
    rows = Claim.all_claims.filter(of_owners, claim_set__kind=ClaimSet.Kind.CLAIMS, claim_set__is_active=True)
    if owners:
        list(
            Summary.objects.select_for_update(of=("self",)).filter(pk__in=summaries).order_by("pk").only("pk")
        )
        for claim in rows.select_related("claim_set").order_by("claim_set_id", "pk"):
            of = claim.claim_set
            claims[Summary(pk=of.summary_id) if of.summary_id else DocumentSet(pk=of.document_set_id)].append(
                claim
            )
    return {
        owner: [one for one in some if one.origin != ClaimOrigin.PERSON] or some
        for owner, some in claims.items()
    }


def _known_answers(sets: Collection[int]) -> tuple[dict[tuple[int, int], int], dict[int, dict[str, Any]]]:
    """Load checks by claim and summary, and for each check the label and votes of each file, the latest last."""
    said: dict[int, dict[str, tuple[str | None, dict[str, str]]]] = defaultdict(dict)
    if not sets:
        return {}, said
    checks = Check.objects.filter(summary__document_set__in=sets).values_list("pk", "claim_id", "summary_id")
    of_files = {"role": Verdict.Role.REVIEWER, "origin_name__startswith": ORIGIN}
    imported = Verdict.objects.filter(check_row__summary__document_set__in=sets, **of_files).order_by("pk")
    columns = ("check_row_id", "origin_name", "label", "votes")
    for check_id, origin, label, votes in imported.values_list(*columns):
        said[check_id].pop(origin, None)
        said[check_id][origin] = label, dict(votes)
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
