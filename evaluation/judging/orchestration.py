"""Judge texts: requests about documents, then up to two rounds of requests per summary.

A `Desk` lists the open requests and stores the answers.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from evaluation.errors import JudgeError
from evaluation.judging.errors import BudgetSpent, UnusableReply
from evaluation.judging.protocol import (
    CoverReading,
    CoverRequest,
    DocumentReading,
    DocumentRequest,
    ExtractedClaim,
    Judge,
    JudgedClaim,
    Rating,
    Text,
    Verdict,
)
from evaluation.metrics._criteria import Criterion

MOST_ROUNDS = 2
"""The largest number of rounds per summary."""

_K = TypeVar("_K")
_R = TypeVar("_R")
_S = TypeVar("_S")


@dataclass(frozen=True, slots=True)
class Open:
    """The open questions about a summary.

    If `takes_claims`, the judge extracts the claims of the summary and checks them against the source. `own_claims` are
    claims of the summary that are known already and only checked. `rated` has a request for each text that criteria
    read beside the summary.
    """

    source: Text
    cover: CoverRequest
    takes_claims: bool = False
    own_claims: tuple[str, ...] = ()
    rated: tuple[CoverRequest, ...] = ()

    @property
    def is_nothing(self) -> bool:
        """Return True if nothing is asked."""
        return self.cover.is_empty and not self.takes_claims and not self.own_claims and not self.rated

    def rating(self, criteria: Sequence[Criterion], reference: Text | None) -> "Open":
        """Return a copy with criteria: those about the summary alone in `cover`, the others in `rated`.

        A criterion whose text is None or blank is not asked.
        """
        texts = {"reference": reference, "source": self.source}
        groups = {reads: tuple(each for each in criteria if each.reads == reads) for reads in texts}
        rated = tuple(
            CoverRequest(
                self.cover.summary, criteria=groups[reads], instruction=self.cover.instruction, beside=text
            )
            for reads, text in texts.items()
            if groups[reads] and text is not None and not text.is_blank
        )
        alone = tuple(each for each in criteria if each.reads == "summary")
        return replace(self, cover=replace(self.cover, criteria=alone), rated=rated)


@dataclass(frozen=True, slots=True)
class Answers:
    """The judge's answers to the questions of an `Open`, or the errors that the judge raised.

    A part that was not asked for is None.
    """

    asked: Open
    aligned: tuple[JudgedClaim, ...] | JudgeError | None
    own: tuple[Verdict, ...] | JudgeError | None
    covered: CoverReading | JudgeError | None
    rated: tuple[CoverReading | JudgeError, ...] = ()

    @property
    def failures(self) -> list[JudgeError]:
        """Return the errors among the answers."""
        whole = (self.aligned, self.own, self.covered, *self.rated)
        return [each for each in whole if isinstance(each, JudgeError)]

    @property
    def ratings(self) -> dict[str, Rating]:
        """Return the ratings by name; if a request failed, its criteria are unscored."""
        found: dict[str, Rating] = {}
        for asked, said in zip(
            (self.asked.cover, *self.asked.rated), (self.covered, *self.rated), strict=True
        ):
            if isinstance(said, JudgeError):
                found |= {each.name: Rating(None, f"Unscored: {said}") for each in asked.criteria}
            elif said is not None:
                found |= said.ratings
        return found


ReadDocument = Callable[[DocumentRequest], Coroutine[Any, Any, DocumentReading]]


class Desk(Protocol[_S]):
    """The caller's side of `judge_texts`: it lists the open requests and stores the answers.

    `keep` and `keep_documents` may raise an error to end the work.
    """

    def of_documents(self) -> Sequence[DocumentRequest]:
        """Return the open requests that need only documents and references."""

    async def keep_documents(self, readings: Sequence[DocumentReading | JudgeError]) -> None:
        """Store the readings of the open document requests, in the same order."""

    async def summaries(self) -> Iterable[_S]:
        """Return the summaries to judge."""

    def open(self, summary: _S) -> Open:
        """Return the questions about the summary that are still open."""

    async def keep(self, summary: _S, answers: Answers) -> None:
        """Store the answers of a round. The next round asks the questions that `open` still returns."""

    async def end(self, summary: _S) -> None:
        """Finish the summary after its last round."""


async def judge_texts(
    judge: Judge,
    desk: Desk[_S],
    *,
    at_once: int = 1,
    read: ReadDocument | None = None,
    repeat: Callable[[_S, Answers], Awaitable[None]] | None = None,
) -> None:
    """Ask the judge all open requests of the desk: documents first, then `at_once` summaries at a time.

    `read` replaces `judge.read_document`, so that several desks can share the reading of a document. `repeat` is called
    after each round with the stored answers, and may ask the judge again. An exception of the desk ends the work.
    """
    if requests := desk.of_documents():
        read = read or judge.read_document
        await desk.keep_documents(await together([caught(read(each)) for each in requests]))
    waiting = iter(await desk.summaries())

    async def some() -> None:
        for summary in waiting:
            await _judge(judge, desk, summary, repeat)

    await together([some() for _ in range(at_once)])


async def _judge(
    judge: Judge, desk: Desk[_S], summary: _S, repeat: Callable[[_S, Answers], Awaitable[None]] | None
) -> None:
    for _ in range(MOST_ROUNDS):
        asked = desk.open(summary)
        if asked.is_nothing:
            break
        answers = await ask(judge, asked)
        await desk.keep(summary, answers)
        if repeat is not None:
            await repeat(summary, answers)
    await desk.end(summary)


async def ask(judge: Judge, asked: Open) -> Answers:
    """Ask all open questions about a summary in one round of requests."""
    wish = asked.cover.instruction
    work: dict[str, Coroutine[Any, Any, Any]] = {}
    if asked.takes_claims:
        work["aligned"] = judge.align_summary(asked.source, asked.cover.summary, instruction=wish)
    if asked.own_claims:
        work["own"] = judge.check_source(asked.own_claims, asked.source, instruction=wish)
    if not asked.cover.is_empty:
        work["covered"] = judge.cover_summary(asked.cover)
    work |= {f"rated {place}": judge.cover_summary(each) for place, each in enumerate(asked.rated)}
    found = dict(zip(work, await together([caught(each) for each in work.values()]), strict=True))
    rated = tuple(found[f"rated {place}"] for place in range(len(asked.rated)))
    return Answers(asked, found.get("aligned"), found.get("own"), found.get("covered"), rated)


async def claims_of(judge: Judge, request: DocumentRequest) -> tuple[ExtractedClaim, ...]:
    """Extract the claims of a document. Raises UnusableReply if they are missing, and the judge's other errors."""
    reading = await judge.read_document(request)
    if reading.claims is None:
        raise UnusableReply(f"The judge {judge.name!r} gave no claims. {reading.faults.get('claims', '')}")
    return reading.claims


