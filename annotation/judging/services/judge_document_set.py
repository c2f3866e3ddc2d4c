"""How a judge answers everything that is open in one document set: the work of one job of a run, step by step.

What depends on the documents alone is asked once: claims of references, questions and what the source
answers. Then the summaries are gone through a few at a time, with at most two calls for each: one
aligns it with the source, one covers it with claims, questions and ratings. Each step says what it wants done, so that
many document sets are asked about side by side and written together (`judge_many`). Whatever is answered in the rows
already is not asked again, so a job that was cut off goes on where it stopped; what is there unscored is asked again.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from annotation.core.refusals import Refusal
from annotation.judging.services.asked_claims import ActiveClaims, FoundClaims
from annotation.judging.services.asked_questions import ActiveQuestions
from annotation.judging.services.asked_texts import TextsToJudge, TextToJudge
from annotation.judging.services.judges import JudgeAtWork
from annotation.judging.services.kept_answers import Given, Judged, Located, Rated
from annotation.judging.words import completeness_in_words, named_in_set, redundancy_in_words, topics_in_words
from annotation.models import Check, Claim, DocumentSet, Judge, Summary
from evaluation.blend import VERSION
from evaluation.judging.errors import BudgetSpent, JudgeRefused, UnusableReply
from evaluation.judging.protocol import (
    CoverReading,
    CoverRequest,
    DocumentReading,
    DocumentRequest,
    JudgedClaim,
    RatingName,
)
from evaluation.judging.protocol import Verdict as Answer

RunPart = Literal[
    "coverage", "alignment", "questions", "topics", "conciseness", "coherence", "completeness", "redundancy"
]

RUN_METRICS: Mapping[str, frozenset[RunPart]] = {
    "coverage": frozenset({"coverage"}),
    "alignment": frozenset({"alignment"}),
    "factual_alignment": frozenset({"coverage", "alignment"}),
    "question_coverage": frozenset({"questions"}),
    "topic_preservation": frozenset({"topics"}),
    "summarization": frozenset({"coverage", "alignment"}),
    "conciseness": frozenset({"conciseness"}),
    "coherence": frozenset({"coherence"}),
    "completeness": frozenset({"completeness"}),
    "redundancy": frozenset({"redundancy"}),
    "brevity": frozenset(),
}
"""What a run can be asked for, and what each metric needs answered; brevity comes with every score."""
OTHER_NAMES: Mapping[str, str] = {
    "claim_coverage": "coverage",
    "factual_consistency": "alignment",
    "faithfulness": "alignment",
}
"""Metrics of the library that another one of a run answers too."""


def parts_of(metrics: Iterable[str]) -> frozenset[RunPart]:
    """The parts of a run that these metrics need; unknown names are ignored."""
    return frozenset[RunPart]().union(*(RUN_METRICS.get(name, ()) for name in metrics))


OFFLINE_PEERS_AT_ONCE = 10
TOPICS = "topic_preservation"
RATED: tuple[RatingName, ...] = ("conciseness", "coherence")
COMPUTED: Mapping[RunPart, Callable[[str, str, str], tuple[float, str]]] = {
    "completeness": completeness_in_words,
    "redundancy": redundancy_in_words,
}
"""What is computed without a judge of a source and a summary in a language: a value and how it came about."""
EMPTY_SUMMARY = "The summary is empty."
NO_SOURCE = "The document set has no source text."


@dataclass(frozen=True, slots=True)
class Ask:
    """Questions to be asked side by side; what each got comes back in order, be it an exception."""

    questions: Sequence[Coroutine[None, None, Any]]


@dataclass(frozen=True, slots=True)
class KeepClaims:
    """Claims to be written, unless somebody else was quicker; afterwards those that stand are loaded."""

    found: Sequence[FoundClaims]


@dataclass(frozen=True, slots=True)
class KeepQuestions:
    """Questions and the source's answers to be written; whether any answer was comes back."""

    reading: DocumentReading


