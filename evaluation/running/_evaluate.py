"""Evaluate texts with a judge."""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Unpack

from evaluation._signature import signature
from evaluation.errors import EvaluationError, JudgeError
from evaluation.judging import _sync
from evaluation.judging.errors import JudgeRefused
from evaluation.judging.orchestration import Answers, Open, caught, judge_texts
from evaluation.judging.protocol import (
    CoverReading,
    CoverRequest,
    DocumentReading,
    DocumentRequest,
    ExtractedClaim,
    Judge,
    JudgedClaim,
    Text,
    Verdict,
    checked_judge,
    metered,
    one_pass,
)
from evaluation.running._cases import (
    Case,
    EvaluationOptions,
    GivenClaim,
    Options,
    SummaryInput,
    checked_input,
    checked_items,
    checked_questions,
    input_of,
)
from evaluation.running._metrics import EMPTY_DOCUMENT, Facts, Scores
from evaluation.running._results import SummaryEvaluation

_MOST_DOCUMENTS_KEPT = 1000
UNSCORED = "Unscored: "
"""The beginning of the reason for an answer that a judge failed to give."""
BY_PEOPLE = "Answered by people."


def evaluate_summary(
    document: str,
    summary: str,
    *,
    judge: Judge,
    reference: str | None = None,
    language: str = "en",
    **options: Unpack[EvaluationOptions],
) -> SummaryEvaluation:
    """Evaluate a summary by metrics, which are described at `METRICS`.

    A score without enough usable answers is None. A failed answer of the judge is unscored and never counts as 0. The
    call blocks until the result is ready, and works inside a running event loop too. The options:
    - `metrics`: the default is coverage, alignment, question_coverage and summarization.
    - `questions`: closed questions that a good summary answers with yes; if None, the judge writes `n_questions` (5).
    - `target_words`: the target length, which brevity needs.
    - `custom_instruction`: an addition to the judge's instructions.
    - `threshold` (.5), `strict` (False), `scale` (1): the options of `summarization`.
    - `include_reason` (True): give each score a reason.
    - `verbose` (False): the result has `details`, with the verdicts.
    - `least_scored` (.5): the smallest allowed share of claims, questions or topics with a usable answer; if the share
      is smaller, the score is None.
    - `criteria`: up to 12 questions of your own about the summary. The score of a criterion has the criterion's name
      and is in [0, 1], 1 for the best answer of the scale. Raises EvaluationError for invalid input, JudgeRefused if
      the judge's server refuses requests (key, quota). Source: the coverage family of Assert LLM Tools and the
      summarization metrics of DeepEval and Mastra. Example: `evaluate_summary(document, summary,
      judge=LexicalJudge())["coverage"]`.
    """
    item = SummaryInput(document, summary, reference, language=language)
    checked_input(item)
    return evaluate_summaries([item], judge=judge, **options)[0]


def evaluate_summaries(
    items: Iterable[SummaryInput | tuple[str, str] | tuple[str, str, str | None]],
    *,
    judge: Judge,
    on_result: Callable[[int, SummaryEvaluation], None] | None = None,
    **options: Unpack[EvaluationOptions],
) -> tuple[SummaryEvaluation, ...]:
    """Evaluate many summaries and return the results in their order.

    `items` are `SummaryInput`s, or tuples of document and summary, optionally with a reference. `on_result` is called
    with the position and result of each summary as soon as it is ready. The `options` are those of `evaluate_summary`.
    If a summary cannot be evaluated, its scores are None with reasons, and the other summaries are evaluated. Raises
    EvaluationError for invalid options. Raises JudgeRefused if the judge's server refuses requests (key, permission,
    quota). Example: `evaluate_summaries([(document, one), (document, other)], judge=LexicalJudge())`.
    """
    results: dict[int, SummaryEvaluation] = {}
    # Refuse an invalid judge first, because the code below closes the judge at the end.
    checked_judge(judge)

    async def collected() -> None:
        stream = stream_evaluations(items, judge=judge, **options)
        try:
            async for position, result in stream:
                results[position] = result
                if on_result is not None:
                    on_result(position, result)
        finally:
            await stream.aclose()

    _sync.run(_sync.closing(judge, collected()))
    return tuple(results[position] for position in sorted(results))


