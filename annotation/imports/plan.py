"""Compare a data set with the rows of the project: the changes that importing it makes.

A plan reads and never writes. Its rows are unsaved ones and rows with new values in them; `services` writes them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import product
from typing import Any, NamedTuple

from django.db.models import Max, Q

from annotation.core.paging import batches
from annotation.imports.problems import Problems
from annotation.imports.rows import (
    ClaimData,
    Dataset,
    PeerData,
    PeerKey,
    ReferenceData,
    Row,
    SetData,
    Side,
    Stretch,
    TargetWords,
    Text,
    Votes,
)
from annotation.judging.question_texts import MOST_QUESTIONS, question_key
from annotation.models import (
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
    SampledCheck,
    Summary,
    System,
    Verdict,
)
from annotation.models.claim import CHANGED_BY_PEOPLE, QUESTIONS
from annotation.scoring.records import judged_text
from annotation.texts.queries.unit_texts import judged_summaries
from evaluation import metrics
from evaluation.metrics import JUDGED, PACKS, counted

SETS_PLANNED_AT_ONCE = 200
MOST_ORIGIN_CHARACTERS = 190
ORIGIN = "import:"
"""The beginning of the origin of an imported verdict."""

_BASELINE = re.compile(r"(lead|random|baseline)([-_ ]?\d+)?|.*\bbaseline\b.*", re.IGNORECASE)
_TOPS = (3, 4, 5, 7, 10)
"""The highest points of scales in use."""

OwnerOfClaims = Summary | DocumentSet


@dataclass(slots=True)
class Count:
    """The numbers of rows of a kind that the import creates, changes and leaves as they are."""

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
    criteria: Count = field(default_factory=Count)
    ratings: Count = field(default_factory=Count)

    @property
    def by_kind(self) -> dict[str, Count]:
        """In the order of the report."""
        return {kind.name: getattr(self, kind.name) for kind in fields(self)}

    @property
    def has_changes(self) -> bool:
        return any(count.has_changes for count in self.by_kind.values())

    def told(self) -> dict[str, Count]:
        """Those of the kinds that the import has anything to do with."""
        return {kind: count for kind, count in self.by_kind.items() if count.has_changes or count.unchanged}


class ImportedAnswer(NamedTuple):
    """People's answer in the file to a claim compared with a summary; the check, if there is one.

    `places` are where the summary says it, `votes` the answer of each of several raters.
    """

    claim: Claim
    peer: Summary
    side: Side
    label: str
    check_id: int | None
    places: tuple[Stretch, ...] = ()
    votes: Votes = ()
    reason: str = ""


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
    """The rows to write for some of the file's sets, in no particular order, and the problems that prevent it.

    A large file is planned part by part; the parts share their counts and problems. `texts` are divided into units,
    each by its language; `given_units` has, by the `summary_key` of a summary in it, the units as the file cuts it, and
    `of_units` claims with the number of their unit.
    """

    project: Project
    origin_name: str
    counts: ImportCounts = field(default_factory=ImportCounts)
    problems: Problems = field(default_factory=Problems)
    systems: list[System] = field(default_factory=list)
    criteria: list[Criterion] = field(default_factory=list)
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
    of_units: list[tuple[Claim, int]] = field(default_factory=list)
    answers: list[ImportedAnswer] = field(default_factory=list)
    ratings: list[tuple[Criterion, Summary, str, float]] = field(default_factory=list)
    replaced_summaries: list[Replaced] = field(default_factory=list)
    replaced_documents: list[Replaced] = field(default_factory=list)
    replaced_claim_sets: list[Replaced] = field(default_factory=list)
    touched: dict[str, DocumentSet] = field(default_factory=dict)
    texts: list[tuple[Summary | Document, str]] = field(default_factory=list)
    given_units: dict[int, tuple[Stretch, ...]] = field(default_factory=dict)
    peers: dict[tuple[str, PeerKey], Summary] = field(default_factory=dict)
    references: dict[tuple[str, str, TargetWords], Summary] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        """The origin of imported verdicts."""
        return f"{ORIGIN}{self.origin_name}"

    @property
    def size(self) -> tuple[int, ...]:
        """The number of rows that make scores or statistics out of date; statistics resample groups."""
        parts = (self.regrouped, self.documents, self.texts, self.summaries, self.comparisons)
        sizes = [len(part) for part in (*parts, self.questions, self.claims, self.answers)]
        return (*sizes, len(self.updated))

    def written(self, row: Row) -> tuple[Summary | None, Summary | None]:
        """The summary and the reference of a row, where this part holds them."""
        peer = self.peers.get((row.document_id, (row.system, row.target)))
        names = [one.id for one in row.references]
        return peer, next((self.references.get((row.document_id, name, row.target)) for name in names), None)

    def refuse_judged(self) -> None:
        """Note every replaced text that somebody has judged; its judgments would be lost or lie."""
        for rows, judged in (
            (self.replaced_summaries, judged_summaries),
            (self.replaced_documents, judged_document_sets),
            (self.replaced_claim_sets, judged_claim_sets),
        ):
            found = judged(row.key for row in rows)
            for row in rows:
                if row.key in found:
                    self.problems.add(row.line, "", row.refusal())


def plan_import(plan: ImportPlan, dataset: Dataset, *, side: Side | None) -> Iterator[ImportPlan]:
    """The changes that importing the data set into the plan's project makes, part by part.

    A part holds some document sets with all that belongs to them; the first, the systems and criteria, too. What a
    part says is written before the next is asked for, or nothing is.
    The plan's problems name every contradiction between the file and the project.
    """
    names, people = dataset.writers()
    planner = _Planner(_part(plan), side, people)
    planner.plan_systems(names)
    planner.plan_criteria(dataset.rated())
    for some in batches(dataset.sets.items(), SETS_PLANNED_AT_ONCE):
        planner.existing = Existing.load(plan.project, [name for name, _ in some])
        for name, one in some:
            planner.plan_set(name, one)
        planner.plan.refuse_judged()
        yield planner.plan
        planner.plan = _part(plan)


def _part(plan: ImportPlan) -> ImportPlan:
    return ImportPlan(plan.project, plan.origin_name, plan.counts, plan.problems)


@dataclass(slots=True)
class Existing:
    """The rows of some document sets, by their names in a file."""

    sets: dict[str, DocumentSet] = field(default_factory=dict)
    documents: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    summaries: dict[int, list[Summary]] = field(default_factory=lambda: defaultdict(list))
    comparisons: set[tuple[int, int]] = field(default_factory=set)
    claims: dict[tuple[type[OwnerOfClaims], int], list[Claim]] = field(
        default_factory=lambda: defaultdict(list)
    )
    versions: dict[tuple[type[OwnerOfClaims], int], int] = field(default_factory=dict)
    checks: dict[tuple[int, int], int] = field(default_factory=dict)
    answers: dict[int, dict[str, tuple[str | None, Votes]]] = field(default_factory=lambda: defaultdict(dict))
    questions: dict[int, list[Claim]] = field(default_factory=lambda: defaultdict(list))
    ratings: dict[tuple[int, int, str], float | None] = field(default_factory=dict)

    @classmethod
    def load(cls, project: Project, document_ids: Collection[str]) -> Existing:
        found = cls()
        rows = DocumentSet.objects.filter(project=project, external_id__in=document_ids)
        found.sets = {row.external_id: row for row in rows}
        if not found.sets:
            return found
        by_key = {row.pk: row for row in found.sets.values()}
        keys = list(by_key)
        for document in Document.objects.filter(document_set__in=keys).order_by("position"):
            found.documents[document.document_set_id].append(document.text)
        for summary in Summary.objects.filter(document_set__in=keys).select_related("system").order_by("pk"):
            summary.document_set = by_key[summary.document_set_id]
            found.summaries[summary.document_set_id].append(summary)
        pairs = Comparison.objects.filter(peer__document_set__in=keys)
        found.comparisons = set(pairs.values_list("peer_id", "model_id"))
        found._load_claims(keys)
        found._load_answers(keys)
        return found

    def _load_claims(self, set_ids: list[int]) -> None:
        questions = Claim.all_claims.filter(QUESTIONS, claim_set__document_set__in=set_ids)
        for question in questions.select_related("claim_set").order_by("position"):
            self.questions[question.claim_set.document_set_id or 0].append(question)
        of_sets = Q(summary__document_set__in=set_ids) | Q(document_set__in=set_ids)
        versions = ClaimSet.objects.filter(of_sets, kind=ClaimSet.Kind.CLAIMS).values_list(
            "summary_id", "document_set_id"
        )
        for summary_id, document_set_id, latest in versions.annotate(latest=Max("version")).order_by():
            self.versions[_owner_key(summary_id, document_set_id)] = latest
        claims = Claim.all_claims.filter(
            Q(claim_set__summary__document_set__in=set_ids) | Q(claim_set__document_set__in=set_ids),
            ~QUESTIONS,
            claim_set__is_active=True,
        )
        lists: dict[tuple[type[OwnerOfClaims], int], list[Claim]] = defaultdict(list)
        for claim in claims.select_related("claim_set").order_by("claim_set_id", "pk"):
            owner = _owner_key(claim.claim_set.summary_id, claim.claim_set.document_set_id)
            lists[owner].append(claim)
        # As they came: a file that is read again finds its own, also where people have reworded some since.
        for owner, rows in lists.items():
            self.claims[owner] = [row for row in rows if row.origin != ClaimOrigin.PERSON] or rows

    def _load_answers(self, set_ids: list[int]) -> None:
        checks = Check.objects.filter(peer__document_set__in=set_ids)
        for check_id, claim_id, peer_id in checks.values_list("pk", "claim_id", "peer_id"):
            self.checks[claim_id, peer_id] = check_id
        imported = Verdict.objects.filter(
            check_row__peer__document_set__in=set_ids,
            role=Verdict.Role.REVIEWER,
            person=None,
            origin_name__startswith=ORIGIN,
        )
        for check_id, origin, label, votes in imported.order_by("pk").values_list(
            "check_row_id", "origin_name", "label", "votes"
        ):
            # The order of a dict is that of the first time: the latest must come last.
            self.answers[check_id].pop(origin, None)
            self.answers[check_id][origin] = label, tuple((name, vote) for name, vote in votes)
        rated = Rating.objects.filter(summary__document_set__in=set_ids, person=None, judge=None)
        for summary, criterion, rater, value in rated.order_by("pk").values_list(
            "summary_id", "criterion_id", "origin_name", "value"
        ):
            self.ratings[summary, criterion, rater] = value

    def peer(self, document_set: DocumentSet, system: str, target: TargetWords) -> Summary | None:
        rows = (row for row in self.of_set(document_set) if row.is_peer and row.target_words == target)
        return next((row for row in rows if row.system and row.system.name == system), None)

    def model(self, document_set: DocumentSet, reference_id: str, target: TargetWords) -> Summary | None:
        rows = (row for row in self.of_set(document_set) if row.is_model and row.target_words == target)
        return next((row for row in rows if row.external_id == reference_id), None)

    def of_set(self, document_set: DocumentSet) -> list[Summary]:
        """All summaries of a set, in whatever role."""
        return self.summaries.get(document_set.pk, []) if document_set.pk else []

    def compared(self, model: Summary) -> list[Summary]:
        """The summaries that are compared with a reference."""
        peers = self.of_set(model.document_set)
        return [peer for peer in peers if (peer.pk, model.pk) in self.comparisons]

    def has_answer(self, check_id: int, origin: str, label: str, votes: Votes) -> bool:
        """True if a file of that name said so last of this check, or, if it never spoke, any file did."""
        said = self.answers.get(check_id)
        if not said:
            return False
        return (said[origin] if origin in said else list(said.values())[-1]) == (label, votes)


def _owner_key(summary_id: int | None, document_set_id: int | None) -> tuple[type[OwnerOfClaims], int]:
    return (Summary, summary_id) if summary_id is not None else (DocumentSet, document_set_id or 0)


def summary_key(summary: Summary) -> int:
    """The key of a summary or, unsaved, its place in memory, below all keys."""
    return -id(summary) if summary._state.adding else summary.pk


@dataclass(slots=True)
class _Planner:
    plan: ImportPlan
    side: Side | None
    people: set[str]
    systems: dict[str, System] = field(default_factory=dict)
    criteria: dict[str, Criterion] = field(default_factory=dict)
    existing: Existing = field(default_factory=Existing)

    def plan_systems(self, names: set[str]) -> None:
        """A row for each of these systems, and of the people, who count apart where they wrote references alone."""
        counts = self.plan.counts
        there = {row.name: row for row in System.objects.filter(project=self.plan.project)}
        for name in sorted(names | self.people):
            count = counts.systems if name in names else counts.reference_authors
            count.unchanged += name in there
            count.created += name not in there
            if name not in there:
                kind = System.Kind.BASELINE if _BASELINE.fullmatch(name) else System.Kind.SUMMARISER
                kind = System.Kind.PERSON if name in self.people else kind
                there[name] = System(project=self.plan.project, name=name, kind=kind)
                self.plan.systems.append(there[name])
        self.systems = there

    def plan_criteria(self, rated: Mapping[str, set[float]]) -> None:
        """A criterion of the project for each that the file rates by, or a new one with the scale of its values."""
        rows = Criterion.objects.filter(project=self.plan.project, retired_at=None)
        there = {row.name: row for row in rows.order_by("position", "pk")}
        position = max((row.position for row in there.values()), default=0)
        for name, values in rated.items():
            fact = _criterion(name, values)
            row = there.get(fact.name)
            if row is None:
                position += 1
                columns = {each.name: getattr(fact, each.name) for each in fields(fact)}
                row = Criterion(project=self.plan.project, position=position, **columns)
                self.plan.criteria.append(row)
                self.plan.counts.criteria.created += 1
            else:
                self.plan.counts.criteria.unchanged += 1
            scale = row.fact.values
            if scale and (max(values) > scale[-1] or min(values) < scale[0]):
                self.plan.problems.add(
                    None,
                    name,
                    f"has ratings from {min(values):g} to {max(values):g}, and the project's criterion {row.name} goes "
                    f"from {scale[0]} to {scale[-1]}. Rename the column, or retire the criterion in the settings.",
                )
            self.criteria[name] = row

    def plan_set(self, name: str, one: SetData) -> None:
        before = self.plan.size
        row = self._document_set(name, one)
        if row is None:
            return
        self._documents(row, one)
        self._questions(row, one)
        peers = self._peers(row, one)
        models = self._models(row, one)
        self._comparisons(row, one, peers, models)
        self._claims(row, one, peers, models)
        self._ratings(one, peers)
        self.plan.peers.update({(name, key): peer for key, peer in peers.items()})
        self.plan.references.update({(name, *key): model for key, model in models.items()})
        if self.plan.size != before:
            self.plan.touched[name] = row

    def _document_set(self, name: str, one: SetData) -> DocumentSet | None:
        count, row = self.plan.counts.document_sets, self.existing.sets.get(name)
        if row is None:
            count.created += 1
            row = DocumentSet(
                project=self.plan.project,
                external_id=name,
                group=one.group,
                language=one.language or "en",
                metadata=one.metadata,
            )
            self.plan.document_sets.append(row)
            return row
        if one.language and one.language != row.language:
            self.plan.problems.add(
                one.line,
                "language",
                f"is {one.language!r}, but {name!r} is in the project as {row.language!r}, and its texts are "
                "divided by the rules of that language. Use another document_id or a new project.",
            )
            return None
        is_regrouped = bool(one.group) and one.group != row.group
        count.changed += is_regrouped
        count.unchanged += not is_regrouped
        if is_regrouped:
            row.group = one.group
            self.plan.regrouped.append(row)
        return row

    def _documents(self, row: DocumentSet, one: SetData) -> None:
        count = self.plan.counts.documents
        there = self.existing.documents.get(row.pk, []) if row.pk else []
        if not one.documents or there == list(one.documents):
            count.unchanged += len(there)
            return
        if there:
            count.changed += len(one.documents)
            self.plan.replaced_documents.append(
                Replaced(row.pk, one.line, f"the document of {row.external_id!r}", "document_id")
            )
        else:
            count.created += len(one.documents)
        for position, text in enumerate(one.documents, start=1):
            document = Document(document_set=row, position=position, text=text)
            self.plan.documents.append(document)
            self.plan.texts.append((document, row.language))

    def _questions(self, row: DocumentSet, one: SetData) -> None:
        """Questions that were never asked here are new; given ones win over those that a judge made up.

        One that somebody retired stays retired, and none is retired because the file leaves it out.
        """
        count = self.plan.counts.questions
        there = self.existing.questions.get(row.pk, []) if row.pk else []
        given = {question_key(each.text) for each in there if each.origin != ClaimOrigin.JUDGE}
        new = [text for text in one.questions if question_key(text) not in given]
        count.unchanged += len(one.questions) - len(new)
        if not new:
            return
        made_up = [each for each in there if each.origin == ClaimOrigin.JUDGE and each.removed_at is None]
        standing = sum(each.removed_at is None for each in there) - len(made_up)
        if standing + len(new) > MOST_QUESTIONS:
            self.plan.problems.add(
                one.line,
                "questions",
                f"would give {row.external_id!r} {standing + len(new)} questions; a document set may have "
                f"{MOST_QUESTIONS}. Retire some in the project first.",
            )
            return
        count.created += len(new)
        count.changed += len(made_up)
        self.plan.retired_questions += [each.pk for each in made_up]
        together = self._claim_set(row, ClaimSet.Kind.QUESTIONS, 1)
        self.plan.questions += [
            Claim(claim_set=together, position=position, text=text, origin=ClaimOrigin.IMPORTED)
            for position, text in enumerate(new, start=max((each.position for each in there), default=0) + 1)
        ]

    def _claim_set(self, owner: OwnerOfClaims, kind: ClaimSet.Kind, version: int) -> ClaimSet:
        made = ClaimSet(
            kind=kind,
            summary=owner if isinstance(owner, Summary) else None,
            document_set=owner if isinstance(owner, DocumentSet) else None,
            origin=ClaimOrigin.IMPORTED,
            origin_name=self.plan.origin_name,
            version=version,
        )
        self.plan.claim_sets.append(made)
        return made

    def _peers(self, row: DocumentSet, one: SetData) -> dict[PeerKey, Summary]:
        peers: dict[PeerKey, Summary] = {}
        for (name, target), peer in one.peers.items():
            summary = self.existing.peer(row, name, target)
            if summary is None:
                summary = self._new_summary(
                    Summary(
                        document_set=row,
                        system=self.systems[name],
                        is_peer=True,
                        target_words=target,
                        text=peer.text.text,
                        metadata=dict(peer.metadata),
                        names_references=peer.names_references,
                    ),
                    peer.text,
                )
                self.plan.counts.peer_summaries.created += 1
            else:
                self._hold_peer(summary, peer)
            peers[name, target] = summary
        return peers

    def _hold_peer(self, summary: Summary, peer: PeerData) -> None:
        """Give a summary its text and metadata; compare it with every reference from now on, once a row names none."""
        assert summary.system is not None, "the database gives every summary a system"
        name = f"the summary of {summary.document_set.external_id!r} by {summary.system.name!r}"
        is_changed = self._hold_text(summary, peer.text, name, "system name or target_words")
        if peer.metadata and summary.metadata != peer.metadata:
            summary.metadata, is_changed = dict(peer.metadata), True
        if summary.names_references and not peer.names_references:
            summary.names_references, is_changed = False, True
        if is_changed:
            self.plan.updated[summary.pk] = summary
        self.plan.counts.peer_summaries.changed += is_changed
        self.plan.counts.peer_summaries.unchanged += not is_changed

    def _models(self, row: DocumentSet, one: SetData) -> dict[tuple[str, TargetWords], Summary]:
        models: dict[tuple[str, TargetWords], Summary] = {}
        for reference_id, reference in one.references.items():
            serving: dict[TargetWords, Summary] = {}
            for target, text in reference.texts.items():
                summary = self._serving(row, reference_id, target, text)
                if summary is not None:
                    serving[target] = summary
            for summary in {id(summary): summary for summary in serving.values()}.values():
                self._hold_reference(
                    summary, reference, [target for target in serving if serving[target] is summary]
                )
            missing = [target for target in reference.texts if target not in serving]
            is_one = len(missing) == len(reference.texts) and reference.has_one_text
            if is_one and self.existing.model(row, reference_id, None) is None:
                model = self._new_model(row, reference, reference_id, missing[0], None)
                serving = dict.fromkeys(missing, model)
            else:
                for target in missing:
                    serving[target] = self._new_model(row, reference, reference_id, target, target)
            models |= {(reference_id, target): model for target, model in serving.items()}
        return models

    def _serving(
        self, row: DocumentSet, reference_id: str, target: TargetWords, text: Text
    ) -> Summary | None:
        """The reference of that id for a target length: its own, else the one for all lengths.

        The one for all lengths does not stand for another text of a length that it never served.
        """
        own = self.existing.model(row, reference_id, target)
        if own is not None or target is None:
            return own
        general = self.existing.model(row, reference_id, None)
        if general is None or general.text == text.text:
            return general
        served = {peer.target_words for peer in self.existing.compared(general)}
        return general if target in served else None

    def _hold_reference(
        self, summary: Summary, reference: ReferenceData, targets: Sequence[TargetWords]
    ) -> None:
        others = [reference.texts[target] for target in targets]
        text = next((other for other in others if other.text != summary.text), others[0])
        compared = self.existing.compared(summary)
        served = {peer.target_words for peer in compared}
        is_whole = served <= set(targets) and len({other.text for other in others}) == 1
        if summary.text != text.text and not is_whole:
            self.plan.problems.add(
                text.line,
                "reference",
                "is another text than in the project, where this reference serves other target lengths, too. "
                "Give the new text another reference_id, or give it to all of them.",
            )
            return
        name = f"the reference {summary.external_id!r} of {summary.document_set.external_id!r}"
        is_changed = self._hold_text(summary, text, name, "reference_id")
        authors = {peer.system.name for peer in compared if peer.system}
        if reference.author and summary.system is None and reference.author not in authors:
            summary.system, is_changed = self.systems[reference.author], True
        if is_changed:
            self.plan.updated[summary.pk] = summary
        self.plan.counts.model_summaries.changed += is_changed
        self.plan.counts.model_summaries.unchanged += not is_changed

    def _new_model(
        self,
        row: DocumentSet,
        reference: ReferenceData,
        reference_id: str,
        source: TargetWords,
        target: TargetWords,
    ) -> Summary:
        """A reference for a target length, with the text that the file gives for the length `source`."""
        self.plan.counts.model_summaries.created += 1
        text = reference.texts[source]
        author = self.systems[reference.author] if reference.author else None
        return self._new_summary(
            Summary(
                document_set=row,
                system=author,
                is_model=True,
                external_id=reference_id,
                target_words=target,
                text=text.text,
            ),
            text,
        )

    def _new_summary(self, summary: Summary, text: Text) -> Summary:
        self.plan.summaries.append(summary)
        self._cut(summary, text)
        return summary

    def _hold_text(self, summary: Summary, text: Text, name: str, renaming: str) -> bool:
        if summary.text == text.text:
            return False
        summary.text = text.text
        self._cut(summary, text)
        self.plan.replaced_summaries.append(Replaced(summary.pk, text.line, name, renaming))
        return True

    def _cut(self, summary: Summary, text: Text) -> None:
        """Have the text that is judged divided into units: as the file does, or by the rules."""
        self.plan.texts.append((summary, summary.document_set.language))
        if text.units is not None:
            length = len(judged_text(summary, self.plan.project))
            within = ((start, min(end, length)) for start, end in text.units if start < length)
            self.plan.given_units[summary_key(summary)] = tuple(within)

    def _comparisons(
        self,
        row: DocumentSet,
        one: SetData,
        peers: Mapping[PeerKey, Summary],
        models: Mapping[tuple[str, TargetWords], Summary],
    ) -> None:
        """Compare summaries that name references with these, all others with every reference of the set."""
        count, there = self.plan.counts.comparisons, self.existing.of_set(row)
        pairs = [
            (peers[system, target], model)
            for system, target, reference_id in one.pairs
            if (model := models.get((reference_id, target)))
        ]
        every_peer = [*peers.values(), *(each for each in there if each.is_peer)]
        every_model = [*models.values(), *(each for each in there if each.is_model)]
        of_length = {(model.external_id, model.target_words) for model in every_model}
        pairs += [
            (peer, model)
            for peer, model in product(every_peer, every_model)
            if not peer.names_references
            # A reference's own text for a length stands in for its text for all lengths.
            and model.target_words
            == (peer.target_words if (model.external_id, peer.target_words) in of_length else None)
        ]
        for peer, model in {(id(peer), id(model)): (peer, model) for peer, model in pairs}.values():
            # A text is never held against itself.
            author = model.system.name if model.system else None
            if peer is model or (peer.system and peer.system.name == author and peer.text == model.text):
                continue
            is_there = (peer.pk, model.pk) in self.existing.comparisons
            count.unchanged += is_there
            count.created += not is_there
            if not is_there:
                self.plan.comparisons.append(Comparison(peer=peer, model=model))

    def _claims(
        self,
        row: DocumentSet,
        one: SetData,
        peers: Mapping[PeerKey, Summary],
        models: Mapping[tuple[str, TargetWords], Summary],
    ) -> None:
        """The claims of the set, and people's answers to them. A list of claims is one text's and comes or goes whole.

        Claims of the reference side belong to the reference that they were taken from, else to the documents; each of
        the peer side to the summary that it alone was answered for.
        """
        target = one.claims_of[1]
        lists: list[tuple[OwnerOfClaims, Sequence[ClaimData], Side, TargetWords]] = [
            (peers[key], peer.claims, "peer", key[1]) for key, peer in one.peers.items() if peer.claims
        ]
        if self.side == "peer":
            of_peers: dict[str, list[ClaimData]] = defaultdict(list)
            for claim in one.claims:
                of_peers[next(iter(claim.systems))].append(claim)
            lists += [(peers[system, target], claims, "peer", target) for system, claims in of_peers.items()]
        elif one.claims:
            lists.append((models.get(one.claims_of) or row, one.claims, "reference", target))
        for owner, claims, side, length in lists:
            for claim_row, claim in zip(self._claim_rows(owner, claims, one), claims, strict=True):
                for system, label in claim.verdicts.items():
                    self._answer(claim_row, claim, peers[system, length], system, label, side)

    def _claim_rows(self, owner: OwnerOfClaims, claims: Sequence[ClaimData], one: SetData) -> Sequence[Claim]:
        count, key = self.plan.counts.claims, (type(owner), owner.pk or 0)
        replaced = (
            self.plan.replaced_summaries if isinstance(owner, Summary) else self.plan.replaced_documents
        )
        # The claims of a text that is replaced go with it, even where the file has the same again.
        is_replaced = any(row.key == owner.pk for row in replaced)
        there = [] if is_replaced or not owner.pk else self.existing.claims.get(key, [])
        if [(row.text, row.weight) for row in there] == [(claim.text, claim.weight) for claim in claims]:
            count.unchanged += len(there)
            return there
        if there:
            count.changed += len(claims)
            name = f"the list of claims of {_owner_name(owner)}"
            self.plan.replaced_claim_sets.append(
                Replaced(there[0].claim_set_id, one.line, name, "document_id")
            )
        else:
            count.created += len(claims)
        made = self._claim_set(owner, ClaimSet.Kind.CLAIMS, self.existing.versions.get(key, 0) + 1)
        text = owner.text if isinstance(owner, Summary) else ""
        rows = [
            _claim_row(made, claim, position, text.find(claim.text))
            for position, claim in enumerate(claims, start=1)
        ]
        self.plan.claims.extend(rows)
        self.plan.of_units += [
            (each, claim.unit) for each, claim in zip(rows, claims, strict=True) if claim.unit
        ]
        return rows

    def _answer(
        self, row: Claim, claim: ClaimData, peer: Summary, system: str, label: str, side: Side
    ) -> None:
        checks, verdicts = self.plan.counts.checks, self.plan.counts.verdicts
        votes = claim.votes.get(system, ())
        check_id = self.existing.checks.get((row.id, peer.id)) if row.id and peer.id else None
        checks.created += check_id is None
        checks.unchanged += check_id is not None
        if check_id is not None and self.existing.has_answer(check_id, self.plan.origin, label, votes):
            verdicts.unchanged += 1
            return
        verdicts.created += 1
        places, reason = claim.places.get(system, ()), claim.reasons.get(system, "")
        self.plan.answers.append(ImportedAnswer(row, peer, side, label, check_id, places, votes, reason))

    def _ratings(self, one: SetData, peers: Mapping[PeerKey, Summary]) -> None:
        count = self.plan.counts.ratings
        for key, peer in one.peers.items():
            summary = peers[key]
            for (name, rater), value in peer.ratings.items():
                criterion = self.criteria[name]
                place = (summary.pk, criterion.pk, rater)
                if summary.pk and criterion.pk and self.existing.ratings.get(place) == value:
                    count.unchanged += 1
                    continue
                count.created += 1
                self.plan.ratings.append((criterion, summary, rater, value))


def _criterion(name: str, values: Collection[float]) -> metrics.Criterion:
    """A criterion for ratings by a name: the published one of SummEval, else one with a scale that holds the values.

    Names that judges rate by are theirs, so people's ratings get another.
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


