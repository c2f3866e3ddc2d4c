"""A judge answers the checks of one document set: the work of one job of a run.

It goes through the peer summaries a few at a time: first the judge is asked, without any
transaction; then what it answered is written with the scores that follow from it, in one short
transaction for some dozens of checks. Whatever is in the rows already is not asked again, so a
job that was cut off goes on where it stopped.
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

from django.db import transaction
from django.db.models import F, Max, Prefetch

from annotation.models import (
    Check,
    Claim,
    ClaimOrigin,
    ClaimSet,
    Comparison,
    Document,
    DocumentSet,
    Job,
    Judge,
    Project,
    Score,
    Summary,
    Unit,
    Verdict,
)
from annotation.records import judged_text, score_rules, summary_records
from annotation.services import jobs
from annotation.services.judges import JudgeAtWork, at_work, kept_signature
from annotation.services.rescore import store
from evaluation import Label, Span
from evaluation.judging.errors import JudgeRefused, UnusableReply
from evaluation.judging.protocol import ExtractedClaim, Text
from evaluation.judging.protocol import Verdict as Answer

Part = Literal["coverage", "alignment"]

METRICS: Mapping[str, frozenset[Part]] = {
    "coverage": frozenset({"coverage"}),
    "alignment": frozenset({"alignment"}),
    "factual_alignment": frozenset({"coverage", "alignment"}),
    "summarization": frozenset({"coverage", "alignment"}),
}
"""What a run can be asked for, and which checks each metric needs answered."""

JUDGE_SIDES: Mapping[Check.Side, Literal["covered", "supported"]] = {
    Check.Side.REFERENCE: "covered",
    Check.Side.PEER: "supported",
}
CHECKS_A_TRANSACTION = 100
OFFLINE_PEERS_AT_ONCE = 10
QUEUE_KEY_BITS = 62
NO_SOURCE = "The document set holds no source text."

Pair = tuple[int, int]
"""A claim and a peer summary, by their primary keys."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A text as judges read it, and the row of each of its units in the order of their numbers.

    `starts` says for each unit where its own document begins in the text; offsets of claims are
    kept from there.
    """

    text: Text
    units: tuple[Unit, ...] = ()
    starts: tuple[int, ...] = ()

    def unit(self, number: int) -> Unit | None:
        return self.units[number - 1] if 1 <= number <= len(self.units) else None

    def positions(self, numbers: Iterable[int]) -> list[int]:
        """The judge's unit numbers as positions of unit rows."""
        rows = [self.unit(number) for number in numbers]
        return [row.position for row in rows if row is not None]


@dataclass(frozen=True, slots=True)
class Question:
    """Claims to hold against a text, for one peer summary and one side."""

    peer: Summary
    side: Check.Side
    claims: tuple[Claim, ...]
    piece: Piece


@dataclass(slots=True)
class Judged:
    """A peer summary with all its checks and the answers to those that were open."""

    peer: Summary
    sides: dict[int, Check.Side]
    answers: dict[int, Answer] = field(default_factory=dict)
    evidence: dict[int, list[int]] = field(default_factory=dict)


def perform(claimed: jobs.Claimed, lease: jobs.Lease) -> None:
    """Answer every open check that the run's metrics need in the job's document set.

    Raises LostJob and StoppedJob as `jobs.hold` does, what the judge raises once all that it did
    answer is written, and HopelessJob where claims could not be taken from a text.
    """
    run, document_set = claimed.job.run, claimed.job.document_set
    if run is None or document_set is None:
        raise jobs.HopelessJob("The job names no document set.")
    parts = frozenset[Part]().union(*(METRICS[name] for name in run.metrics))
    with at_work(run.judge, job=claimed.job) as judge:
        _Work(claimed, lease, judge, run.project, document_set, parts).do()


