"""A judge answers everything that is open in one document set: the work of one job of a run.

What depends on the documents alone is asked once: claims of model summaries, questions and what the source
answers. Then the peer summaries are gone through a few at a time, with at most two calls for each: one
aligns it with the source, one covers it with claims, questions and ratings. The judge is asked without any
transaction; what it answered is written with the scores that follow from it, in one short transaction for
some dozens of checks. Whatever is answered in the rows already is not asked again, so a job that was cut off
goes on where it stopped; what is there unscored is asked anew.
"""

from __future__ import annotations

from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from django.db import transaction
from django.db.models import F

from annotation.core import jobs
from annotation.judging.services.asked_claims import ActiveClaims, keep_claims
from annotation.judging.services.asked_questions import ActiveQuestions
from annotation.judging.services.asked_texts import (
    TextToJudge,
    models_of_peers,
    piece_of,
    source_of,
    units_of_summaries,
)
from annotation.judging.services.judges import JudgeAtWork, at_work, kept_signature
from annotation.judging.services.kept_answers import Given, Judged, Located, Rated, peers_of, write
from annotation.judging.words import completeness_in_words, named_in_set
from annotation.models import Check, Claim, DocumentSet, Job, Judge, Project, Question, Rating, Score, Summary
from annotation.scoring.records import score_rules, summary_records
from annotation.scoring.rescore import store
from evaluation.blend import VERSION
from evaluation.judging.errors import BudgetSpent, JudgeRefused, UnusableReply
from evaluation.judging.protocol import (
    CoverReading,
    CoverRequest,
    DocumentReading,
    DocumentRequest,
    ExtractedClaim,
    JudgedClaim,
    one_pass,
)
from evaluation.judging.protocol import Verdict as Answer
from evaluation.metrics import completeness

RunPart = Literal["coverage", "alignment", "questions", "conciseness", "completeness"]

RUN_METRICS: Mapping[str, frozenset[RunPart]] = {
    "coverage": frozenset({"coverage"}),
    "alignment": frozenset({"alignment"}),
    "factual_alignment": frozenset({"coverage", "alignment"}),
    "question_coverage": frozenset({"questions"}),
    "summarization": frozenset({"coverage", "alignment"}),
    "conciseness": frozenset({"conciseness"}),
    "completeness": frozenset({"completeness"}),
}
"""What a run can be asked for, and what each metric needs answered."""

CHECKS_A_TRANSACTION = 100
OFFLINE_PEERS_AT_ONCE = 10
COMPLETENESS = f"completeness:{VERSION}"
"""The signature of what is computed without a judge."""
NO_SOURCE = "The document set holds no source text."


def perform(claimed: jobs.Claimed, lease: jobs.Lease) -> None:
    """Answer everything open that the run's metrics need in the job's document set.

    Raises LostJob and StoppedJob as `jobs.hold` does, what the judge raises once all that it did
    answer is written, and HopelessJob where claims could not be taken from a text.
    """
    run, document_set = claimed.job.run, claimed.job.document_set
    if run is None or document_set is None:
        raise jobs.HopelessJob("The job names no document set.")
    parts = frozenset[RunPart]().union(*(RUN_METRICS[name] for name in run.metrics))
    with one_pass(), at_work(run.judge, job=claimed.job) as judge:
        _JobWork(claimed, lease, judge, run.project, document_set, parts).do()


@dataclass(frozen=True, slots=True)
class _Ask:
    """Something to ask about one peer, and what becomes of the reply."""

    judged: Judged
    reply: Coroutine[None, None, Any]
    claims: tuple[Claim, ...] = ()
    questions: tuple[Question, ...] = ()
    piece: TextToJudge | None = None