@dataclass(frozen=True, slots=True)
class NoteProgress:
    """How many of the peers have everything already."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class WriteAnswers:
    """Peers of which everything was asked: their answers are written with the scores that follow."""

    judged: Sequence[Judged]


Step = Ask | KeepClaims | KeepQuestions | NoteProgress | WriteAnswers
Steps = Generator[Step, Any, None]


@dataclass(frozen=True, slots=True)
class Reading:
    """What is in the rows of the document sets that are judged together, and by whom they are judged."""

    judge: JudgeAtWork
    signature: str
    parts: frozenset[RunPart]
    texts: TextsToJudge
    claims: ActiveClaims
    questions: ActiveQuestions
    given: Given
    scored: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Ask:
    """Something to ask about one peer, and what becomes of the reply."""

    judged: Judged
    reply: Coroutine[None, None, Any]
    claims: tuple[Claim, ...] = ()
    questions: tuple[Claim, ...] = ()
    topics: tuple[str, ...] = ()
    piece: TextToJudge | None = None


class DocumentSetWork:
    """One document set's texts, claims, questions and peers, and what is asked of them."""

    def __init__(self, document_set: DocumentSet, read: Reading) -> None:
        self.document_set = document_set
        self.read = read
        self.judge, self.signature, self.parts = read.judge, read.signature, read.parts
        self.claims, self.given = read.claims, read.given
        self.problems: list[str] = []
        self.bare: dict[str, list[str]] = {}
        self.topics: tuple[str, ...] = ()
        self.why_no_topics = ""
        self.peers = read.texts.peers[document_set.pk]
        self.source = read.texts.source(document_set.pk)

    def steps(self) -> Steps:
        """What is to be done, one step after the other; each is sent what it came to.

        Raises what the judge raises once all that it did answer is written, and Refusal where claims could not
        be taken from a text.
        """
        has_news = (yield from self._read_documents()) if self.peers else False
        open_peers = [
            peer
            for peer in self.peers
            if has_news or peer.pk not in self.read.scored or not self._is_answered(peer)
        ]
        yield NoteProgress(done=len(self.peers) - len(open_peers), total=len(self.peers))
        for some in _batches(open_peers, self._peers_at_once()):
            yield from self._judge(some)
        if problems := [*self.problems, *self._bare_in_words()]:
            raise Refusal(" ".join(problems))

    def _peers_at_once(self) -> int:
        # Twice as many as calls may run at once, so that a slow one keeps fewer of the others waiting.
        network = self.judge.row.kind != Judge.Kind.LEXICAL
        return 2 * self.judge.row.concurrency if network else OFFLINE_PEERS_AT_ONCE

    # What is asked of the documents

    def _read_documents(self) -> Generator[Step, Any, bool]:
        """Take what is missing from the documents and references; whether that can move all peers' scores."""
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
        if wants_topics := not self.source.text.is_blank and any(map(self._lacks_topics, self.peers)):
            # By themselves, so that the same call is stored for whatever summaries come later.
            asked.append(self.judge.judge.read_document(DocumentRequest(self.source.text, topics=True)))
        replies: list[Any] = (yield Ask(asked)) if asked else []
        topics: Any = replies.pop() if wants_topics else None
        reading: Any = replies.pop(0) if request is not None else None
        claims: list[Any] = list(replies)
        if request is not None and owners:
            claims.insert(0, _claims_of(reading))
        yield from self._take_claims(owners, claims)
        if isinstance(reading, BaseException):
            raise reading
        self._take_topics(topics)
        has_answers = (yield from self._take_questions(reading)) if reading is not None else False
        # A text in which no claim was found leaves nothing to ask, and scores all the same.
        return has_answers or bool(owners)

    def _texts_without_claims(self) -> list[Summary | None]:
        """The references whose claims are missing; None stands for the documents."""
        if "coverage" not in self.parts:
            return []
        models = self.read.texts.models(self.document_set.pk)
        bare: list[Summary | None] = [model for model in models if not self.claims.has_summary(model.pk)]
        needs_documents = any(not self.read.texts.models_of(peer) for peer in self.peers)
        if needs_documents and not self.claims.has_documents(self.document_set.pk):
            bare.append(None)
        return bare

    def _question_request(self) -> DocumentRequest | None:
        if "questions" not in self.parts or self.source.text.is_blank:
            return None
        questions, key = self.read.questions, self.document_set.pk
        missing = questions.missing(key)
        # Anyone who makes up more must see all that are there, to make up others.
        shown = questions.of(key) if missing else questions.open(key)
        if not missing and not shown:
            return None
        return DocumentRequest(
            self.source.text, questions=tuple(question.text for question in shown), n_questions=missing
        )

    def _take_claims(self, owners: Sequence[Summary | None], replies: Sequence[Any]) -> Steps:
        """Write the claims that were found; then raise what went wrong with the others."""
        found: list[FoundClaims] = []
        failures: list[BaseException] = []
        hopeless = ""
        for owner, claims in zip(owners, replies, strict=True):
            if isinstance(claims, UnusableReply) and owner is None:
                hopeless = f"No claims could be extracted from the documents. {claims}"
            elif isinstance(claims, UnusableReply):
                self._note_bare(owner, claims)
            elif isinstance(claims, BaseException):
                failures.append(claims)
            else:
                found.append(FoundClaims(owner or self.document_set, self._piece(owner), claims))
        if found:
            yield KeepClaims(found)
        _raise_worst(failures)
        if hopeless:
            raise Refusal(hopeless)

    def _take_questions(self, reading: DocumentReading) -> Generator[Step, Any, bool]:
        if reading.questions is None:
            self.problems.append(
                f"No questions could be generated. {reading.faults.get('questions', '')}".strip()
            )
            return False
        has_news = bool((yield KeepQuestions(reading)))
        open_texts = {question.text for question in self.read.questions.open(self.document_set.pk)}
        if open_texts <= {question.text for question in reading.questions}:
            return has_news
        # Somebody else was quicker with other questions: those stand.
        request = DocumentRequest(self.source.text, questions=tuple(sorted(open_texts)))
        [again] = yield Ask([self.judge.judge.read_document(request)])
        if isinstance(again, BaseException):
            raise again
        return bool((yield KeepQuestions(again))) or has_news

    def _take_topics(self, reading: DocumentReading | BaseException | None) -> None:
        if isinstance(reading, UnusableReply):
            self.why_no_topics = str(reading)
        elif isinstance(reading, BaseException):
            raise reading
        elif reading is not None:
            self.topics = reading.topics or ()
            self.why_no_topics = reading.faults.get("topics", "")

    def _lacks_topics(self, peer: Summary) -> bool:
        """Whether this judge, as it is now, is still to say which topics the peer deals with."""
        return "topics" in self.parts and not self.given.has_rating(peer.pk, TOPICS, self.signature)

    def _without_topics(self, peer: Summary) -> Rated:
        """What stands for a peer that no topics are asked of."""
        if peer.is_empty:
            return Rated(0.0, EMPTY_SUMMARY)
        return Rated(None, NO_SOURCE if self.source.text.is_blank else self.why_no_topics)

    def _note_bare(self, owner: Summary | None, why: object) -> None:
        self.bare.setdefault(str(why), []).append("the documents" if owner is None else named_in_set(owner))

    def _bare_in_words(self) -> Iterator[str]:
        """Which texts gave no claims, those with the same reason together."""
        for why, texts in self.bare.items():
            yield f"No claims could be extracted from {', '.join(texts)}. {why}"

    def _piece(self, owner: Summary | None) -> TextToJudge:
        if owner is None:
            return self.source
        return self.read.texts.piece(owner)

    # What is asked of the peers

    def _judge(self, peers: Sequence[Summary]) -> Steps:
        """Ask what is open of these peers and write it, then raise what went wrong in the asking."""
        judged = [Judged(peer=peer, sides={}) for peer in peers]
        asks = [ask for each in judged if not each.peer.is_empty for ask in self._asks(each)]
        failures = yield from self._answer(asks)
        # Claims that somebody else took while we did: theirs stand, and are checked one call later.
        failures += yield from self._answer([ask for each in judged for ask in self._late_checks(each)])
        for each in judged:
            each.sides = self._sides(each.peer)
            each.computed = {name: self._computed(name, each.peer) for name in self._uncomputed(each.peer)}
            if self._lacks_topics(each.peer) and (each.peer.is_empty or not self.topics):
                each.ratings[TOPICS] = self._without_topics(each.peer)
        if complete := [each for each in judged if not each.is_incomplete]:
            yield WriteAnswers(complete)
        _raise_worst(failures)

    def _answer(self, asks: Sequence[_Ask]) -> Generator[Step, Any, list[BaseException]]:
        """Put the questions side by side and take the replies in; what went wrong."""
        failures: list[BaseException] = []
        replies = (yield Ask([ask.reply for ask in asks])) if asks else []
        aligned: list[tuple[Judged, Sequence[JudgedClaim]]] = []
        for ask, reply in zip(asks, replies, strict=True):
            if isinstance(reply, UnusableReply):
                self._note_bare(ask.judged.peer, reply)
            elif isinstance(reply, BaseException):
                failures.append(reply)
                ask.judged.is_incomplete = True
            elif ask.piece is None:
                aligned.append((ask.judged, reply))
            else:
                self._take(ask, ask.piece, reply)
        if aligned:
            yield KeepClaims(
                [
                    FoundClaims(judged.peer, self._piece(judged.peer), [each.claim for each in claims])
                    for judged, claims in aligned
                ]
            )
            for judged, claims in aligned:
                self._take_aligned(judged, claims)
        return failures

    def _take(self, ask: _Ask, piece: TextToJudge, reply: Any) -> None:
        judged = ask.judged
        if not isinstance(reply, CoverReading):
            judged.answers |= _located(ask.claims, reply, piece)
            return
        judged.answers |= _located(ask.claims, reply.claims, piece)
        judged.answers |= _located(ask.questions, reply.questions, piece)
        if ask.topics:
            least = self.read.texts.project.least_scored
            judged.ratings[TOPICS] = Rated(*topics_in_words(ask.topics, reply.topics, least_scored=least))
        for name, rating in reply.ratings.items():
            judged.ratings[name] = Rated(rating.value, rating.reason)

    def _take_aligned(self, judged: Judged, aligned: Sequence[JudgedClaim]) -> None:
        claims = self.claims.of_summary(judged.peer.pk)
        # Somebody else may have been quicker with other claims: those stand.
        if [claim.text for claim in claims] == [each.claim.text for each in aligned]:
            judged.answers |= _located(claims, [each.verdict for each in aligned], self.source)

    def _asks(self, judged: Judged) -> Iterator[_Ask]:
        peer = judged.peer
        if "alignment" in self.parts:
            if self._needs_alignment(peer):
                yield _Ask(judged, self._align(peer))
            else:
                yield from self._late_checks(judged)
        claims = self._open_claims(peer, self._reference_claims(peer))
        questions = self._open_claims(peer, self._questions())
        ratings = self._unrated(peer)
        piece = self._piece(peer)
        topics = self.topics if self._lacks_topics(peer) else ()
        texts = tuple(claim.text for claim in claims)
        if questions or ratings or topics:
            request = CoverRequest(
                piece.text,
                texts,
                tuple(question.text for question in questions),
                topics,
                ratings,
            )
            reply = self.judge.judge.cover_summary(request)
            yield _Ask(judged, reply, claims, questions, topics, piece)
        elif claims:
            yield _Ask(judged, self.judge.judge.check(texts, piece.text, side="covered"), claims, piece=piece)

    def _late_checks(self, judged: Judged) -> Iterator[_Ask]:
        """The peer's own claims that nothing was said of yet, compared with the source."""
        if "alignment" not in self.parts or judged.peer.is_empty or judged.is_incomplete:
            return
        claims = self._open_claims(judged.peer, self.claims.of_summary(judged.peer.pk))
        claims = tuple(claim for claim in claims if claim.pk not in judged.answers)
        if claims:
            yield _Ask(judged, self._supported(claims), claims, piece=self.source)

    def _needs_alignment(self, peer: Summary) -> bool:
        """Whether the peer has no claims, or those that this judge took before it was cut off.

        The latter are asked for once more, from the store of calls, with the verdicts that were lost.
        """
        if not self.claims.has_summary(peer.pk):
            return True
        own = self.claims.of_summary(peer.pk)
        is_cut_off = not any((claim.pk, peer.pk) in self.given.verdicts for claim in own)
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

    def _open_claims(self, peer: Summary, claims: Iterable[Claim]) -> tuple[Claim, ...]:
        return tuple(
            claim for claim in claims if not self.given.has_verdict((claim.pk, peer.pk), self.signature)
        )

    def _questions(self) -> list[Claim]:
        return self.read.questions.of(self.document_set.pk) if "questions" in self.parts else []

    def _reference_claims(self, peer: Summary) -> list[Claim]:
        if "coverage" not in self.parts:
            return []
        models = self.read.texts.models_of(peer)
        if not models:
            return self.claims.of_documents(self.document_set.pk)
        return [claim for model in models for claim in self.claims.of_summary(model)]

    def _sides(self, peer: Summary) -> dict[int, Check.Side]:
        """The claims and questions that this run holds against the peer's text, and its own against the source."""
        sides = {claim.pk: Check.Side.REFERENCE for claim in self._reference_claims(peer)}
        sides |= {question.pk: Check.Side.QUESTION for question in self._questions()}
        if "alignment" in self.parts:
            sides |= {claim.pk: Check.Side.PEER for claim in self.claims.of_summary(peer.pk)}
        return sides

    def _unrated(self, peer: Summary) -> tuple[RatingName, ...]:
        """What this judge is to rate of the peer and has not, as it is now."""
        return tuple(
            name
            for name in RATED
            if name in self.parts and not self.given.has_rating(peer.pk, name, self.signature)
        )

    def _uncomputed(self, peer: Summary) -> list[RunPart]:
        """What is to be computed of the peer and is not; some need a source, some a summary."""
        without: dict[RunPart, bool] = {
            "completeness": self.source.text.is_blank,
            "redundancy": peer.is_empty,
        }
        return [
            name
            for name, is_nothing in without.items()
            if name in self.parts
            and not is_nothing
            and peer.computed.get(name, {}).get("version") != _version_of(name)
        ]

    def _computed(self, name: RunPart, peer: Summary) -> dict[str, object]:
        texts = self.source.text.text, self._piece(peer).text.text
        value, reason = COMPUTED[name](*texts, self.document_set.language)
        return {"value": value, "reason": reason, "version": _version_of(name)}

    def _is_answered(self, peer: Summary) -> bool:
        """Whether nothing is left to do for the peer."""
        if self._uncomputed(peer) or self._lacks_topics(peer):
            return False
        claims = self._sides(peer)
        if peer.is_empty:
            return Check.objects.filter(peer=peer, claim_id__in=claims).count() == len(claims)
        if "alignment" in self.parts and not self.claims.has_summary(peer.pk):
            return False
        if self._unrated(peer):
            return False
        return all(self.given.has_verdict((claim, peer.pk), self.signature) for claim in claims)


def _version_of(name: RunPart) -> str:
    return f"{name}:{VERSION}"


def _claims_of(reading: DocumentReading | BaseException) -> Any:
    """The claims of a merged reading, or what went wrong with them."""
    if isinstance(reading, BaseException):
        return reading
    if reading.claims is None:
        return UnusableReply(reading.faults.get("claims", ""))
    return reading.claims


def _located(rows: Sequence[Claim], answers: Sequence[Answer], piece: TextToJudge) -> dict[int, Located]:
    return {
        row.pk: Located(answer, piece.positions(answer.evidence))
        for row, answer in zip(rows, answers, strict=True)
    }


def _batches(peers: Sequence[Summary], size: int) -> Iterator[Sequence[Summary]]:
    for first in range(0, len(peers), size):
        yield peers[first : first + size]


def _raise_worst(failures: Sequence[BaseException]) -> None:
    """Raise the failure that says most about the others: what stops us here will stop us everywhere."""
    final = [failure for failure in failures if isinstance(failure, JudgeRefused | BudgetSpent)]
    for failure in [*final, *failures]:
        raise failure