class _Work:
    """One job's texts, claims and peers, and how far it is."""

    def __init__(
        self,
        claimed: jobs.Claimed,
        lease: jobs.Lease,
        judge: JudgeAtWork,
        project: Project,
        document_set: DocumentSet,
        parts: frozenset[Part],
    ) -> None:
        self.claimed = claimed
        self.lease = lease
        self.judge = judge
        self.signature = kept_signature(judge.judge.signature)
        self.project = project
        self.document_set = document_set
        self.parts = parts
        self.problems: list[str] = []
        self.summaries = list(
            Summary.objects.filter(document_set=document_set).select_related("system").order_by("pk")
        )
        self.units = _units_of_summaries(document_set)
        self.source = _source(document_set)
        self.models_of = _models_of_peers(document_set)
        self.claims = _Claims(document_set)
        self.claims.load_documents()
        self.claims.load_summaries([summary.pk for summary in self.summaries])

    def do(self) -> None:
        peers = [summary for summary in self.summaries if summary.is_peer]
        self._extract_for_coverage(peers)
        answered = _answered(self.judge.row, self.signature, self.document_set)
        scored = set(Score.objects.filter(summary__in=peers).values_list("summary_id", flat=True))
        open_peers = [
            peer for peer in peers if peer.pk not in scored or not self._is_answered(peer, answered)
        ]
        self._note_progress(done=len(peers) - len(open_peers))
        for some in _batches(open_peers, self._peers_at_once()):
            if self.lease.is_lost:
                raise jobs.LostJob
            self._judge(some, answered)
        if self.problems:
            raise jobs.HopelessJob(" ".join(self.problems))

    def _peers_at_once(self) -> int:
        # Twice as many as calls may run at once, so that a slow one keeps fewer of the others waiting.
        network = self.judge.row.kind != Judge.Kind.LEXICAL
        return 2 * self.judge.row.concurrency if network else OFFLINE_PEERS_AT_ONCE

    # What is asked

    def _judge(self, peers: Sequence[Summary], answered: set[Pair]) -> None:
        """Ask what is open of these peers and write it, then raise what went wrong in the asking."""
        if "alignment" in self.parts:
            self._extract([peer for peer in peers if not peer.is_empty])
        judged = {peer.pk: Judged(peer=peer, sides=self._sides(peer)) for peer in peers}
        questions = [question for peer in peers for question in self._questions(peer, answered)]
        failures: list[BaseException] = []
        incomplete: set[int] = set()
        for question, answer in zip(questions, self.judge.ask(map(self._check, questions)), strict=True):
            if isinstance(answer, BaseException):
                failures.append(answer)
                incomplete.add(question.peer.pk)
                continue
            self._take(judged[question.peer.pk], question, answer)
        complete = [each for each in judged.values() if each.peer.pk not in incomplete]
        for some in _by_size(complete, CHECKS_A_TRANSACTION):
            self._write(some)
        _raise_worst(failures)

    def _take(self, judged: Judged, question: Question, answers: Sequence[Answer]) -> None:
        for claim, answer in zip(question.claims, answers, strict=True):
            judged.answers[claim.pk] = answer
            judged.evidence[claim.pk] = question.piece.positions(answer.evidence)

    async def _check(self, question: Question) -> tuple[Answer, ...]:
        if question.side == Check.Side.PEER and question.piece.text.is_blank:
            return tuple(Answer(None, reason=NO_SOURCE) for _ in question.claims)
        return await self.judge.judge.check(
            [claim.text for claim in question.claims], question.piece.text, side=JUDGE_SIDES[question.side]
        )

    def _questions(self, peer: Summary, answered: set[Pair]) -> Iterator[Question]:
        if peer.is_empty:
            return
        for side, claims in self._claims_by_side(peer).items():
            asked = tuple(claim for claim in claims if (claim.pk, peer.pk) not in answered)
            if asked:
                piece = self._piece(peer) if side == Check.Side.REFERENCE else self.source
                yield Question(peer=peer, side=side, claims=asked, piece=piece)

    def _claims_by_side(self, peer: Summary) -> dict[Check.Side, list[Claim]]:
        """The claims that this run holds against the peer's text, and the peer's own against the source."""
        sides: dict[Check.Side, list[Claim]] = {}
        if "coverage" in self.parts:
            sides[Check.Side.REFERENCE] = self._reference_claims(peer)
        if "alignment" in self.parts:
            sides[Check.Side.PEER] = self.claims.of_summary(peer.pk)
        return sides

    def _reference_claims(self, peer: Summary) -> list[Claim]:
        models = self.models_of.get(peer.pk)
        if not models:
            return self.claims.of_documents()
        return [claim for model in models for claim in self.claims.of_summary(model)]

    def _sides(self, peer: Summary) -> dict[int, Check.Side]:
        return {claim.pk: side for side, claims in self._claims_by_side(peer).items() for claim in claims}

    def _is_answered(self, peer: Summary, answered: set[Pair]) -> bool:
        """Whether nothing is left to do for the peer."""
        if "alignment" in self.parts and not peer.is_empty and not self.claims.has_summary(peer.pk):
            return False
        claims = self._sides(peer)
        if peer.is_empty:
            return Check.objects.filter(peer=peer, claim_id__in=claims).count() == len(claims)
        return all((claim, peer.pk) in answered for claim in claims)

    def _piece(self, summary: Summary) -> Piece:
        text = judged_text(summary, self.project)
        # A text that was cut to its target ends within a unit.
        units = tuple(unit for unit in self.units.get(summary.pk, ()) if unit.start < len(text))
        spans = tuple(Span(unit.start, min(unit.end, len(text))) for unit in units)
        return Piece(Text(text, spans, self.document_set.language), units, (0,) * len(units))

    # Claims where a text has none

    def _extract_for_coverage(self, peers: Sequence[Summary]) -> None:
        if "coverage" not in self.parts or not peers:
            return
        wanted = {model for peer in peers for model in self.models_of.get(peer.pk, ())}
        self._extract([summary for summary in self.summaries if summary.pk in wanted])
        if all(self.models_of.get(peer.pk) for peer in peers) or self.claims.has_documents():
            return
        [claims] = self.judge.ask([self.judge.judge.extract(self.source.text)])
        if isinstance(claims, UnusableReply):
            raise jobs.HopelessJob(f"No claims could be taken from the documents. {claims}")
        if isinstance(claims, BaseException):
            raise claims
        self._keep([(None, self.source, claims)])

    def _extract(self, summaries: Sequence[Summary]) -> None:
        """Take claims from those of the summaries that have none; note those where that fails."""
        bare = [summary for summary in summaries if not self.claims.has_summary(summary.pk)]
        pieces = [self._piece(summary) for summary in bare]
        found: list[tuple[Summary | None, Piece, Sequence[ExtractedClaim]]] = []
        failures: list[BaseException] = []
        asked: Iterable[Coroutine[None, None, tuple[ExtractedClaim, ...]]] = (
            self.judge.judge.extract(piece.text) for piece in pieces
        )
        for summary, piece, claims in zip(bare, pieces, self.judge.ask(asked), strict=True):
            if isinstance(claims, UnusableReply):
                self.problems.append(f"No claims could be taken from summary {summary.public_id}. {claims}")
            elif isinstance(claims, BaseException):
                failures.append(claims)
            else:
                found.append((summary, piece, claims))
        self._keep(found)
        _raise_worst(failures)

    def _keep(self, found: Sequence[tuple[Summary | None, Piece, Sequence[ExtractedClaim]]]) -> None:
        """Write the claims of some texts (None: the documents), unless somebody else was quicker."""
        for owner, piece, claims in found:
            with transaction.atomic():
                jobs.hold(self.claimed)
                _keep_claims(owner or self.document_set, piece, claims, self.signature)
        self.claims.load_documents()
        self.claims.load_summaries([owner.pk for owner, _, _ in found if owner is not None])

    # What is written

    def _write(self, judged: Sequence[Judged]) -> None:
        """Write the answers of some peers with the scores that follow from them, in one transaction."""
        peers = sorted(each.peer.pk for each in judged)
        with transaction.atomic():
            jobs.hold(self.claimed)
            # Whoever decides a check locks the summary first; in one order, so that two jobs never deadlock.
            locked = Summary.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=peers)
            list(locked.order_by("pk").values_list("pk", flat=True))
            # The rules may have been changed since the job began.
            project = Project.objects.get(pk=self.project.pk)
            checks = self._checks(judged)
            standing = _standing(self.judge.row, peers)
            rows = [
                row
                for each in judged
                for claim, answer in each.answers.items()
                if (row := self._verdict(checks[claim, each.peer.pk], answer, each.evidence[claim], standing))
            ]
            Verdict.objects.bulk_create(rows)
            store(project=project, records=list(summary_records(project, peers)), rules=score_rules(project))
            unscored = sum(answer.label is None for each in judged for answer in each.answers.values())
            Job.objects.filter(pk=self.claimed.job.pk).update(
                done=F("done") + len(judged), unscored=F("unscored") + unscored
            )

    def _checks(self, judged: Sequence[Judged]) -> dict[Pair, int]:
        """The check of each claim and peer, made where it is missing, by primary key."""
        wanted = {
            (claim, each.peer.pk): (each.peer, side) for each in judged for claim, side in each.sides.items()
        }
        peers = [each.peer.pk for each in judged]
        there = _check_keys(peers)
        missing = [pair for pair in wanted if pair not in there]
        Check.objects.bulk_create(
            Check(
                project_id=self.project.pk,
                claim_id=claim,
                peer_id=peer,
                side=wanted[claim, peer][1],
                queue_key=secrets.randbits(QUEUE_KEY_BITS),
            )
            for claim, peer in missing
        )
        return _check_keys(peers) if missing else there

    def _verdict(
        self, check: int, answer: Answer, evidence: list[int], standing: Mapping[int, _Standing]
    ) -> Verdict | None:
        """The row to be written; None where the judge's word stands already."""
        before = standing.get(check)
        if before is not None and before.is_same(answer, self.signature):
            return None
        return Verdict(
            check_row_id=check,
            source=Verdict.Source.JUDGE,
            judge=self.judge.row,
            run=self.claimed.job.run,
            origin_name=self.signature,
            label=answer.label,
            probability=answer.probability,
            evidence=evidence,
            reason=answer.reason,
        )

    def _note_progress(self, *, done: int) -> None:
        with transaction.atomic():
            jobs.hold(self.claimed)
            Job.objects.filter(pk=self.claimed.job.pk).update(
                total=sum(summary.is_peer for summary in self.summaries), done=done, unscored=0
            )