class _JobWork:
    """One job's texts, claims, questions and peers, and how far it is."""

    def __init__(
        self,
        claimed: jobs.Claimed,
        lease: jobs.Lease,
        judge: JudgeAtWork,
        project: Project,
        document_set: DocumentSet,
        parts: frozenset[RunPart],
    ) -> None:
        self.claimed = claimed
        self.lease = lease
        self.judge = judge
        self.signature = kept_signature(judge.judge.signature)
        self.project = project
        self.document_set = document_set
        self.parts = parts
        self.problems: list[str] = []
        self.bare: dict[str, list[str]] = {}
        self.peers = peers_of(document_set)
        self.units = units_of_summaries(document_set)
        self.source = source_of(document_set)
        self.models_of = models_of_peers(document_set)
        wanted = claimed.job.run.n_questions if claimed.job.run else None
        self.questions = ActiveQuestions(document_set, judge.row, self.signature, wanted)
        self.claims = ActiveClaims(document_set)
        self.claims.load_documents()
        models = {model for peer in self.peers for model in self.models_of.get(peer.pk, ())}
        self.models = list(Summary.objects.filter(pk__in=models).order_by("pk"))
        self.claims.load_summaries([*models, *(peer.pk for peer in self.peers)])

    def do(self) -> None:
        has_news = self._read_documents() if self.peers else False
        given = Given.of(self.judge.row, [peer.pk for peer in self.peers])
        scored = set(Score.objects.filter(summary__in=self.peers).values_list("summary_id", flat=True))
        open_peers = [
            peer
            for peer in self.peers
            if has_news or peer.pk not in scored or not self._is_answered(peer, given)
        ]
        self._note_progress(done=len(self.peers) - len(open_peers))
        for some in _batches(open_peers, self._peers_at_once()):
            if self.lease.is_lost:
                raise jobs.LostJob
            self._judge(some, given)
        if problems := [*self.problems, *self._bare_in_words()]:
            raise jobs.HopelessJob(" ".join(problems))

    def _peers_at_once(self) -> int:
        # Twice as many as calls may run at once, so that a slow one keeps fewer of the others waiting.
        network = self.judge.row.kind != Judge.Kind.LEXICAL
        return 2 * self.judge.row.concurrency if network else OFFLINE_PEERS_AT_ONCE

    # What is asked of the documents

    def _read_documents(self) -> bool:
        """Take what is missing from the documents and model summaries; whether the source gave new answers."""
        owners = self._texts_without_claims()
        request = self._question_request()
        asked: list[Coroutine[None, None, Any]] = []
        if request is not None:
            if owners:
                reference = None if owners[0] is None else self._piece(owners[0]).text
                request = replace(request, claims=True, reference=reference)
            asked.append(self.judge.judge.read_document(request))
        alone = owners if request is None else owners[1:]
        asked += [self.judge.judge.extract(self._piece(owner).text) for owner in alone]
        replies: list[Any] = self.judge.ask(asked) if asked else []
        reading: Any = replies.pop(0) if request is not None else None
        claims: list[Any] = list(replies)
        if request is not None and owners:
            claims.insert(0, _claims_of(reading))
        self._take_claims(owners, claims)
        if isinstance(reading, BaseException):
            raise reading
        return reading is not None and self._take_questions(reading)

    def _texts_without_claims(self) -> list[Summary | None]:
        """The model summaries whose claims are missing; None stands for the documents."""
        if "coverage" not in self.parts:
            return []
        bare: list[Summary | None] = [model for model in self.models if not self.claims.has_summary(model.pk)]
        needs_documents = any(not self.models_of.get(peer.pk) for peer in self.peers)
        if needs_documents and not self.claims.has_documents():
            bare.append(None)
        return bare

    def _question_request(self) -> DocumentRequest | None:
        if "questions" not in self.parts or self.source.text.is_blank:
            return None
        missing = self.questions.missing
        # Whoever makes up more must see all that are there, to make up others.
        shown = self.questions.all if missing else self.questions.open
        if not missing and not shown:
            return None
        return DocumentRequest(
            self.source.text, questions=tuple(question.text for question in shown), n_questions=missing
        )

    def _take_claims(self, owners: Sequence[Summary | None], replies: Sequence[Any]) -> None:
        """Write the claims that were found; then raise what went wrong with the others."""
        failures: list[BaseException] = []
        hopeless = ""
        for owner, claims in zip(owners, replies, strict=True):
            if isinstance(claims, UnusableReply) and owner is None:
                hopeless = f"No claims could be taken from the documents. {claims}"
            elif isinstance(claims, UnusableReply):
                self._note_bare(owner, claims)
            elif isinstance(claims, BaseException):
                failures.append(claims)
            else:
                self._keep(owner, claims)
        _raise_worst(failures)
        if hopeless:
            raise jobs.HopelessJob(hopeless)

    def _take_questions(self, reading: DocumentReading) -> bool:
        if reading.questions is None:
            self.problems.append(f"No questions could be made. {reading.faults.get('questions', '')}".strip())
            return False
        has_news = self._keep_questions(reading)
        open_texts = {question.text for question in self.questions.open}
        if open_texts <= {question.text for question in reading.questions}:
            return has_news
        # Somebody else was quicker with other questions: those stand.
        request = DocumentRequest(self.source.text, questions=tuple(sorted(open_texts)))
        [again] = self.judge.ask([self.judge.judge.read_document(request)])
        if isinstance(again, BaseException):
            raise again
        return self._keep_questions(again) or has_news

    def _keep_questions(self, reading: DocumentReading) -> bool:
        with transaction.atomic():
            jobs.hold(self.claimed)
            return self.questions.keep(reading.questions or (), self.source, self.claimed.job.run)

    def _keep(self, owner: Summary | None, claims: Sequence[ExtractedClaim]) -> None:
        """Write the claims of a text (None: the documents), unless somebody else was quicker."""
        with transaction.atomic():
            jobs.hold(self.claimed)
            keep_claims(owner or self.document_set, self._piece(owner), claims, self.signature)
        if owner is None:
            self.claims.load_documents()
        else:
            self.claims.load_summaries([owner.pk])

    def _note_bare(self, owner: Summary | None, why: object) -> None:
        self.bare.setdefault(str(why), []).append("the documents" if owner is None else named_in_set(owner))

    def _bare_in_words(self) -> Iterator[str]:
        """Which texts gave no claims, those with the same reason together."""
        for why, texts in self.bare.items():
            yield f"No claims could be taken from {', '.join(texts)}. {why}"

    def _piece(self, owner: Summary | None) -> TextToJudge:
        if owner is None:
            return self.source
        return piece_of(owner, project=self.project, units=self.units, language=self.document_set.language)

    # What is asked of the peers

    def _judge(self, peers: Sequence[Summary], given: Given) -> None:
        """Ask what is open of these peers and write it, then raise what went wrong in the asking."""
        judged = [Judged(peer=peer, sides={}) for peer in peers]
        asks = [ask for each in judged if not each.peer.is_empty for ask in self._asks(each, given)]
        failures = self._answer(asks)
        # Claims that somebody else took while we did: theirs stand, and are checked one call later.
        failures += self._answer([ask for each in judged for ask in self._late_checks(each, given)])
        for each in judged:
            each.sides = self._sides(each.peer)
            if self._wants_completeness(each.peer, given):
                each.ratings[Rating.Name.COMPLETENESS] = self._completeness(each.peer)
        complete = [each for each in judged if not each.is_incomplete]
        for some in _by_size(complete, CHECKS_A_TRANSACTION):
            self._write(some)
        _raise_worst(failures)

    def _answer(self, asks: Sequence[_Ask]) -> list[BaseException]:
        """Put the questions side by side and take the replies in; what went wrong."""
        failures: list[BaseException] = []
        replies = self.judge.ask(ask.reply for ask in asks) if asks else []
        for ask, reply in zip(asks, replies, strict=True):
            if isinstance(reply, UnusableReply):
                self._note_bare(ask.judged.peer, reply)
            elif isinstance(reply, BaseException):
                failures.append(reply)
                ask.judged.is_incomplete = True
            else:
                self._take(ask, reply)
        return failures

    def _take(self, ask: _Ask, reply: Any) -> None:
        judged = ask.judged
        if isinstance(reply, CoverReading):
            assert ask.piece is not None, "a summary is covered with its text"
            judged.answers |= _located(ask.claims, reply.claims, ask.piece)
            judged.questions |= _located(ask.questions, reply.questions, ask.piece)
            for name, rating in reply.ratings.items():
                judged.ratings[Rating.Name(name)] = Rated(
                    rating.value, rating.reason, self.judge.row, self.signature
                )
        elif ask.piece is None:
            self._take_aligned(judged, reply)
        else:
            judged.answers |= _located(ask.claims, reply, ask.piece)

    def _take_aligned(self, judged: Judged, aligned: Sequence[JudgedClaim]) -> None:
        self._keep(judged.peer, [each.claim for each in aligned])
        claims = self.claims.of_summary(judged.peer.pk)
        # Somebody else may have been quicker with other claims: those stand.
        if [claim.text for claim in claims] == [each.claim.text for each in aligned]:
            judged.answers |= _located(claims, [each.verdict for each in aligned], self.source)

    def _asks(self, judged: Judged, given: Given) -> Iterator[_Ask]:
        peer = judged.peer
        if "alignment" in self.parts:
            if self._needs_alignment(peer, given):
                yield _Ask(judged, self._align(peer))
            else:
                yield from self._late_checks(judged, given)
        claims = self._open_claims(peer, self._reference_claims(peer), given)
        questions = self._open_questions(peer, given)
        has_rating = given.has_rating(peer.pk, Rating.Name.CONCISENESS, self.signature)
        rates = "conciseness" in self.parts and not has_rating
        piece = self._piece(peer)
        texts = tuple(claim.text for claim in claims)
        if questions or rates:
            request = CoverRequest(
                piece.text,
                texts,
                tuple(question.text for question in questions),
                ratings=("conciseness",) if rates else (),
            )
            yield _Ask(judged, self.judge.judge.cover_summary(request), claims, questions, piece)
        elif claims:
            yield _Ask(judged, self.judge.judge.check(texts, piece.text, side="covered"), claims, (), piece)

    def _late_checks(self, judged: Judged, given: Given) -> Iterator[_Ask]:
        """The peer's own claims that nothing was said of yet, held against the source."""
        if "alignment" not in self.parts or judged.peer.is_empty or judged.is_incomplete:
            return
        claims = self._open_claims(judged.peer, self.claims.of_summary(judged.peer.pk), given)
        claims = tuple(claim for claim in claims if claim.pk not in judged.answers)
        if claims:
            yield _Ask(judged, self._supported(claims), claims, (), self.source)

    def _needs_alignment(self, peer: Summary, given: Given) -> bool:
        """Whether the peer has no claims, or those that this judge took before it was cut off.

        The latter are asked for once more, from the store of calls, with the verdicts that were lost.
        """
        if not self.claims.has_summary(peer.pk):
            return True
        own = self.claims.of_summary(peer.pk)
        is_cut_off = not any((claim.pk, peer.pk) in given.verdicts for claim in own)
        return is_cut_off and bool(own) and self.claims.maker_of(peer.pk) == self.signature

    async def _align(self, peer: Summary) -> tuple[JudgedClaim, ...]:
        piece = self._piece(peer)
        if self.source.text.is_blank:
            claims = await self.judge.judge.extract(piece.text)
            return tuple(JudgedClaim(claim, Answer(None, reason=NO_SOURCE)) for claim in claims)
        return await self.judge.judge.align_summary(self.source.text, piece.text)

    async def _supported(self, claims: Sequence[Claim]) -> tuple[Answer, ...]:
        if self.source.text.is_blank:
            return tuple(Answer(None, reason=NO_SOURCE) for _ in claims)
        texts = [claim.text for claim in claims]
        return await self.judge.judge.check(texts, self.source.text, side="supported")

    def _open_claims(self, peer: Summary, claims: Iterable[Claim], given: Given) -> tuple[Claim, ...]:
        return tuple(claim for claim in claims if not given.has_verdict((claim.pk, peer.pk), self.signature))

    def _open_questions(self, peer: Summary, given: Given) -> tuple[Question, ...]:
        if "questions" not in self.parts:
            return ()
        return tuple(
            question
            for question in self.questions.all
            if not given.has_answer((question.pk, peer.pk), self.signature)
        )

    def _reference_claims(self, peer: Summary) -> list[Claim]:
        if "coverage" not in self.parts:
            return []
        models = self.models_of.get(peer.pk)
        if not models:
            return self.claims.of_documents()
        return [claim for model in models for claim in self.claims.of_summary(model)]

    def _sides(self, peer: Summary) -> dict[int, Check.Side]:
        """The claims that this run holds against the peer's text, and the peer's own against the source."""
        sides = {claim.pk: Check.Side.REFERENCE for claim in self._reference_claims(peer)}
        if "alignment" in self.parts:
            sides |= {claim.pk: Check.Side.PEER for claim in self.claims.of_summary(peer.pk)}
        return sides

    def _wants_completeness(self, peer: Summary, given: Given) -> bool:
        if "completeness" not in self.parts or self.source.text.is_blank:
            return False
        return not given.has_rating(peer.pk, Rating.Name.COMPLETENESS, COMPLETENESS)

    def _completeness(self, peer: Summary) -> Rated:
        found = completeness(self.source.text.text, self._piece(peer).text.text, self.document_set.language)
        return Rated(found.score, completeness_in_words(found), None, COMPLETENESS)

    def _is_answered(self, peer: Summary, given: Given) -> bool:
        """Whether nothing is left to do for the peer."""
        if self._wants_completeness(peer, given):
            return False
        claims = self._sides(peer)
        if peer.is_empty:
            return Check.objects.filter(peer=peer, claim_id__in=claims).count() == len(claims)
        if "alignment" in self.parts and not self.claims.has_summary(peer.pk):
            return False
        if "conciseness" in self.parts and not given.has_rating(
            peer.pk, Rating.Name.CONCISENESS, self.signature
        ):
            return False
        if self._open_questions(peer, given):
            return False
        return all(given.has_verdict((claim, peer.pk), self.signature) for claim in claims)

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
            write(
                judged,
                project=project,
                judge=self.judge.row,
                signature=self.signature,
                run=self.claimed.job.run,
            )
            store(project=project, records=list(summary_records(project, peers)), rules=score_rules(project))
            Job.objects.filter(pk=self.claimed.job.pk).update(
                done=F("done") + len(judged),
                unscored=F("unscored") + sum(each.unscored for each in judged),
            )

    def _note_progress(self, *, done: int) -> None:
        with transaction.atomic():
            jobs.hold(self.claimed)
            Job.objects.filter(pk=self.claimed.job.pk).update(total=len(self.peers), done=done, unscored=0)


def _claims_of(reading: DocumentReading | BaseException) -> Any:
    """The claims of a merged reading, or what went wrong with them."""
    if isinstance(reading, BaseException):
        return reading
    if reading.claims is None:
        return UnusableReply(reading.faults.get("claims", ""))
    return reading.claims


def _located(
    rows: Sequence[Claim] | Sequence[Question], answers: Sequence[Answer], piece: TextToJudge
) -> dict[int, Located]:
    return {
        row.pk: Located(answer, piece.positions(answer.evidence))
        for row, answer in zip(rows, answers, strict=True)
    }


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
    """Raise the failure that says most about the others: what stops us here will stop us everywhere."""
    final = [failure for failure in failures if isinstance(failure, JudgeRefused | BudgetSpent)]
    for failure in [*final, *failures]:
        raise failure