def _claim_row(claim_set: ClaimSet, claim: ClaimData, position: int, start: int) -> Claim:
    is_found = start >= 0 and claim_set.summary is not None
    return Claim(
        claim_set=claim_set,
        position=position,
        text=claim.text,
        start=start if is_found else None,
        end=start + len(claim.text) if is_found else None,
        weight=claim.weight,
        origin=ClaimOrigin.IMPORTED,
    )


def _owner_name(owner: OwnerOfClaims) -> str:
    """The text that claims were taken from, as a message names it."""
    if isinstance(owner, DocumentSet):
        return f"the documents of {owner.external_id!r}"
    who = f"by {owner.system.name!r}" if owner.is_peer and owner.system else "used as reference"
    return f"the summary of {owner.document_set.external_id!r} {who}"


def judged_document_sets(keys: Iterable[int]) -> set[int]:
    """Of which of these sets the documents have been judged against, or judged by, in some verdict."""
    return _reached(
        keys,
        (Verdict.objects.filter(check_row__side=Check.Side.PEER), "check_row__peer__document_set"),
        (Verdict.objects, "check_row__claim__claim_set__document_set"),
        # Completeness and conciseness hold a summary's length and words against the documents'.
        (Rating.objects.filter(judge__isnull=False), "summary__document_set"),
        (Summary.objects.exclude(computed={}), "document_set"),
    )


def judged_claim_sets(keys: Iterable[int]) -> set[int]:
    """Of which of these claim sets a claim has been answered, sampled, given a percent or changed by somebody."""
    return _reached(
        keys,
        (Verdict.objects, "check_row__claim__claim_set"),
        (CoverageJudgment.objects, "claim__claim_set"),
        (SampledCheck.objects, "check_row__claim__claim_set"),
        (Claim.all_claims.filter(CHANGED_BY_PEOPLE), "claim_set"),
    )


def _reached(keys: Iterable[int], *statements: tuple[Any, str]) -> set[int]:
    """Those of the keys that some of these rows lead to, each by its path; one query for each."""
    wanted = set(keys)
    found: set[int] = set()
    for rows, path in statements if wanted else ():
        found.update(
            rows.filter(**{f"{path}__in": wanted}).order_by().values_list(path, flat=True).distinct()
        )
    return found