_IN_ORDER = Prefetch("claims", queryset=Claim.objects.order_by("position"))


class _Claims:
    """The active claims of a document set's texts, as far as they have been loaded."""

    def __init__(self, document_set: DocumentSet) -> None:
        self._document_set = document_set
        self._of_summary: dict[int, list[Claim]] = {}
        self._of_documents: list[Claim] | None = None

    def load_summaries(self, summaries: Sequence[int]) -> None:
        sets = ClaimSet.objects.filter(is_active=True, summary_id__in=summaries)
        for each in sets.prefetch_related(_IN_ORDER):
            self._of_summary[cast("int", each.summary_id)] = list(each.claims.all())

    def load_documents(self) -> None:
        sets = ClaimSet.objects.filter(is_active=True, document_set=self._document_set)
        for each in sets.prefetch_related(_IN_ORDER):
            self._of_documents = list(each.claims.all())

    def has_summary(self, summary: int) -> bool:
        return summary in self._of_summary

    def of_summary(self, summary: int) -> list[Claim]:
        return self._of_summary.get(summary, [])

    def has_documents(self) -> bool:
        return self._of_documents is not None

    def of_documents(self) -> list[Claim]:
        return self._of_documents or []


@dataclass(frozen=True, slots=True)
class _Standing:
    """The judge's latest verdict on a check."""

    label: Label | None
    reason: str
    signature: str

    def is_same(self, answer: Answer, signature: str) -> bool:
        """Whether another row would add nothing: the same judge has answered, or failed in the same way."""
        if self.signature != signature:
            return False
        return self.label is not None or (answer.label is None and self.reason == answer.reason)


