"""The desk of a document set in a run: its open questions, and the answers for its rows.

`evaluation.judging.orchestration` asks the judge.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from annotation.core.criteria import asked_of_judges, criterion_of
from annotation.core.jobs import Claimed
from annotation.core.refusals import Refusal
from annotation.judging.services.running.answers import Judged, given_by, is_usable
from annotation.judging.services.running.claims import FoundClaims, Owner, active_claims, owner_of
from annotation.judging.services.running.texts import TextsToJudge, TextToJudge
from annotation.models import Check, Claim, Criterion, DocumentSet, Score, Summary
from evaluation.blend import VERSION
from evaluation.errors import JudgeError
from evaluation.judging.errors import BudgetSpent, JudgeRefused, UnusableReply
from evaluation.judging.orchestration import Answers, Open, ask
from evaluation.judging.protocol import (
    CoverReading,
    CoverRequest,
    DocumentReading,
    DocumentRequest,
    ExtractedClaim,
    Rating,
)
from evaluation.judging.protocol import Verdict as Answer
from evaluation.metrics import JUDGED, explained_completeness, explained_redundancy, explained_topics

if TYPE_CHECKING:
    from annotation.judging.services.running.turn import Turn

TOPICS = "topic_preservation"
EMPTY_SUMMARY = "The summary is empty."
NO_SOURCE = "The document set has no source text."
NO_TEXT = {"source": NO_SOURCE, "reference": "The summary has no reference.", "summary": ""}
"""The reasons for a missing rating, by the text that the criterion reads."""


Due = tuple["RowDesk", Any]
"""A value to write, with its desk."""


class Batch:
    """The texts and stored answers of several document sets, whose desks share them.

    - `given`: the judge's latest answers about the summaries
    - `criteria`: the criteria that the judge answers, by name
    - `scored`: the keys of summaries with a score
    """

    def __init__(self, turn: Turn, claimed: Sequence[Claimed]) -> None:
        self.turn = turn
        sets = [document_set_of(each) for each in claimed]
        # Use the run of the taken jobs, because the project's rules may have changed since the turn began.
        project = (claimed[0].job.run or turn.run).project
        self.texts = TextsToJudge(sets, project, turn.only)
        summaries = [summary for each in sets for summary in self.texts.summaries[each.pk]]
        references = [reference for each in sets for reference in self.texts.references(each.pk)]
        owners: list[Owner] = [(one.pk, None) for one in (*summaries, *references)]
        owners += [(None, one.pk) for one in sets]
        for owner in owners:
            turn.claims.pop(owner, None)
        turn.claims |= active_claims(owners)
        if "questions" in turn.parts:
            turn.questions.load([each.pk for each in sets])
        keys = [summary.pk for summary in summaries]
        self.given = given_by(turn.judge.row, keys)
        asked = [criterion_of(project, JUDGED[part]) for part in sorted(turn.parts & JUDGED.keys())]
        asked += asked_of_judges(project) if "criteria" in turn.parts else ()
        self.criteria: Mapping[str, Criterion] = {row.name: row for row in asked}
        self.scored = set(Score.objects.filter(summary__in=keys).values_list("summary_id", flat=True))


class _Asked(NamedTuple):
    """The claims and questions in a request about a summary; `own` has claims that come from the summary itself."""

    claims: Sequence[Claim]
    questions: Sequence[Claim]
    own: Sequence[Claim]


class RowDesk:
    """The desk of one document set; at the end, `require_whole` raises a failure of the requests, if there is one."""

    def __init__(self, claimed: Claimed, batch: Batch) -> None:
        self.claimed, self.key, self.document_set = claimed, claimed.job.pk, document_set_of(claimed)
        self.context, self.task = copy_context(), Future[None]()
        self.turn, self._batch, self._texts = batch.turn, batch, batch.texts
        self._signature, self._parts = self.turn.by.signature, self.turn.parts
        self.judge = self.turn.judge.judge_of(self.document_set)
        self._again = self.turn.judge.repeat_judge(self.document_set, self.turn.run)
        self.source = self._texts.source(self.document_set.pk)
        self.summary_rows = self._texts.summaries[self.document_set.pk]
        self._requested: list[tuple[str, Summary | None]] = []
        self._topics: tuple[str, ...] = ()
        self._why_no_topics = ""
        self._asks_questions = False
        self._has_news = False
        self._judged: dict[int, Judged] = {}
        self._asked: dict[int, _Asked] = {}
        self._failures: list[JudgeError] = []
        self._problems: list[str] = []
        self._bare: dict[str, list[str]] = {}
        self._said: list[object] = []

    @property
    def is_without_use(self) -> bool:
        """True if there are answers but no usable one."""
        return bool(self._said) and not any(said is not None for said in self._said)

    async def _do(self, kind: str, value: object) -> Any:
        """Wait for the worker's thread to write a value, and return the result."""
        return await self.turn.rows[kind].do((self, value))

    def require_whole(self) -> None:
        """Raise the failure of the set, if any; prefer one that would stop all sets."""
        for failure in sorted(
            self._failures, key=lambda each: not isinstance(each, JudgeRefused | BudgetSpent)
        ):
            raise failure
        bare = [
            f"No claims could be extracted from {', '.join(sorted(texts))}. {why}"
            for why, texts in self._bare.items()
        ]
        if problems := sorted([*self._problems, *bare]):
            raise Refusal(" ".join(problems))

    # Requests about documents

    def of_documents(self) -> Sequence[DocumentRequest]:
        if not self.summary_rows:
            return ()
        owners = self._texts_without_claims()
        questions = self._question_request()
        self._asks_questions = questions is not None
        requests: list[DocumentRequest] = []
        for owner in owners or ([None] if questions else []):
            claims = DocumentRequest(
                self.source.text, None if owner is None else self._piece(owner).text, claims=owner in owners
            )
            if questions is not None and not requests:
                claims = replace(questions, claims=claims.claims, reference=claims.reference)
            requests.append(claims)
            self._requested.append(("claims" if claims.claims else "", owner))
        if not self.source.text.is_blank and any(map(self._lacks_topics, self.summary_rows)):
            # Ask for topics in a separate request, so that its stored call does not depend on the summaries.
            requests.append(DocumentRequest(self.source.text, topics=True))
            self._requested.append(("topics", None))
        return requests

    def _texts_without_claims(self) -> list[Summary | None]:
        """Find the references without claims. A None in the list means the documents."""
        if "coverage" not in self._parts:
            return []
        texts = self._texts
        bare: list[Summary | None] = [
            reference
            for reference in texts.references(self.document_set.pk)
            if owner_of(reference) not in self.turn.claims
        ]
        needs_documents = any(not texts.references_of(summary) for summary in self.summary_rows)
        if needs_documents and owner_of(self.document_set) not in self.turn.claims:
            bare.append(None)
        return bare

    def _question_request(self) -> DocumentRequest | None:
        if "questions" not in self._parts or self.source.text.is_blank:
            return None
        questions, key = self.turn.questions, self.document_set.pk
        missing = questions.missing(key)
        # Show the judge all existing questions, so that it generates different ones.
        shown = questions.of(key) if missing else questions.open(key)
        if not missing and not shown:
            return None
        return DocumentRequest(
            self.source.text, questions=tuple(question.text for question in shown), n_questions=missing
        )

    async def keep_documents(self, readings: Sequence[DocumentReading | JudgeError]) -> None:
        found: list[FoundClaims] = []
        is_hopeless = False
        for (kind, owner), reading in zip(self._requested, readings, strict=True):
            if isinstance(reading, JudgeError):
                self._failures.append(reading)
            elif kind == "topics":
                self._topics, self._why_no_topics = reading.topics or (), reading.faults.get("topics", "")
            elif kind == "claims" and reading.claims is not None:
                found.append(
                    FoundClaims(owner_of(owner or self.document_set), self._piece(owner), reading.claims)
                )
            elif kind == "claims":
                self._note_bare(owner, reading.faults["claims"])
                is_hopeless |= owner is None
        if found:
            await self._do("claims", found)
        if self._failures or is_hopeless:
            self.require_whole()
        # Rescore after every request for claims, because even a text without claims changes scores.
        self._has_news = any(kind == "claims" for kind, _ in self._requested)
        if self._asks_questions and isinstance(readings[0], DocumentReading):
            await self._keep_questions(readings[0])

    async def _keep_questions(self, reading: DocumentReading) -> None:
        if reading.questions is None:
            self._problems.append(
                f"No questions could be generated. {reading.faults.get('questions', '')}".strip()
            )
            return
        self._has_news |= await self._do("questions", reading)
        open_texts = {question.text for question in self.turn.questions.open(self.document_set.pk)}
        if open_texts <= {question.text for question in reading.questions}:
            return
        # Ask again: another worker has stored other questions, which need answers.
        request = DocumentRequest(self.source.text, questions=tuple(sorted(open_texts)))
        self._has_news |= await self._do("questions", await self.judge.read_document(request))

    def _note_bare(self, owner: Summary | None, why: object) -> None:
        self._bare.setdefault(str(why), []).append("the documents" if owner is None else _named(owner))

    def _piece(self, owner: Summary | None) -> TextToJudge:
        return self.source if owner is None else self._texts.piece(owner)

    # Questions about summaries

    async def summaries(self) -> Iterable[Summary]:
        left = [
            summary
            for summary in self.summary_rows
            if self._has_news or summary.pk not in self._batch.scored or not self._is_answered(summary)
        ]
        await self._do("progress", (len(self.summary_rows) - len(left), len(self.summary_rows)))
        self._judged = {summary.pk: Judged(summary, criteria=self._batch.criteria) for summary in left}
        # Stop after a failed request, because the failure may affect the other summaries too.
        return takewhile(lambda _: not self._failures, left)

    def open(self, summary: Summary) -> Open:
        judged, piece = self._judged[summary.pk], self._piece(summary)
        if summary.is_empty or judged.is_incomplete:
            return Open(self.source.text, CoverRequest(piece.text))
        takes = (
            "alignment" in self._parts and summary.pk not in self._asked and self._needs_alignment(summary)
        )
        own = [] if takes or "alignment" not in self._parts else self._own_claims(summary)
        rows = _Asked(
            self._open(judged, self._reference_claims(summary)),
            self._open(judged, self._questions()),
            self._open(judged, own),
        )
        self._asked[summary.pk] = rows
        lacks_topics = self._lacks_topics(summary) and TOPICS not in judged.ratings
        cover = CoverRequest(
            piece.text,
            tuple(claim.text for claim in rows.claims),
            tuple(question.text for question in rows.questions),
            self._topics if lacks_topics else (),
        )
        criteria = [row.fact for row in self._open_criteria(summary) if row.name not in judged.ratings]
        reference = self._texts.reference_of(summary) if criteria else None
        asked = Open(self.source.text, cover, takes, tuple(claim.text for claim in rows.own))
        return asked.rating(criteria, reference.text if reference else None)

    async def keep(self, summary: Summary, answers: Answers) -> None:
        judged, aligned = self._judged[summary.pk], answers.aligned
        piece = self._piece(summary)
        if isinstance(aligned, UnusableReply):
            self._note_bare(summary, aligned)
        if failures := [each for each in answers.failures if not isinstance(each, UnusableReply)]:
            self._failures += failures
            judged.is_incomplete = True
        if not isinstance(aligned, JudgeError | None):
            claims: list[ExtractedClaim] = [each.claim for each in aligned]
            await self._do("claims", [FoundClaims(owner_of(summary), piece, claims)])
        judged.answers |= {row.pk: said for row, said in self._pairs(summary, answers)}
        judged.ratings |= {name: piece.placed(rating) for name, rating in answers.ratings.items()}
        if isinstance(answers.covered, CoverReading) and (topics := answers.asked.cover.topics):
            least = self._texts.project.least_scored
            labels = [answer.label for answer in answers.covered.topics]
            why = next((answer.reason for answer in answers.covered.topics if answer.reason), "")
            judged.ratings[TOPICS] = Rating(*explained_topics(topics, labels, least_scored=least, why=why))

    def _pairs(self, summary: Summary, answers: Answers) -> Iterator[tuple[Claim, Answer]]:
        """Pair the claims and questions of a request with their answers, whose evidence is given by rows.

        Of the claims that the judge extracted, those that are stored are paired: another worker may have stored others,
        which are checked in the next round.
        """
        rows, piece = self._asked[summary.pk], self._piece(summary)
        if isinstance(answers.covered, CoverReading):
            said = (*answers.covered.claims, *answers.covered.questions)
            for row, answer in zip((*rows.claims, *rows.questions), said, strict=True):
                yield row, piece.placed(answer)
        supported: list[tuple[Claim, Answer]] = []
        if not isinstance(answers.own, JudgeError | None):
            supported += zip(rows.own, answers.own, strict=True)
        if not isinstance(answers.aligned, JudgeError | None):
            by_text = {each.claim.text: each.verdict for each in answers.aligned}
            supported += [
                (row, by_text[row.text]) for row in self._own_claims(summary) if row.text in by_text
            ]
        for row, answer in supported:
            is_blank = self.source.text.is_blank
            yield row, Answer(None, reason=NO_SOURCE) if is_blank else self.source.placed(answer)

    async def repeat(self, summary: Summary, first: Answers) -> None:
        """Ask about a summary of the random share again, and keep the labels of equal claims."""
        if self._again is None or not self._repeats(summary.pk) or self._judged[summary.pk].is_incomplete:
            return
        second = await ask(self._again, first.asked)
        self._failures += [each for each in second.failures if not isinstance(each, UnusableReply)]
        self._judged[summary.pk].repeated |= {
            row.pk: answer.label for row, answer in self._pairs(summary, second) if answer.label is not None
        }

    async def end(self, summary: Summary) -> None:
        judged = self._judged.pop(summary.pk)
        if judged.is_incomplete:
            return
        judged.sides = self._sides(summary)
        for name, computation in self._uncomputed(summary).items():
            value, reason = computation()
            judged.computed[name] = {"value": value, "reason": reason, "version": f"{name}:{VERSION}"}
        if self._lacks_topics(summary) and TOPICS not in judged.ratings:
            why = NO_SOURCE if self.source.text.is_blank else self._why_no_topics
            judged.ratings[TOPICS] = Rating(0.0, EMPTY_SUMMARY) if summary.is_empty else Rating(None, why)
        for row in self._open_criteria(summary):
            if row.name not in judged.ratings and row.name not in JUDGED:
                why = EMPTY_SUMMARY if summary.is_empty else NO_TEXT[row.reads]
                judged.ratings[row.name] = Rating(None, why)
        await self._do("answers", judged)
        self._said += judged.asked

    def _repeats(self, summary: int) -> bool:
        """True if the judge is asked again about a summary. The choice is random, but the same after the run is
        resumed.
        """
        run = self.turn.run
        return random.Random(f"{run.public_id} {summary}").random() < (run.repeat_share or 0.0)

    def _needs_alignment(self, summary: Summary) -> bool:
        """True if no claims were extracted from the summary, or if the request that extracted them must be repeated."""
        active = self.turn.claims.get(owner_of(summary))
        if active is None:
            return True
        is_cut_off = not any((claim.pk, summary.pk) in self._batch.given for claim in active.claims)
        is_asked = is_cut_off or self._repeats(summary.pk)
        return is_asked and bool(active.claims) and active.maker == self._signature

    def _open(self, judged: Judged, claims: Iterable[Claim]) -> list[Claim]:
        return [
            claim
            for claim in claims
            if claim.pk not in judged.answers and not self._is_given(judged.summary, claim.pk)
        ]

    def _claims_of(self, *owners: Owner) -> list[Claim]:
        return [claim for each in owners if (active := self.turn.claims.get(each)) for claim in active.claims]

    def _own_claims(self, summary: Summary) -> list[Claim]:
        return self._claims_of(owner_of(summary))

    def _questions(self) -> list[Claim]:
        return self.turn.questions.of(self.document_set.pk) if "questions" in self._parts else []

    def _reference_claims(self, summary: Summary) -> list[Claim]:
        if "coverage" not in self._parts:
            return []
        references: list[Owner] = [(key, None) for key in self._texts.references_of(summary)]
        return self._claims_of(*(references or [owner_of(self.document_set)]))

    def _sides(self, summary: Summary) -> dict[int, Check.Side]:
        """Map each claim to be checked for the summary to its side.

        Reference claims and questions are checked against the summary, and the summary's own claims against the source.
        """
        sides = {claim.pk: Check.Side.REFERENCE for claim in self._reference_claims(summary)}
        sides |= {question.pk: Check.Side.QUESTION for question in self._questions()}
        if "alignment" in self._parts:
            sides |= {claim.pk: Check.Side.SUMMARY for claim in self._own_claims(summary)}
        return sides

    def _lacks_topics(self, summary: Summary) -> bool:
        return "topics" in self._parts and not self._is_given(summary, TOPICS)

    def _open_criteria(self, summary: Summary) -> list[Criterion]:
        return [row for row in self._batch.criteria.values() if not self._is_given(summary, row.name)]

    def _is_given(self, summary: Summary, given: str | int) -> bool:
        """True if a rating (by name) or a verdict (by claim) is stored and the summary is not asked about again."""
        word = None if self._repeats(summary.pk) else self._batch.given.get((given, summary.pk))
        return is_usable(word, self._signature)

    def _uncomputed(self, summary: Summary) -> dict[str, Callable[[], tuple[float | None, str]]]:
        """The scores of the run that are not stored and can be computed, each with its computation."""
        if self._parts.isdisjoint(("completeness", "redundancy")):
            return {}
        text, source, language = self._piece(summary).text.text, self.source.text, self.document_set.language
        can_be: dict[str, Callable[[], tuple[float | None, str]]] = {}
        if not source.is_blank:
            can_be["completeness"] = partial(explained_completeness, source.text, text, language)
        if not summary.is_empty:
            can_be["redundancy"] = partial(explained_redundancy, text, language)
        return {
            name: computation
            for name, computation in can_be.items()
            if name in self._parts and summary.computed.get(name, {}).get("version") != f"{name}:{VERSION}"
        }

    def _is_answered(self, summary: Summary) -> bool:
        """True if the summary needs no more answers or scores. An empty one costs no call, so it is done again."""
        if summary.is_empty or self._uncomputed(summary) or self._lacks_topics(summary):
            return False
        if "alignment" in self._parts and owner_of(summary) not in self.turn.claims:
            return False
        claims = self._sides(summary)
        return not self._open_criteria(summary) and all(self._is_given(summary, claim) for claim in claims)


def document_set_of(claimed: Claimed) -> DocumentSet:
    assert claimed.job.document_set is not None, "a job of a run"
    return claimed.job.document_set


def _named(summary: Summary) -> str:
    system = summary.system.name if summary.system else ""
    if summary.is_summary:
        return f"the summary of {system}"
    return f"the reference {summary.external_id or system}".rstrip()