async def stream_evaluations(
    items: Iterable[SummaryInput | tuple[str, str] | tuple[str, str, str | None]],
    *,
    judge: Judge,
    **options: Unpack[EvaluationOptions],
) -> AsyncGenerator[tuple[int, SummaryEvaluation], None]:
    """Yield each summary's position and result as soon as it is ready: an asynchronous `evaluate_summaries`.

    The judge is not closed. If the caller leaves the loop early, with `aclose` or by cancellation, its tasks are
    cancelled. Example: `async for position, result in stream_evaluations(items, judge=judge): ...`.
    """
    chosen = Options.of(options)
    given = checked_items(items)
    checked_judge(judge)
    ready: asyncio.Queue[tuple[int, SummaryEvaluation] | None] = asyncio.Queue()
    work = asyncio.create_task(_Evaluation(judge, chosen, ready.put_nowait).all(given))
    work.add_done_callback(lambda _: ready.put_nowait(None))
    try:
        while (result := await ready.get()) is not None:
            yield result
        await work
    finally:
        work.cancel()
        await asyncio.wait([work])
        if not work.cancelled():
            # Retrieve the exception; otherwise asyncio logs that it was never retrieved.
            work.exception()


class _Evaluation:
    def __init__(
        self, judge: Judge, options: Options, emit: Callable[[tuple[int, SummaryEvaluation]], None]
    ) -> None:
        self._judge = judge
        self._options = options
        self._emit = emit
        self._text = lru_cache(maxsize=256)(Text.of)
        self._signature = lru_cache(maxsize=256)(self._signed)
        self._readings: OrderedDict[DocumentRequest, asyncio.Task[DocumentReading | JudgeError]] = (
            OrderedDict()
        )
        self._group = asyncio.TaskGroup()

    async def all(self, items: Iterable[object]) -> None:
        waiting = iter(enumerate(items))
        # Some tasks wait for a document request of another task, so run more tasks than calls.
        at_once = 2 * self._judge.concurrency
        try:
            with one_pass():
                async with self._group:
                    for _ in range(at_once):
                        self._group.create_task(self._some(waiting))
        except BaseExceptionGroup as failures:
            raise _worst(failures) from None

    async def _some(self, waiting: Iterator[tuple[int, object]]) -> None:
        for position, item in waiting:
            self._emit((position, await self._one(item)))

    async def _one(self, item: object) -> SummaryEvaluation:
        try:
            case = self._case(item)
        except EvaluationError as error:
            return self._without_scores(item, str(error))
        with metered() as meter:
            result = await self._judged(case)
        return replace(result, usage=meter.usage, served_models=tuple(sorted(meter.models)))

    def _case(self, given: object) -> Case:
        item = given if isinstance(given, SummaryInput) else input_of(given)
        checked_input(item)
        options = self._options
        if item.questions is not None:
            options = replace(options, questions=checked_questions(item.questions))
        if item.target_words is not None:
            options = replace(options, target_words=item.target_words)
        reference = None if item.reference is None else self._text(item.reference, item.language)
        return Case(
            item,
            options,
            self._text(item.document, item.language),
            Text.of(item.summary, item.language),
            reference,
        )

    async def _judged(self, case: Case) -> SummaryEvaluation:
        desk = _Desk(case)
        if not case.summary.is_blank:
            await judge_texts(self._judge, desk, read=self._read)
        scores = Scores(case, desk.facts)
        return SummaryEvaluation(
            scores=scores.values,
            reasons=scores.reasons,
            passed=scores.passed,
            counts=scores.counts,
            flags=("empty_summary", *scores.flags) if case.summary.is_blank else scores.flags,
            signature=self._signature(case.options, case.item.language),
            details=scores.details() if case.options.verbose else None,
            key=case.item.key,
        )

    async def _read(self, request: DocumentRequest) -> DocumentReading:
        if request not in self._readings:
            if len(self._readings) >= _MOST_DOCUMENTS_KEPT:
                self._readings.popitem(last=False)
            reading = caught(self._judge.read_document(request))
            self._readings[request] = self._group.create_task(reading)
        found = await self._readings[request]
        if isinstance(found, JudgeError):
            raise found
        return found

    def _without_scores(self, item: object, reason: str) -> SummaryEvaluation:
        names = (*self._options.metrics, *(each.name for each in self._options.criteria))
        given = item if isinstance(item, SummaryInput) else SummaryInput("", "")
        return SummaryEvaluation(
            dict.fromkeys(names),
            dict.fromkeys(names, reason),
            None,
            {},
            (),
            self._signature(self._options, str(given.language)),
            key=given.key,
        )

    def _signed(self, options: Options, language: str) -> str:
        return signature(
            metrics=",".join(options.metrics),
            judge=self._judge.signature,
            questions=_digest(options.questions) if options.questions else None,
            n_questions=0 if options.questions else options.n_questions,
            custom_instruction=_digest((options.instruction,)) if options.instruction else None,
            language=language,
            target_words=options.target_words,
            threshold=options.threshold,
            strict=options.strict,
            scale=options.scale,
            least_scored=options.least_scored,
            **({"criteria": _digest(tuple(map(repr, options.criteria)))} if options.criteria else {}),
        )