def _standing(judge: Judge, peers: Sequence[int]) -> dict[int, _Standing]:
    rows = Verdict.objects.filter(judge=judge, check_row__peer_id__in=peers, withdrawn_at=None)
    columns = ("check_row_id", "label", "reason", "origin_name")
    standing: dict[int, _Standing] = {}
    for check, label, reason, signature in rows.order_by("pk").values_list(*columns):
        # A failure after a usable answer takes nothing back.
        if label is None and check in standing and standing[check].label is not None:
            continue
        standing[check] = _Standing(cast("Label | None", label), reason, signature)
    return standing


def _answered(judge: Judge, signature: str, document_set: DocumentSet) -> set[Pair]:
    """The claims and peers on which the judge's latest usable verdict was given under this signature."""
    usable = Verdict.objects.filter(
        judge=judge, check_row__peer__document_set=document_set, withdrawn_at=None, label__isnull=False
    )
    columns = ("check_row__claim_id", "check_row__peer_id", "origin_name")
    latest = {
        (claim, peer): given_under for claim, peer, given_under in usable.order_by("pk").values_list(*columns)
    }
    return {pair for pair, given_under in latest.items() if given_under == signature}


def _check_keys(peers: Sequence[int]) -> dict[Pair, int]:
    rows = Check.objects.filter(peer_id__in=peers).values_list("claim_id", "peer_id", "pk")
    return {(claim, peer): key for claim, peer, key in rows}