async def caught(work: Coroutine[Any, Any, _R]) -> _R | JudgeError:
    """Return the result of the work, or the JudgeError that it raised."""
    try:
        return await work
    except JudgeError as error:
        return error


async def together(work: Sequence[Coroutine[None, None, _R]]) -> list[_R]:
    """Run the work concurrently and return the results in order.

    The first exception cancels the other tasks and is raised. After BudgetSpent the other tasks finish first.
    """
    if len(work) == 1:
        return [await work[0]]
    stopped: list[BudgetSpent] = []

    async def ended(each: Coroutine[None, None, _R]) -> list[_R]:
        try:
            return [await each]
        except BudgetSpent as failure:
            stopped.append(failure)
            return []

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(ended(each)) for each in work]
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    if stopped:
        raise stopped[0]
    return [result for task in tasks for result in task.result()]


def chunks(
    items: Sequence[_K], most: int, room: int | None = None, size: Callable[[_K], int] = lambda _: 0
) -> list[Sequence[_K]]:
    """Cut the items, in order, into chunks of at most `most` items and the size `room` together.

    `size` returns the size of an item. An item larger than `room` is a chunk of its own.
    """
    cut: list[Sequence[_K]] = []
    current: list[_K] = []
    used = 0
    for item in items:
        is_full = room is not None and used + size(item) > room
        if current and (is_full or len(current) == most):
            cut.append(current)
            current, used = [], 0
        current.append(item)
        used += size(item)
    return [*cut, current] if current else cut