class _Desk:
    def __init__(self, case: Case) -> None:
        self.facts = Facts()
        self._case = case
        self._is_asked = False
        self._given = case.item.claims if case.options.needs_claims else None
        self._own: tuple[Verdict, ...] = ()

    def of_documents(self) -> Sequence[DocumentRequest]:
        request = self._case.request
        if not (request.claims or request.questions or request.n_questions or request.topics):
            return ()
        if request.source.is_blank and (request.reference is None or not request.claims):
            self._take(_nothing_read(EMPTY_DOCUMENT))
            return ()
        return (request,)

    async def keep_documents(self, readings: Sequence[DocumentReading | JudgeError]) -> None:
        [reading] = readings
        self._take(_nothing_read(_fault(reading)) if isinstance(reading, JudgeError) else reading)

    def _take(self, reading: DocumentReading) -> None:
        self.facts.reading = reading
        self.facts.faults.update(reading.faults)

    async def summaries(self) -> Sequence[Case]:
        if self._given is not None:
            self.facts.reading = replace(self.facts.reading, claims=_extracted(self._given))
        return (self._case,)

    def open(self, summary: Case) -> Open:
        reading, options, own = self.facts.reading, summary.options, summary.item.summary_claims
        claims = tuple(claim.text for claim in reading.claims or ())
        questions = tuple(question.text for question in reading.questions or ())
        if self._is_asked:
            return Open(summary.document, CoverRequest(summary.summary))
        aligns = options.needs_alignment and not summary.document.is_blank
        asked = Open(
            summary.document,
            CoverRequest(
                summary.summary,
                claims if self._given is None else _open(self._given),
                questions,
                reading.topics or (),
                options.instruction,
            ),
            takes_claims=aligns and own is None,
            own_claims=_open(own or ()) if aligns else (),
        )
        return asked.rating(options.rated, summary.reference)

    async def keep(self, summary: Case, answers: Answers) -> None:
        self._is_asked = True
        for failure in answers.failures:
            _fault(failure)
        self.facts.ratings = answers.ratings
        facts, covered, aligned, own = self.facts, answers.covered, answers.aligned, answers.own
        if isinstance(covered, JudgeError):
            for part in ("claims", "questions", "topics", "ratings"):
                facts.faults.setdefault(part, _fault(covered))
            # Use people's answers to claims even if the judge failed.
            facts.covered = None if self._given is None else _unscored(answers.asked.cover, _fault(covered))
        elif covered is not None:
            facts.covered = covered
        if isinstance(aligned, JudgeError):
            facts.aligned, facts.faults["alignment"] = None, _fault(aligned)
        elif aligned is not None:
            facts.aligned = aligned
        if isinstance(own, JudgeError):
            own = tuple(Verdict(None, reason=_fault(own)) for _ in answers.asked.own_claims)
        self._own = own or ()

    async def end(self, summary: Case) -> None:
        facts, options, own = self.facts, summary.options, summary.item.summary_claims
        if options.needs_alignment and summary.document.is_blank:
            facts.aligned, facts.faults["alignment"] = None, EMPTY_DOCUMENT
        elif options.needs_alignment and own is not None:
            facts.aligned = tuple(map(JudgedClaim, _extracted(own), _with_people(own, self._own)))
        if self._given is not None and facts.covered is not None:
            facts.covered = replace(facts.covered, claims=_with_people(self._given, facts.covered.claims))


def _fault(error: JudgeError) -> str:
    """Return the reason for a missing part. Raises JudgeRefused, which ends the whole run."""
    if isinstance(error, JudgeRefused):
        raise error
    return f"{UNSCORED}{error}"


def _nothing_read(fault: str) -> DocumentReading:
    return DocumentReading(None, None, None, dict.fromkeys(("claims", "questions", "topics"), fault))


def _extracted(claims: Sequence[GivenClaim]) -> tuple[ExtractedClaim, ...]:
    return tuple(ExtractedClaim(each.text, number) for number, each in enumerate(claims, start=1))


def _open(claims: Sequence[GivenClaim]) -> tuple[str, ...]:
    return tuple(each.text for each in claims if each.label is None)


def _with_people(claims: Sequence[GivenClaim], verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    judged = iter(verdicts)
    return tuple(
        next(judged) if each.label is None else Verdict(each.label, reason=BY_PEOPLE) for each in claims
    )


def _unscored(asked: CoverRequest, fault: str) -> CoverReading:
    nothing = Verdict(None, reason=fault)
    return CoverReading(
        (nothing,) * len(asked.claims), (nothing,) * len(asked.questions), (nothing,) * len(asked.topics)
    )


def _worst(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    """Choose the most important exception of nested groups: JudgeRefused if there is one, otherwise the first."""
    flat = [
        _worst(failure) if isinstance(failure, BaseExceptionGroup) else failure
        for failure in failures.exceptions
    ]
    return min(flat, key=lambda failure: not isinstance(failure, JudgeRefused))


def _digest(texts: tuple[str, ...]) -> str:
    joined = "\0".join(texts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(joined).hexdigest()[:8]