def _units_of_summaries(document_set: DocumentSet) -> dict[int, list[Unit]]:
    units: dict[int, list[Unit]] = defaultdict(list)
    for unit in Unit.objects.filter(summary__document_set=document_set).order_by("position"):
        units[cast("int", unit.summary_id)].append(unit)
    return units


def _models_of_peers(document_set: DocumentSet) -> dict[int, list[int]]:
    models: dict[int, list[int]] = defaultdict(list)
    comparisons = Comparison.objects.filter(peer__document_set=document_set).order_by("pk")
    for peer, model in comparisons.values_list("peer_id", "model_id"):
        models[peer].append(model)
    return models


def _source(document_set: DocumentSet) -> Piece:
    """All documents of the set as one text, a blank line between two, with units numbered through."""
    units: dict[int, list[Unit]] = defaultdict(list)
    for unit in Unit.objects.filter(document__document_set=document_set).order_by("position"):
        units[cast("int", unit.document_id)].append(unit)
    texts: list[str] = []
    rows: list[Unit] = []
    starts: list[int] = []
    start = 0
    for document in Document.objects.filter(document_set=document_set).order_by("position"):
        texts.append(document.text)
        rows.extend(units[document.pk])
        starts.extend([start] * len(units[document.pk]))
        start += len(document.text) + 2
    spans = tuple(Span(at + row.start, at + row.end) for row, at in zip(rows, starts, strict=True))
    return Piece(Text("\n\n".join(texts), spans, document_set.language), tuple(rows), tuple(starts))


def _keep_claims(
    owner: Summary | DocumentSet, piece: Piece, claims: Sequence[ExtractedClaim], signature: str
) -> None:
    """Write extracted claims as the owner's active set, unless it has got one meanwhile."""
    if isinstance(owner, Summary):
        list(Summary.objects.select_for_update(of=("self",), no_key=True).filter(pk=owner.pk))
        sets, claim_set = ClaimSet.objects.filter(summary=owner), ClaimSet(summary=owner)
    else:
        list(DocumentSet.objects.select_for_update(of=("self",), no_key=True).filter(pk=owner.pk))
        sets, claim_set = ClaimSet.objects.filter(document_set=owner), ClaimSet(document_set=owner)
    if sets.filter(is_active=True).exists():
        return
    claim_set.version = (sets.aggregate(Max("version"))["version__max"] or 0) + 1
    claim_set.origin = ClaimOrigin.JUDGE
    claim_set.origin_name = signature
    claim_set.save()
    Claim.objects.bulk_create(
        _claim_row(claim_set, position, claim, piece) for position, claim in enumerate(claims, start=1)
    )


def _claim_row(claim_set: ClaimSet, position: int, claim: ExtractedClaim, piece: Piece) -> Claim:
    unit = piece.unit(claim.unit)
    shift = piece.starts[claim.unit - 1] if unit is not None else 0
    return Claim(
        claim_set=claim_set,
        unit=unit,
        position=position,
        text=claim.text,
        start=None if claim.start is None else claim.start - shift,
        end=None if claim.end is None else claim.end - shift,
        origin=ClaimOrigin.JUDGE,
    )


def _batches(peers: Sequence[Summary], size: int) -> Iterator[Sequence[Summary]]:
    for first in range(0, len(peers), size):
        yield peers[first : first + size]


def _by_size(judged: Iterable[Judged], most_checks: int) -> Iterator[list[Judged]]:
    """Groups of peers with so many checks together, or of one peer that has more alone."""
    group: list[Judged] = []
    checks = 0
    for each in judged:
        if group and checks + len(each.sides) > most_checks:
            yield group
            group, checks = [], 0
        group.append(each)
        checks += len(each.sides)
    if group:
        yield group


def _raise_worst(failures: Sequence[BaseException]) -> None:
    """Raise the failure that says most about the others: a judge that refuses us will refuse everything."""
    refusals = [failure for failure in failures if isinstance(failure, JudgeRefused)]
    for failure in [*refusals, *failures]:
        raise failure
