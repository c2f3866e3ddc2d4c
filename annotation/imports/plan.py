"""What importing a data set would change: the file compared with the rows that are there.

A plan reads and never writes. Its rows are unsaved ones and rows with new values in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product

from annotation.core.paging import batches
from annotation.imports.dataset import (
    Dataset,
    PeerData,
    PeerKey,
    ReferenceData,
    SetData,
    Side,
    Stretch,
    TargetWords,
    Text,
)
from annotation.imports.existing import (
    Existing,
    summary_key,
)
from annotation.imports.plan_claims import plan_claims
from annotation.imports.planned import ImportPlan, Replaced
from annotation.judging.question_texts import MOST_QUESTIONS, question_key
from annotation.models import (
    Claim,
    ClaimOrigin,
    ClaimSet,
    Comparison,
    Document,
    DocumentSet,
    Summary,
    System,
)
from annotation.scoring.records import judged_text

SETS_PLANNED_AT_ONCE = 200

_BASELINE = re.compile(r"(lead|random|baseline)([-_ ]?\d+)?|.*\bbaseline\b.*", re.IGNORECASE)


def plan_import(
    plan: ImportPlan,
    dataset: Dataset,
    *,
    side: Side | None,
) -> Iterator[ImportPlan]:
    """What importing the data set into the plan's project, which may be unsaved, would change: part by part.

    A part holds some document sets with all that belongs to them; the first, the systems, too. What a part says is
    written before the next is asked for, or nothing is.
    The plan's problems name every contradiction between the file and the project.
    """
    names, people = dataset.writers()
    planner = _Planner(plan=plan.part(), side=side, systems={}, people=people)
    planner.plan_systems(names)
    for some in batches(dataset.sets.items(), SETS_PLANNED_AT_ONCE):
        existing = Existing.load(
            plan.project,
            [name for name, _ in some],
            with_verdicts=side is not None,
        )
        for name, one in some:
            planner.plan_set(name, one, existing)
        yield planner.hand_over()
    yield planner.hand_over()


@dataclass(slots=True)
class _Planner:
    plan: ImportPlan
    side: Side | None
    systems: dict[str, System]
    people: set[str]

    def hand_over(self) -> ImportPlan:
        """The part that was planned; the next one begins."""
        made, self.plan = self.plan, self.plan.part()
        made.refuse_judged()
        return made

    def plan_systems(self, names: set[str]) -> None:
        """A row for each of these systems, and of the people, who count apart where they wrote references alone."""
        project, counts = self.plan.project, self.plan.counts
        there = (
            {} if project._state.adding else {row.name: row for row in System.objects.filter(project=project)}
        )
        for name in sorted(names | self.people):
            count = counts.systems if name in names else counts.reference_authors
            if name in there:
                self.systems[name] = there[name]
                count.unchanged += 1
                continue
            self.systems[name] = System(project=self.plan.project, name=name, kind=self._kind(name))
            self.plan.systems.append(self.systems[name])
            count.created += 1

    def _kind(self, name: str) -> System.Kind:
        if name in self.people:
            return System.Kind.PERSON
        return System.Kind.BASELINE if _BASELINE.fullmatch(name) else System.Kind.SUMMARISER

    def plan_set(self, name: str, one: SetData, existing: Existing) -> None:
        before = self._size()
        row = self._document_set(name, one, existing)
        if row is None:
            return
        self._documents(row, one, existing)
        self._questions(row, one, existing)
        peers = self._peers(row, one, existing)
        models = self._models(row, one, existing, peers)
        self._comparisons(row, one, existing, peers, models)
        if self.side is not None and one.claims:
            plan_claims(self.plan, row, one, existing, side=self.side, peers=peers, models=models)
        if self._size() != before:
            self.plan.touched[name] = row

    def _size(self) -> tuple[int, ...]:
        plan = self.plan
        changes = (
            # Scores say that statistics are out of date, and these resample groups.
            plan.regrouped,
            plan.documents,
            plan.texts,
            plan.summaries,
            plan.updated,
            plan.comparisons,
            plan.questions,
            plan.claims,
            plan.answers,
        )
        return tuple(len(rows) for rows in changes)

    def _document_set(self, name: str, one: SetData, existing: Existing) -> DocumentSet | None:
        count, row = self.plan.counts.document_sets, existing.sets.get(name)
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
        if one.group and one.group != row.group:
            count.changed += 1
            row.group = one.group
            self.plan.regrouped.append(row)
        else:
            count.unchanged += 1
        return row

    def _documents(self, row: DocumentSet, one: SetData, existing: Existing) -> None:
        count = self.plan.counts.documents
        there = existing.documents.get(row.pk, []) if row.pk else []
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
            self.plan.divide(document, row.language)

    def _questions(self, row: DocumentSet, one: SetData, existing: Existing) -> None:
        """Questions that were never asked here are new; given ones win over those that a judge made up.

        One that somebody retired stays retired, and none is retired because the file leaves it out.
        """
        count = self.plan.counts.questions
        there = existing.questions.get(row.pk, []) if row.pk else []
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
        last = max((each.position for each in there), default=0)
        origin = ClaimOrigin.IMPORTED
        together = ClaimSet(
            kind=ClaimSet.Kind.QUESTIONS, document_set=row, origin=origin, origin_name=self.plan.origin_name
        )
        self.plan.claim_sets.append(together)
        self.plan.questions += [
            Claim(claim_set=together, position=position, text=text, origin=origin)
            for position, text in enumerate(new, start=last + 1)
        ]

    def _peers(self, row: DocumentSet, one: SetData, existing: Existing) -> dict[PeerKey, Summary]:
        count = self.plan.counts.peer_summaries
        peers: dict[PeerKey, Summary] = {}
        for (name, target), peer in one.peers.items():
            summary = existing.peer(row, name, target)
            if summary is not None:
                is_changed = self._hold_text(
                    summary,
                    peer.text,
                    f"the summary of {row.external_id!r} by {name!r}",
                    "system name or target_words",
                )
                is_changed |= self._hold_metadata(summary, peer.metadata)
                is_changed |= self._hold_references(summary, peer)
                count.changed += is_changed
                count.unchanged += not is_changed
            else:
                count.created += 1
                summary = self._second_role(row, name, target, peer, existing)
                summary = summary or self._new_summary(
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
            peers[name, target] = summary
        return peers

    def _second_role(
        self, row: DocumentSet, name: str, target: TargetWords, peer: PeerData, existing: Existing
    ) -> Summary | None:
        """The reference that a person wrote, if it is a summary too from now on.

        One that the file cuts into units is a summary of its own: a reference may be cut otherwise.
        """
        text = peer.text
        summary = None if text.units is not None else existing.reference_by(row, name, target, text.text)
        if summary is None or self._is_cut(row, target, text.text):
            return None
        summary.is_peer, summary.names_references = True, peer.names_references
        self.plan.updated[summary.pk] = summary
        return summary

    def _models(
        self, row: DocumentSet, one: SetData, existing: Existing, peers: dict[PeerKey, Summary]
    ) -> dict[tuple[str, TargetWords], Summary]:
        models: dict[tuple[str, TargetWords], Summary] = {}
        for reference_id, reference in one.references.items():
            serving: dict[TargetWords, Summary] = {}
            for target, text in reference.texts.items():
                summary = _serving(row, reference_id, target, text, existing)
                if summary is not None:
                    serving[target] = models[reference_id, target] = summary
            for summary in {id(summary): summary for summary in serving.values()}.values():
                targets = [target for target, one_serving in serving.items() if one_serving is summary]
                self._hold_reference(summary, reference, targets, one, existing)
            missing = [target for target in reference.texts if target not in serving]
            for target, summary in self._new_models(row, reference_id, reference, missing, peers, existing):
                models[reference_id, target] = summary
        return models

    def _hold_reference(
        self,
        summary: Summary,
        reference: ReferenceData,
        targets: list[TargetWords],
        one: SetData,
        existing: Existing,
    ) -> None:
        name = f"the reference {summary.external_id!r} of {summary.document_set.external_id!r}"
        others = [reference.texts[target] for target in targets]
        text = next((other for other in others if other.text != summary.text), others[0])
        problem = self._reference_problem(summary, text, targets, others, one, existing)
        if problem:
            self.plan.problems.add(text.line, "reference", problem)
            return
        is_changed = self._name_author(summary, reference.author, existing)
        is_changed |= self._hold_text(summary, text, name, "reference_id")
        self.plan.counts.model_summaries.changed += is_changed
        self.plan.counts.model_summaries.unchanged += not is_changed

    def _reference_problem(
        self,
        summary: Summary,
        text: Text,
        targets: list[TargetWords],
        others: list[Text],
        one: SetData,
        existing: Existing,
    ) -> str:
        """Why a reference cannot take over what the file says of it; "" where it can."""
        peer = one.peers.get((summary.system.name, summary.target_words)) if summary.system else None
        if summary.is_peer and peer is not None and peer.text.text != text.text:
            return (
                f"is another text than the summary by the same person at line {peer.text.line}, and in the "
                "project the two are one. Give the new reference another reference_id."
            )
        is_changed = summary.text != text.text
        is_whole = existing.served(summary) <= set(targets) and len({other.text for other in others}) == 1
        if is_changed and not is_whole:
            return (
                "is another text than in the project, where this reference serves other target lengths, too. "
                "Give the new text another reference_id, or give it to all of them."
            )
        return ""

    def _name_author(self, summary: Summary, author: str, existing: Existing) -> bool:
        """Name who wrote a reference, unless that person's own summary has been compared with it."""
        if not author or summary.system is not None or existing.is_compared_with(summary, author):
            return False
        summary.system = self.systems[author]
        self.plan.updated[summary.pk] = summary
        return True

    def _new_models(
        self,
        row: DocumentSet,
        reference_id: str,
        reference: ReferenceData,
        targets: list[TargetWords],
        peers: dict[PeerKey, Summary],
        existing: Existing,
    ) -> Iterator[tuple[TargetWords, Summary]]:
        if not targets:
            return
        author = self.systems[reference.author] if reference.author else None
        is_general = existing.model(row, reference_id, None) is None
        if is_general and reference.has_one_text and len(targets) == len(reference.texts):
            text = reference.texts[targets[0]]
            only = targets[0] if len(targets) == 1 else None
            peer = peers.get((reference.author, only)) if len(targets) == 1 else None
            shared = self._both(peer, reference_id, text, only) if peer else None
            model = shared or self._new_model(row, author, reference_id, None, text)
            for target in targets:
                yield target, model
            return
        for target in targets:
            text = reference.texts[target]
            peer = peers.get((reference.author, target))
            shared = self._both(peer, reference_id, text, target) if peer else None
            yield target, shared or self._new_model(row, author, reference_id, target, text)

    def _both(self, peer: Summary, reference_id: str, text: Text, target: TargetWords) -> Summary | None:
        """The author's own summary, if it is the reference from now on, too; never of one cut into units."""
        if text.units is not None or peer.is_model or peer.text != text.text:
            return None
        if self._is_cut(peer.document_set, target, text.text):
            return None
        peer.is_model, peer.external_id = True, reference_id
        if peer.pk is not None:
            self.plan.updated[peer.pk] = peer
        self.plan.counts.model_summaries.created += 1
        return peer

    def _new_model(
        self,
        row: DocumentSet,
        author: System | None,
        reference_id: str,
        target: TargetWords,
        text: Text,
    ) -> Summary:
        self.plan.counts.model_summaries.created += 1
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

    def _cut(self, summary: Summary, text: Text) -> None:
        """Have the summary's text divided into units: as the file does, or by the rules."""
        self.plan.divide(summary, summary.document_set.language)
        if text.units is not None:
            self.plan.given_units[summary_key(summary)] = self._units_within(summary, text.units)

    def _units_within(self, summary: Summary, units: Sequence[Stretch]) -> tuple[Stretch, ...]:
        """Those units, or what is left of them, that stand in the text that is judged."""
        length = len(judged_text(summary, self.plan.project))
        return tuple((start, min(end, length)) for start, end in units if start < length)

    def _is_cut(self, row: DocumentSet, target: TargetWords, text: str) -> bool:
        """Whether a peer's units would end before the text does, so that it cannot share a reference's."""
        peer = Summary(document_set=row, is_peer=True, target_words=target, text=text)
        return judged_text(peer, self.plan.project) != text

    def _hold_text(self, summary: Summary, text: Text, name: str, renaming: str) -> bool:
        if summary.text == text.text:
            return False
        summary.text = text.text
        self.plan.updated[summary.pk] = summary
        self._cut(summary, text)
        self.plan.replaced_summaries.append(Replaced(summary.pk, text.line, name, renaming))
        return True

    def _hold_metadata(self, summary: Summary, metadata: Mapping[str, object]) -> bool:
        if not metadata or summary.metadata == metadata:
            return False
        summary.metadata = dict(metadata)
        if summary.pk is not None:
            self.plan.updated[summary.pk] = summary
        return True

    def _hold_references(self, summary: Summary, peer: PeerData) -> bool:
        """Compare with every reference from now on, once a row names none."""
        if peer.names_references or not summary.names_references:
            return False
        summary.names_references = False
        if summary.pk is not None:
            self.plan.updated[summary.pk] = summary
        return True

    def _comparisons(
        self,
        row: DocumentSet,
        one: SetData,
        existing: Existing,
        peers: dict[PeerKey, Summary],
        models: dict[tuple[str, TargetWords], Summary],
    ) -> None:
        """Compare summaries that name references with these, all others with every reference of the set."""
        count = self.plan.counts.comparisons
        named = (
            (peers[system, target], models.get((reference_id, target)))
            for system, target, reference_id in one.pairs
        )
        done: set[tuple[int, int]] = set()
        for peer, model in chain(named, _all_pairs(existing.of_set(row), peers, models)):
            if model is None or _is_same(peer, model) or (id(peer), id(model)) in done:
                continue
            done.add((id(peer), id(model)))
            if (peer.pk, model.pk) in existing.comparisons:
                count.unchanged += 1
                continue
            count.created += 1
            self.plan.comparisons.append(Comparison(peer=peer, model=model))


def _all_pairs(
    there: Sequence[Summary],
    peers: Mapping[PeerKey, Summary],
    models: Mapping[tuple[str, TargetWords], Summary],
) -> Iterator[tuple[Summary, Summary]]:
    """Summaries that name no reference beside every reference of their length, those in the project included."""
    every_peer = {
        id(peer): peer
        for peer in (*peers.values(), *(each for each in there if each.is_peer))
        if not peer.names_references
    }
    every_model = {
        id(model): model for model in (*models.values(), *(each for each in there if each.is_model))
    }
    of_length = {(model.external_id, model.target_words) for model in every_model.values()}
    for peer, model in product(every_peer.values(), every_model.values()):
        # A reference's own text for a length stands in for its text for all lengths.
        wanted = peer.target_words if (model.external_id, peer.target_words) in of_length else None
        if model.target_words == wanted:
            yield peer, model


def _serving(
    row: DocumentSet, reference_id: str, target: TargetWords, text: Text, existing: Existing
) -> Summary | None:
    """The reference of that id for a target length: its own, else the one for all lengths.

    The one for all lengths does not stand for another text of a length that it never served.
    """
    own = existing.model(row, reference_id, target)
    if own is not None or target is None:
        return own
    general = existing.model(row, reference_id, None)
    if general is None or general.text == text.text or target in existing.served(general):
        return general
    return None


def _is_same(peer: Summary, model: Summary) -> bool:
    """Whether a comparison would hold a text against itself."""
    if peer is model:
        return True
    writers = {summary.system.name if summary.system else None for summary in (peer, model)}
    return len(writers) == 1 and peer.text == model.text
